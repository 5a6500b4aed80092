"""The tables on moto, made from the same PynamoDB models that the adapters use."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

import boto3
from gazette.adapters.dynamodb.tables import (
    ActivityRow,
    BounceRow,
    CategoryStatsRow,
    ControlRow,
    EngagementRow,
    EventRow,
    FollowRow,
    PaceRow,
    RunRow,
    ScheduleRow,
    SubscriberRow,
    SuppressionRow,
)
from moto.backends import get_backend
from moto.core.models import DEFAULT_ACCOUNT_ID
from pynamodb.models import Model

NAMES: Mapping[type[Model], str] = {
    SubscriberRow: "subscribers",
    ScheduleRow: "schedules",
    FollowRow: "follows",
    ActivityRow: "activities",
    EventRow: "events",
    RunRow: "runs",
    ControlRow: "control",
    SuppressionRow: "suppressions",
    BounceRow: "bounces",
    PaceRow: "pace",
    EngagementRow: "engagement",
    CategoryStatsRow: "category_stats",
}


_MADE: dict[str, tuple[Any, dict[str, Any]]] = {}
"""By service: what making it returned, and what moto then held."""


def create_tables() -> None:
    """Create every table in the account that moto keeps for this test."""
    made_once("dynamodb", _create_tables)


def made_once(service: str, make: Callable[[], Any]) -> Any:
    """Make the first things of a service by its own calls, once in a process.

    Every account after the first gets a copy of what moto then held.
    """
    held = vars(moto_backend(service))
    if service not in _MADE:
        _MADE[service] = make(), deepcopy(held)
    else:
        held.update(deepcopy(_MADE[service][1]))
    return _MADE[service][0]


def moto_backend(service: str) -> Any:
    """What moto keeps of a service in the account of this test."""
    backends: Any = get_backend(service)  # type: ignore[call-overload]
    return backends[DEFAULT_ACCOUNT_ID]["us-east-1"]


def _create_tables() -> None:
    client: Any = boto3.client("dynamodb")
    for definition in table_definitions(NAMES):
        client.create_table(**definition)


def table_definitions(names: Mapping[type[Model], str]) -> Iterator[dict[str, Any]]:
    """The CreateTable of each table."""
    for model, name in names.items():
        schema = model._get_schema()
        indexes: dict[str, list[Any]] = {
            "LocalSecondaryIndexes": schema["local_secondary_indexes"],
            "GlobalSecondaryIndexes": schema["global_secondary_indexes"],
        }
        yield {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": schema["attribute_definitions"],
            "KeySchema": _ordered(schema["key_schema"]),
            **{
                kind: [_index(index) for index in given] for kind, given in indexes.items() if given
            },
        }


def _index(index: Any) -> dict[str, Any]:
    return {
        "IndexName": index["index_name"],
        "KeySchema": _ordered(index["key_schema"]),
        "Projection": index["projection"],
    }


def _ordered(keys: Any) -> list[Any]:
    """The partition key first, as DynamoDB wants it."""
    return sorted(keys, key=lambda key: str(key["KeyType"]))
