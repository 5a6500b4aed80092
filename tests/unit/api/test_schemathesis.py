"""Schemathesis calls every operation of the OpenAPI document, with valid and invalid requests."""

import json
import string
from collections import Counter
from typing import Any
from urllib.parse import urlencode

import pytest
import schemathesis
from gazette.domain.subscribers.frequency import Frequency
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode

from gazette_support.adapters.published_api import document
from tests.builders import NOW, an_event
from tests.services import DAY, Services, request
from tests.world import World


def _operation(result: Any) -> Any:
    """Return an operation of the document. Raises an error if its schema is invalid."""
    return result.ok()


DOCUMENT = document()
BODIES = {
    "PATCH /v1/subscriber/choices": {"chosen_at": NOW.isoformat(), "frequency": "weekly"},
    "POST /v1/subscriber/return": {
        "email": "ann@example.com",
        "consented_at": NOW.isoformat(),
    },
    "POST /v1/delivery-event": {
        "reference": f"ann-daily-1.1.{int(NOW.timestamp())}.{'0' * 32}",
        "recipient": "ann@example.com",
        "type": "delivered",
        "at": NOW.isoformat(),
    },
}
"""A valid body for each operation that has one."""
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
OPERATIONS = {each.label: each for each in map(_operation, SCHEMA.get_all_operations())}


@pytest.fixture(scope="module")
def services() -> Services:
    """Ann has a waiting event."""
    world = World()
    world.choose(at=NOW - DAY, like=Frequency.WEEKLY)
    world.create(an_event("1"))
    return Services(world)


def event_of(case: Any) -> dict[str, Any]:
    """Return the request of a case as an event of the HTTP API."""
    body = case.body if isinstance(case.body, dict | list | str | int | float | bool) else None
    text = json.dumps(body) if case.operation.body and body is not None else None
    event = request(case.method.upper(), case.path, text)
    query = {name: _as_text(value) for name, value in (case.query or {}).items()}
    event["queryStringParameters"] = {
        name: ",".join(value) if isinstance(value, list) else value for name, value in query.items()
    }
    event["rawQueryString"] = urlencode(query, doseq=True, errors="replace")
    return event


def _as_text(value: Any) -> Any:
    if isinstance(value, list):
        return [str(each) for each in value]
    return value if isinstance(value, str) else json.dumps(value)


def check(services: Services, label: str, event: dict[str, Any]) -> int:
    """Answer an event. The status and the content must be those of the document."""
    answer = services.send(event)
    status, operation = answer["statusCode"], OPERATIONS[label].definition.raw
    assert status < 500, (event, answer)
    assert str(status) in operation["responses"], (event, answer)
    ((media, content),) = operation["responses"][str(status)]["content"].items()
    assert answer["headers"]["Content-Type"] == media
    schema = {**content["schema"], "components": DOCUMENT["components"]}
    Draft202012Validator(schema).validate(json.loads(answer["body"]))
    return int(status)


@pytest.mark.parametrize("mode", [*GenerationMode])
@pytest.mark.parametrize("label", OPERATIONS)
def test_every_request_gets_a_documented_answer(
    services: Services, label: str, mode: GenerationMode
) -> None:
    """Never a server error, and always what the document says of this status."""
    statuses: Counter[int] = Counter()

    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=OPERATIONS[label].as_strategy(generation_mode=mode))
    def run(case: Any) -> None:
        statuses[check(services, label, event_of(case))] += 1

    run()
    assert statuses
    assert services.reports == []


HOSTILE = st.text(st.characters(exclude_categories=["Cs"]), max_size=200) | st.sampled_from(
    ["", "null", "[]", "{}", "%00", "../..", "' OR 1=1", "\x00", "\u2028", "9" * 400, "a" * 10_000]
)


@pytest.mark.parametrize("label", OPERATIONS)
def test_every_hostile_parameter_gets_a_documented_answer(services: Services, label: str) -> None:
    operation = OPERATIONS[label].definition.raw
    names = [each["name"] for each in operation.get("parameters", ())]
    body = st.none() if "requestBody" not in operation else st.text(string.printable) | HOSTILE

    @settings(max_examples=40, deadline=None, derandomize=True, database=None)
    @given(query=st.fixed_dictionaries({}, optional=dict.fromkeys(names, HOSTILE)), body=body)
    def run(query: dict[str, str], body: str | None) -> None:
        method, path = label.split()
        check(services, label, request(method, path, body, **query))

    run()


def test_valid_requests_are_answered(services: Services) -> None:
    """Otherwise, the test above could pass although every request is rejected."""
    for label in OPERATIONS:
        method, path = label.split()
        query = {"user_id": "ann", "id": "1", "type": "post"}
        query |= {"entity_type": "post", "entity_id": "p1"}
        body = BODIES.get(label)
        status = 202 if label == "POST /v1/delivery-event" else 200
        assert check(services, label, request(method, path, body, **query)) == status
