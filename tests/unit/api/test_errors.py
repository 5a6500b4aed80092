"""Requests that the API answers with a problem document."""

import base64
import json
from typing import Any

import pytest
from gazette.adapters.api.cursors import cursor_of
from gazette.adapters.api.problems import KINDS
from gazette.domain.errors import Unavailable, UnreadableRow

from tests.builders import NOW
from tests.services import DAY, Services, content, request
from tests.world import World

CHOICES = "/v1/subscriber/choices"
EMAILS = "/v1/subscriber/emails"


@pytest.fixture
def services() -> Services:
    world = World()
    world.choose(at=NOW - DAY)
    return Services(world)


def problem(answer: dict[str, Any], status: int) -> Any:
    """Return the problem document, whose status must be the status of the answer."""
    assert answer["statusCode"] == status, answer["body"]
    assert answer["headers"]["Content-Type"] == "application/problem+json"
    found = content(answer)
    assert (found["status"], found["type"].partition("#")[0]) == (status, "docs/api.md")
    assert found["type"].partition("#")[2] in {kind.anchor for kind in KINDS}
    assert found["title"]
    assert found["detail"]
    return found


def cursor(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "user_id", ["", "ä", "a b", "a" * 65, "\x00", "a\nb", "\u2028", "🙂", "ann\x7f"]
)
@pytest.mark.parametrize("path", ["/v1/subscriber", EMAILS])
def test_invalid_user_id_is_rejected(services: Services, path: str, user_id: str) -> None:
    found = problem(services.get(path, user_id=user_id), 422)
    (error,) = found["errors"]
    assert (error["parameter"], error["pointer"]) == ("user_id", None)
    assert error["detail"] == "must be 1 to 64 printable ASCII characters without spaces"


@pytest.mark.parametrize(
    "user_id", [*(chr(each) for each in range(0x21, 0x7F)), "c/1?x=1&y", "%2F", "a,b", "a+b"]
)
def test_each_allowed_character_of_a_user_id_reaches_the_route(
    services: Services, user_id: str
) -> None:
    answer = services.get("/v1/event", user_id=user_id, id="c,1/2?")
    assert answer["statusCode"] == 200
    assert (content(answer)["user_id"], content(answer)["id"]) == (user_id, "c,1/2?")


@pytest.mark.parametrize("event_id", ["", "a" * 129, "\x00", "a\nb", "\ufffe"])
def test_invalid_event_id_is_rejected(services: Services, event_id: str) -> None:
    problem(services.get("/v1/event", user_id="ann", id=event_id), 422)


@pytest.mark.parametrize(
    ("path", "query", "name"),
    [
        ("/v1/subscriber", {}, "user_id"),
        ("/v1/event", {"user_id": "ann"}, "id"),
        ("/v1/event", {"user_id": "ann", "id": "1", "category": "A"}, "category"),
        ("/v1/event", {"user_id": "ann", "id": "1", "occurred_at": "today"}, "occurred_at"),
        ("/v1/activity", {"entity_id": "p1", "id": "1"}, "entity_type"),
        ("/v1/entity", {"type": "post"}, "id"),
        (EMAILS, {"user_id": "ann", "limit": 0}, "limit"),
        (EMAILS, {"user_id": "ann", "limit": 101}, "limit"),
        (EMAILS, {"user_id": "ann", "limit": "many"}, "limit"),
        (EMAILS, {"user_id": "ann", "schedule": "DAILY"}, "schedule"),
    ],
)
def test_error_names_the_parameter(
    services: Services, path: str, query: dict[str, object], name: str
) -> None:
    found = problem(services.get(path, **query), 422)
    assert [error["parameter"] for error in found["errors"]] == [name]


@pytest.mark.parametrize(
    "value",
    [
        "x",
        "====",
        "ä",
        "a" * 501,
        cursor(["ann"]),
        cursor(["ann", 1]),
        cursor(["ann", ""]),
        cursor(["ann", "x" * 201]),
        cursor({"user_id": "ann", "place": "daily#1"}),
        cursor([["ann"], "daily#1"]),
        cursor("ab"),
        cursor(1),
        cursor(["bo", "daily#0000000001"]),
        cursor(["ann", "daily#\ud800"]),
        base64.urlsafe_b64encode(b"[" * 300).decode(),
    ],
)
@pytest.mark.parametrize(
    ("path", "name"), [(EMAILS, "cursor"), ("/v1/subscriber", "follows_cursor")]
)
def test_invalid_cursor_is_rejected(services: Services, path: str, name: str, value: str) -> None:
    found = problem(services.get(path, user_id="ann", **{name: value}), 422)
    assert [error["parameter"] for error in found["errors"]] == [name]


