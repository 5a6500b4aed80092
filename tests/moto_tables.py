"""The tables on moto, made from the same PynamoDB models that the adapters use."""

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

NAMES = {
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


def create_tables() -> None:
    """Create every table in the account that moto keeps for this test.

    By one client: PynamoDB would make one for each of them, which takes a second.
    """
    client: Any = boto3.client("dynamodb")
    for model, name in NAMES.items():
        schema = model._get_schema()
        indexes: dict[str, list[Any]] = {
            "LocalSecondaryIndexes": schema["local_secondary_indexes"],
            "GlobalSecondaryIndexes": schema["global_secondary_indexes"],
        }
        client.create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=schema["attribute_definitions"],
            KeySchema=_ordered(schema["key_schema"]),
            **{
                kind: [_index(index) for index in given] for kind, given in indexes.items() if given
            },
        )


def _index(index: Any) -> dict[str, Any]:
    return {
        "IndexName": index["index_name"],
        "KeySchema": _ordered(index["key_schema"]),
        "Projection": index["projection"],
    }


def _ordered(keys: Any) -> list[Any]:
    """The partition key first, as DynamoDB wants it."""
    return sorted(keys, key=lambda key: str(key["KeyType"]))
