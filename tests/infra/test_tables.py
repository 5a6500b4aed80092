"""Tables: keys and indexes as the code expects, protected from deletion."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
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
from pynamodb.attributes import TTLAttribute
from pynamodb.models import Model

from tests.infra.synthesis import Properties, Synthesis

_MODELS: dict[str, type[Model]] = {
    "Subscribers": SubscriberRow,
    "Schedules": ScheduleRow,
    "Follows": FollowRow,
    "Activities": ActivityRow,
    "Events": EventRow,
    "Runs": RunRow,
    "Control": ControlRow,
    "Suppressions": SuppressionRow,
    "Bounces": BounceRow,
    "Pace": PaceRow,
    "Engagement": EngagementRow,
    "CategoryStats": CategoryStatsRow,
}


def test_each_model_has_a_single_table(prod: Synthesis) -> None:
    assert prod.data.of_type("AWS::DynamoDB::Table").keys() == _MODELS.keys()


@pytest.mark.parametrize("name", _MODELS)
def test_keys_and_indexes_match_the_model(prod: Synthesis, name: str) -> None:
    table = prod.data.of_type("AWS::DynamoDB::Table")[name]
    schema = _MODELS[name]._get_schema()
    assert _keys(table["KeySchema"]) == _keys(schema["key_schema"])
    assert _indexes(table.get("GlobalSecondaryIndexes", [])) == _indexes(
        schema["global_secondary_indexes"]
    )
    assert _indexes(table.get("LocalSecondaryIndexes", [])) == _indexes(
        schema["local_secondary_indexes"]
    )


@pytest.mark.parametrize("name", _MODELS)
def test_key_and_index_attributes_have_the_types_of_the_model(prod: Synthesis, name: str) -> None:
    table = prod.data.of_type("AWS::DynamoDB::Table")[name]
    attributes = _MODELS[name].get_attributes().values()
    types = {attribute.attr_name: attribute.attr_type for attribute in attributes}
    defined = {
        each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]
    }
    assert defined
    assert {name: types[name] for name in defined} == defined


@pytest.mark.parametrize("name", _MODELS)
def test_ttl_attribute_matches_the_model(prod: Synthesis, name: str) -> None:
    table = prod.data.of_type("AWS::DynamoDB::Table")[name]
    expiring = [
        attribute.attr_name
        for attribute in _MODELS[name].get_attributes().values()
        if isinstance(attribute, TTLAttribute)
    ]
    assert table.get("TimeToLiveSpecification") == (
        {"AttributeName": expiring[0], "Enabled": True} if expiring else None
    )


def test_event_data_expires_but_reader_data_does_not(prod: Synthesis) -> None:
    """Of follows only those that have ended: the others have no such attribute."""
    tables = prod.data.of_type("AWS::DynamoDB::Table")
    assert {
        name: table["TimeToLiveSpecification"]["AttributeName"]
        for name, table in tables.items()
        if "TimeToLiveSpecification" in table
    } == dict.fromkeys(
        (
            "Activities",
            "Control",
            "Bounces",
            "Engagement",
            "Events",
            "Follows",
            "Runs",
            "CategoryStats",
        ),
        "expires_at",
    )


def test_table_keys_are_unchanged(prod: Synthesis) -> None:
    """Literal: a change here moves the data of everybody who runs this."""
    tables = prod.data.of_type("AWS::DynamoDB::Table")
    assert {name: _keys(table["KeySchema"]) for name, table in tables.items()} == {
        "Subscribers": {"HASH": "user_id"},
        "Schedules": {"HASH": "user_id", "RANGE": "name"},
        "Follows": {"HASH": "entity", "RANGE": "user_id"},
        "Activities": {"HASH": "entity", "RANGE": "activity_id"},
        "Events": {"HASH": "user_id", "RANGE": "event_id"},
        "Runs": {"HASH": "user_id", "RANGE": "run"},
        "Control": {"HASH": "kind", "RANGE": "id"},
        "Suppressions": {"HASH": "address_hash"},
        "Bounces": {"HASH": "address_hash"},
        "Pace": {"HASH": "name"},
        "Engagement": {"HASH": "slot", "RANGE": "run"},
        "CategoryStats": {"HASH": "category", "RANGE": "hour"},
    }
    assert {
        name: _indexes(
            [*table.get("GlobalSecondaryIndexes", []), *table.get("LocalSecondaryIndexes", [])]
        )
        for name, table in tables.items()
    } == {
        "Subscribers": {},
        "Schedules": {"due": ({"HASH": "due", "RANGE": "user_id"}, "KEYS_ONLY")},
        "Follows": {"by_user": ({"HASH": "user_id", "RANGE": "entity"}, "KEYS_ONLY")},
        "Activities": {
            "occurred": ({"HASH": "entity", "RANGE": "occurred_at"}, ("INCLUDE", "home"))
        },
        "Events": {"stored": ({"HASH": "user_id", "RANGE": "stored"}, "ALL")},
        "Runs": {
            "open": ({"HASH": "open", "RANGE": "check_at"}, ("INCLUDE", "due_at")),
            "batch": ({"HASH": "batch", "RANGE": "user_id"}, ("INCLUDE", "state")),
        },
        "Control": {},
        "Suppressions": {},
        "Bounces": {},
        "Pace": {},
        "Engagement": {},
        "CategoryStats": {},
    }


def test_strongly_consistent_queries_use_local_indexes(prod: Synthesis) -> None:
    """A local index cannot be added later."""
    tables = prod.data.of_type("AWS::DynamoDB::Table")
    assert {
        name: [index["IndexName"] for index in table["LocalSecondaryIndexes"]]
        for name, table in tables.items()
        if "LocalSecondaryIndexes" in table
    } == {"Activities": ["occurred"], "Events": ["stored"]}


def test_every_table_is_billed_on_demand(prod: Synthesis) -> None:
    for table in prod.data.of_type("AWS::DynamoDB::Table").values():
        assert table["BillingMode"] == "PAY_PER_REQUEST"
        assert "ProvisionedThroughput" not in table


_TOLD_BY_NOBODY_ELSE = {"Subscribers", "Schedules", "Follows", "Control", "Suppressions"}
"""What readers and operators said, when each schedule comes next, and who must not get email."""


def restorable(synthesis: Synthesis) -> set[str]:
    """The tables with point-in-time recovery."""
    return {
        name
        for name, table in synthesis.data.of_type("AWS::DynamoDB::Table").items()
        if table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    }


def test_irreplaceable_tables_and_runs_can_be_restored(prod: Synthesis) -> None:
    assert restorable(prod) == {*_TOLD_BY_NOBODY_ELSE, "Runs"}


def test_restore_can_be_enabled_for_additional_tables(varied: Synthesis, bare: Synthesis) -> None:
    assert restorable(varied) == {*_TOLD_BY_NOBODY_ELSE, "Events", "CategoryStats"}
    assert restorable(bare) == _TOLD_BY_NOBODY_ELSE


def test_production_tables_are_protected_from_deletion(prod: Synthesis) -> None:
    for name, table in prod.data.of_type("AWS::DynamoDB::Table").items():
        assert table["DeletionProtectionEnabled"] is True
        resource = prod.data.resources[name]
        assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Retain"
    assert "GazetteDataProd" in prod.protected


def test_local_tables_are_deleted_with_their_stack(local: Synthesis) -> None:
    assert not restorable(local)
    for name, table in local.data.of_type("AWS::DynamoDB::Table").items():
        assert table["DeletionProtectionEnabled"] is False
        assert local.data.resources[name]["DeletionPolicy"] == "Delete"
    assert local.protected == set()


def _keys(schema: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    return {key["KeyType"]: key["AttributeName"] for key in schema}


def _indexes(indexes: Iterable[Properties | Any]) -> dict[str, tuple[dict[str, str], object]]:
    """CloudFormation's indexes, or PynamoDB's, which spells the names in lower case."""
    return {
        index.get("IndexName") or index["index_name"]: (
            _keys(index.get("KeySchema") or index["key_schema"]),
            _held(index.get("Projection") or index["projection"]),
        )
        for index in indexes
    }


def _held(projection: Properties) -> object:
    """What an index holds: in a word, or INCLUDE and the attributes beside the keys."""
    attributes = projection.get("NonKeyAttributes")
    kind = projection["ProjectionType"]
    return (kind, *sorted(attributes)) if attributes else kind