def test_cursor_of_another_schedule_is_rejected(services: Services) -> None:
    other = cursor_of("ann", "weekly#0000000007")
    problem(services.get(EMAILS, user_id="ann", schedule="daily", cursor=other), 422)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("", 422),
        ("{", 400),
        ("[]", 400),
        ('[{"chosen_at": "2026-11-21T09:00:00Z", "frequency": "weekly"}]', 400),
        ("null", 400),
        ('"text"', 400),
        ("NaN", 400),
        ('{"frequency": "weekly", "frequency": "daily"}', 400),
        ("[" * 100_000, 400),
        ("{}", 422),
    ],
)
def test_body_that_is_not_a_choice_is_rejected(services: Services, body: str, status: int) -> None:
    problem(services.send(request("PATCH", CHOICES, body, user_id="ann")), status)


@pytest.mark.parametrize(
    ("field", "value", "pointer"),
    [
        ("frequency", "hourly", "#/frequency"),
        ("frequencies", {"like": "hourly"}, "#/frequencies/like"),
        ("frequencies", {"LIKE": "daily"}, "#/frequencies"),
        ("frequencies", {f"c{number}": "daily" for number in range(101)}, "#/frequencies"),
        ("frequencies", [], "#/frequencies"),
        ("frequencies", None, "#/frequencies"),
        ("time_zone", "Mars/Olympus", "#/time_zone"),
        ("time_zone", None, "#/time_zone"),
        ("digest", {"hour": 24}, "#/digest/hour"),
        ("digest", {"minute": 1}, "#/digest"),
        ("digest", {"custom": {"day_of_month": 32}}, "#/digest/custom/day_of_month"),
        ("digest", {"paused_until": "2029-01-01"}, "#/digest"),
        ("user_id", "bo", "#/user_id"),
        ("a/b~c", 1, "#/a~1b~0c"),
        ("chosen_at", "today", "#/chosen_at"),
        ("chosen_at", "2026-11-21T09:00:00", "#/chosen_at"),
    ],
)
def test_error_points_to_the_field(
    services: Services, field: str, value: object, pointer: str
) -> None:
    body = {"chosen_at": "2026-11-21T09:00:00Z", "frequency": "weekly", field: value}
    answer = services.send(request("PATCH", CHOICES, body, user_id="ann"))
    found = problem(answer, 422)
    assert [error["pointer"] for error in found["errors"]] == [pointer]


def test_choice_without_any_field_is_rejected(services: Services) -> None:
    found = problem(services.choose(), 422)
    assert "at least one of frequency" in found["errors"][0]["detail"]


def test_choice_in_the_future_is_rejected(services: Services) -> None:
    later = (services.world.clock() + 2 * DAY).isoformat()
    found = problem(services.choose(chosen_at=later, frequency="weekly"), 422)
    assert found["errors"][0]["pointer"] == "#/chosen_at"
    assert not services.world.bus.taken


@pytest.mark.parametrize(
    "content_type",
    [
        "application/x-www-form-urlencoded",
        "application/merge-patch+json",
        "multipart/form-data",
        "multipart/form-data; boundary=x",
        "text/plain",
        "application/jsonp",
    ],
)
def test_other_content_types_are_rejected(services: Services, content_type: str) -> None:
    event = request("PATCH", CHOICES, {}, content_type=content_type, user_id="ann")
    problem(services.send(event), 415)


@pytest.mark.parametrize(
    ("body", "status"), [(b"\xff\xfe", 400), (b'{"frequency": "hourly"}', 422)]
)
def test_encoded_body_is_decoded(services: Services, body: bytes, status: int) -> None:
    event = request("PATCH", CHOICES, base64.b64encode(body).decode(), user_id="ann")
    problem(services.send({**event, "isBase64Encoded": True}), status)


def test_body_that_is_not_base64_is_rejected(services: Services) -> None:
    event = request("PATCH", CHOICES, "not base64!", user_id="ann")
    problem(services.send({**event, "isBase64Encoded": True}), 400)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/"), ("GET", "/v1"), ("DELETE", "/v1/subscriber"), ("GET", "/v1/subscriber/x")],
)
def test_unknown_routes_and_methods_are_not_found(
    services: Services, method: str, path: str
) -> None:
    problem(services.send(request(method, path, user_id="ann")), 404)


@pytest.mark.parametrize("path", ["/v1/subscriber", EMAILS, "/v1/event"])
def test_repeated_parameter_is_rejected(services: Services, path: str) -> None:
    event = request("GET", path, user_id="ann,bo", id="1")
    event["rawQueryString"] = "user_id=ann&user_id=bo&id=1"
    problem(services.send(event), 422)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Unavailable("no answer"), 503),
        (UnreadableRow("subscribers", ("ann",), "it is malformed"), 500),
        (RuntimeError("ann@example.com"), 500),
    ],
)
def test_failure_is_reported_without_its_text(
    services: Services, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(services.world.subscribers, "get", fail)
    answer = services.get("/v1/subscriber", user_id="ann")
    problem(answer, status)
    assert str(error) not in answer["body"]
    assert services.reports == [error]


def test_errors_are_limited(services: Services) -> None:
    body = {f"field{number}": 1 for number in range(100)}
    found = problem(services.send(request("PATCH", CHOICES, body, user_id="ann")), 422)
    assert len(found["errors"]) == 20
