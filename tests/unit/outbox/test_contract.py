"""The published contract of events out: every detail matches its schema."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gazette.adapters.aws.events_out import detail_of
from gazette.adapters.contract import DETAIL_MODELS
from gazette.domain.events_out.events import EventOut, EventType
from gazette.domain.events_out.subscribers import present_state
from hypothesis import given, settings
from jsonschema import Draft7Validator, Draft202012Validator

from gazette_support.adapters.published_events import asyncapi, event_out, schema_out
from tests.builders import NOW, a_subscriber
from tests.unit.outbox.test_details import CHANGED, LEFT, SENT
from tests.unit.outbox.test_histories import histories, told

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "events"


def strict(type_: EventType) -> Draft202012Validator:
    """The schema, and no other fields."""
    schema = json.loads(json.dumps(schema_out(type_)))
    for each in (schema, *schema.get("$defs", {}).values()):
        if "properties" in each:
            each["additionalProperties"] = False
    return Draft202012Validator(schema)


VALIDATORS = {type_: strict(type_) for type_ in EventType}


def check(event: EventOut) -> None:
    for with_address in (False, True):
        detail: Any = json.loads(json.dumps(detail_of(event, with_address=with_address)))
        VALIDATORS[event.type].validate(detail)


@pytest.mark.parametrize("type_", EventType)
def test_schema_is_valid_and_described(type_: EventType) -> None:
    schema = schema_out(type_)
    Draft202012Validator.check_schema(schema)
    assert schema["title"] == f"{type_} v1"
    assert schema["description"]
    for each in (schema, *schema.get("$defs", {}).values()):
        for name, field in each.get("properties", {}).items():
            assert field["description"], name


@pytest.mark.parametrize("type_", EventType)
def test_example_matches_schema(type_: EventType) -> None:
    event = event_out(type_)
    assert event["detail-type"] == type_
    VALIDATORS[type_].validate(event["detail"])


def test_each_kind_of_event_matches_schema() -> None:
    retold = [*present_state(replace(a_subscriber(), erased_at=NOW), NOW)]
    emails = [replace(SENT, type=each) for each in EventType if each.startswith("email.")]
    plain = [replace(each, certainty=None, events=None) for each in emails]
    skipped = replace(plain[0], type=EventType.EMAIL_SKIPPED, reason="dormant")
    for event in (LEFT, CHANGED, SENT, skipped, *retold):
        check(event)
    for event in plain:
        check(event)


@given(histories)
@settings(max_examples=50, deadline=None)
def test_events_of_any_history_match_schema(history: Any) -> None:
    _, events = told(history)
    for event in events:
        check(event)


def test_asyncapi_names_every_event_of_both_directions() -> None:
    document = asyncapi()
    messages = document["components"]["messages"]
    assert messages.keys() == {*DETAIL_MODELS, *EventType}
    for channel, names in (("in", DETAIL_MODELS), ("out", EventType)):
        refs = [each["$ref"] for each in document["channels"][channel]["messages"].values()]
        assert refs == [f"#/components/messages/{name}" for name in names]
    for name, each in messages.items():
        file = FOLDER / each["payload"]["schema"]["$ref"]
        assert json.loads(file.read_text())["title"].split()[0] == name


def test_asyncapi_document_matches_the_official_schema() -> None:
    """That of the npm package @asyncapi/specs, which the parsers of AsyncAPI use."""
    schemas = ROOT / "node_modules" / "@asyncapi" / "specs" / "schemas"
    official = Draft7Validator(json.loads((schemas / "3.0.0-without-$id.json").read_text()))
    document = json.loads((FOLDER / "asyncapi.json").read_text())
    assert [error.message for error in official.iter_errors(document)] == []
    document["channels"]["in"]["adress"] = "gazette"
    assert list(official.iter_errors(document))
