"""What an event may say besides: each field, its bounds, and the error that names it."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from gazette.adapters.contract import decode, read_detail
from gazette.adapters.contract.data import DEEPEST, LARGEST
from gazette.domain.commands import CreateActivity, CreateEvents
from gazette.domain.hosts import LinkHosts
from gazette.domain.model import Actor, Event, Image, Importance

from tests.unit.ingest.test_contract import ACTIVITY, DECODED, EVENT, changed, envelope, without

BOB = EVENT["actor"]
MORE: dict[str, Any] = {
    "actor": {**BOB, "url": "https://campus.example/bob", "avatar": "https://cdn.example/b.png"},
    "entity": {**EVENT["entity"], "image": {"url": "https://cdn.example/c.png", "text": "Two"}},
    "importance": "high",
    "expires_at": "2026-12-01T09:00:00+01:00",
    "data": {"build": {"number": 4711, "ok": True, "who": "Zoë"}, "tags": ["a", None, 1.5]},
}


def decoded(detail: dict[str, Any]) -> Event:
    command = decode(envelope("event.created", detail))
    assert isinstance(command, CreateEvents)
    (event,) = command.events
    return event


def problem(detail: dict[str, Any], detail_type: str = "event.created") -> str:
    """The only problem of a detail."""
    (found,) = read_detail(detail_type, json.loads(json.dumps(detail))).problems
    return found


# What is taken.


def test_all_optional_event_fields_are_decoded() -> None:
    assert decoded({**EVENT, **MORE}) == replace(
        DECODED,
        actor=Actor("bob", "Bob", "https://campus.example/bob", "https://cdn.example/b.png"),
        entity=replace(DECODED.entity, image=Image("https://cdn.example/c.png", "Two")),
        importance=Importance.HIGH,
        expires_at=datetime(2026, 12, 1, 8, tzinfo=UTC),
        data='{"build":{"number":4711,"ok":true,"who":"Zoë"},"tags":["a",null,1.5]}',
    )


def test_event_without_optional_fields_has_defaults() -> None:
    event = decoded(EVENT)
    assert event == DECODED
    assert (event.importance, event.expires_at, event.data) == (Importance.NORMAL, None, "")


def test_actor_is_optional() -> None:
    assert decoded(without("event.created", "actor")) == replace(DECODED, actor=None)


def test_optional_fields_of_activity_reach_each_follower() -> None:
    parent = {"type": "blog", "id": "b1", "title": "Ann's blog"}
    command = decode(envelope("activity.created", {**ACTIVITY, **MORE, "parent": parent}))
    assert isinstance(command, CreateActivity)
    event = command.activity.event_for("ann")
    assert replace(event, via=(), parent_title="") == decoded({**EVENT, **MORE})
    assert event.parent_title == command.activity.parent_title == "Ann's blog"


def test_parent_without_title_is_accepted() -> None:
    command = decode(envelope("activity.created", ACTIVITY))
    assert isinstance(command, CreateActivity)
    assert command.activity.parent is not None
    assert command.activity.parent_title == ""


@pytest.mark.parametrize("importance", ["low", "normal", "high"])
def test_importance_is_low_normal_or_high(importance: str) -> None:
    assert decoded({**EVENT, "importance": importance}).importance == Importance(importance)


def test_empty_data_is_treated_as_unset() -> None:
    assert decoded({**EVENT, "data": {}}).data == ""


def test_data_size_is_measured_as_compact_utf8_json() -> None:
    """`{"a":"…"}` is eight bytes beside the text; `é` is two."""
    largest = "é" * ((LARGEST - 8) // 2)
    event = decoded({**EVENT, "data": {"a": largest}})
    assert len(event.data.encode()) == LARGEST
    assert problem({**EVENT, "data": {"a": f"{largest}b"}}) == (
        "detail.data: must be at most 2,048 bytes as compact JSON, not 2,049"
    )


def nested(levels: int) -> Any:
    return {"a": nested(levels - 1)} if levels else 1


def test_data_with_maximum_nesting_is_accepted() -> None:
    assert decoded({**EVENT, "data": nested(DEEPEST)}).data.count("{") == DEEPEST
    assert problem({**EVENT, "data": nested(DEEPEST + 1)}) == (
        "detail.data.a.a.a.a.a.a.a.a: must not be nested more than 8 levels deep"
    )


def test_data_nested_a_thousand_levels_is_rejected() -> None:
    assert "nested" in problem({**EVENT, "data": nested(200)})


# What is refused, by the field.


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("actor", None, "must not be null; omit the field instead"),
        ("actor.url", "http://campus.example/bob", "must be an absolute https URL"),
        ("actor.url", "", "must be an absolute https URL"),
        ("actor.url", None, "must not be null"),
        ("actor.avatar", "http://cdn.example/b.png", "must be an absolute https URL"),
        ("actor.avatar", "https://bob@cdn.example/b.png", "must be an absolute https URL"),
        ("actor.avatar", "data:image/png;base64,AAAA", "must be an absolute https URL"),
        ("actor.avatar", 'https://cdn.example/"onerror="x', "must be an absolute https URL"),
        ("actor.avatar", "https://cdn.example/" + "a" * 1000, "at most 1000 characters"),
        ("entity.image", "https://cdn.example/c.png", "must be an object"),
        ("entity.image", None, "must not be null"),
        ("importance", "urgent", "must be 'low', 'normal' or 'high'"),
        ("importance", None, "must be 'low', 'normal' or 'high'"),
        ("expires_at", "tomorrow", "must be a time with its offset from UTC"),
        ("expires_at", None, "must not be null"),
        ("data", None, "must not be null"),
        ("data", ["a"], "must be an object"),
        ("data", '{"a": 1}', "must be an object"),
    ],
)
def test_invalid_field_is_rejected_by_name(path: str, value: Any, says: str) -> None:
    found = problem(changed("event.created", path, value))
    assert found.startswith(f"detail.{path}: ")
    assert says in found


@pytest.mark.parametrize(
    ("image", "path", "says"),
    [
        ({"url": "https://cdn.example/c.png"}, "text", "Field required"),
        ({"url": "https://cdn.example/c.png", "text": ""}, "text", "at least 1 character"),
        ({"url": "https://cdn.example/c.png", "text": "a\nb"}, "text", "must be one line"),
        ({"url": "https://cdn.example/c.png", "text": "a" * 201}, "text", "at most 200"),
        ({"url": "http://cdn.example/c.png", "text": "Two"}, "url", "https URL"),
        ({"text": "Two"}, "url", "Field required"),
    ],
)
def test_image_requires_https_url_and_alt_text(image: Any, path: str, says: str) -> None:
    found = problem(changed("event.created", "entity.image", image))
    assert found.startswith(f"detail.entity.image.{path}: ")
    assert says in found


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({"build": {"name": "a\x07"}}, "build.name"),
        ({"build": [1, "a\u2028"]}, "build.1"),
        ({"build": {"name": "\ud83c"}}, "build.name"),
        ({"a\x1bb": 1}, r"'a\x1bb'"),
        ({"build": {"size": 1e400}}, "build.size"),
    ],
)
def test_data_accepts_only_storable_values(data: Any, path: str) -> None:
    assert problem({**EVENT, "data": data}).startswith(f"detail.data.{path}: must") or (
        problem({**EVENT, "data": data}).startswith(f"detail.data.{path}: the name must")
    )


def test_all_problems_in_data_are_reported() -> None:
    wrong = {**EVENT, "data": {"a": "\x00", "b": {"c": "\x00"}}}
    places = [each.partition(": ")[0] for each in read_detail("event.created", wrong).problems]
    assert places == ["detail.data.a", "detail.data.b.c"]


def test_error_in_list_names_the_event() -> None:
    found = problem({"events": [EVENT, {**EVENT, "data": {"a": "\x00"}}]})
    assert found.startswith("detail.events.1.data.a: ")


# Where links may lead.


def test_actor_url_must_be_on_allowed_host() -> None:
    hosts = LinkHosts.of(["campus.example"])
    detail = {**EVENT, "actor": {**BOB, "url": "https://evil.example/bob"}}
    (found,) = read_detail("event.created", detail, hosts=hosts).problems
    assert found.startswith("detail.actor.url: must not point to evil.example")


def test_image_url_may_be_on_any_host() -> None:
    hosts = LinkHosts.of(["campus.example"])
    assert not read_detail("event.created", {**EVENT, **MORE}, hosts=hosts).problems


PART: dict[str, Any] = {
    "entity": {"type": EVENT["entity"]["type"], "id": EVENT["entity"]["id"]},
    "id": "comment-1",
}


def test_event_that_is_part_of_an_activity_shares_its_id() -> None:
    assert decoded({**EVENT, "part_of": PART}) == replace(
        DECODED, id="comment-1", own_id=DECODED.id
    )


@pytest.mark.parametrize(
    "part_of",
    [
        {**PART, "entity": {**PART["entity"], "id": "another"}},
        {**PART, "id": EVENT["id"]},
    ],
)
def test_part_of_another_entity_or_of_the_event_itself_has_no_effect(
    part_of: dict[str, Any],
) -> None:
    assert decoded({**EVENT, "part_of": part_of}) == DECODED
