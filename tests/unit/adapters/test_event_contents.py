"""What the rows of events and activities say: all of it comes back, and no more is stored."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from gazette.adapters.dynamodb.activities import _activity_in, activity_row, body_of_activity
from gazette.adapters.dynamodb.event_rows import as_json, body_of, event_in, event_or_trace_in
from gazette.adapters.dynamodb.events import event_row
from gazette.adapters.dynamodb.tables import ActivityRow, EventRow
from gazette.domain.model import Actor, Entity, Event, Happening, Image, Importance
from gazette.domain.stored import is_known
from gazette.domain.subscribers.following import Activity
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW, a_stored_event, an_activity, an_event
from tests.every_field import ACTIVITY, EVENT

OLD_BODY = (
    '{"category":"comment","entity":["post","p1","On digests","https://example.com/p1"],'
    '"actor":["bo","Bo"],"occurred_at":"2026-11-21T09:30:00+00:00","excerpt":"Größe",'
    '"amended_at":"2026-11-21T09:45:00+00:00","via":["post#p1","blog#b1"]}'
)
"""As every release stored it before events could say more."""

OLD = Event(
    user_id="ann",
    id="e1",
    category="comment",
    entity=Entity("post", "p1", "On digests", "https://example.com/p1"),
    actor=Actor("bo", "Bo"),
    occurred_at=datetime(2026, 11, 21, 9, 30, tzinfo=UTC),
    excerpt="Größe",
    amended_at=datetime(2026, 11, 21, 9, 45, tzinfo=UTC),
    via=("post#p1", "blog#b1"),
)

LATER_BODY = (
    f"{OLD_BODY[:-1]},"
    '"image":["https://example.com/p1.png","A pile of letters"],'
    '"actor_url":"https://example.com/bo","avatar":"https://example.com/bo.png",'
    '"parent_title":"Ann\'s blog","importance":"high","expires_at":"2026-11-28T09:00:00+00:00",'
    '"data":{"rating":{"stars":5}},"source":"recommendations","score":0.5}'
)
"""With the optional fields of the first release."""

LATER = replace(
    OLD,
    entity=replace(OLD.entity, image=Image("https://example.com/p1.png", "A pile of letters")),
    actor=Actor("bo", "Bo", "https://example.com/bo", "https://example.com/bo.png"),
    parent_title="Ann's blog",
    importance=Importance.HIGH,
    expires_at=datetime(2026, 11, 28, 9, tzinfo=UTC),
    data='{"rating":{"stars":5}}',
    source="recommendations",
    score=0.5,
)

OLD_ACTIVITY = (
    '{"category":"comment","entity":["post","post1","Title of post1","https://example.com/post1"],'
    '"parent":null,"actor":["bo","Bo"],"excerpt":""}'
)


def back(body: str) -> Event:
    return event_in(EventRow("ann", "e1", body=body))


def activity_back(activity: Activity) -> object:
    return _activity_in(ActivityRow.from_raw_data(activity_row(activity, NOW).serialize()))


def test_event_from_earlier_release_can_be_read() -> None:
    assert back(OLD_BODY) == OLD


def test_event_without_new_fields_keeps_stored_format() -> None:
    assert body_of(OLD) == OLD_BODY


def test_activity_without_new_fields_keeps_stored_format() -> None:
    assert body_of_activity(an_activity()) == OLD_ACTIVITY


def test_event_with_optional_fields_keeps_stored_format() -> None:
    """An amendment is written only if the row has exactly this JSON."""
    assert body_of(LATER) == LATER_BODY


@pytest.mark.parametrize("name", [each.name for each in fields(Event)])
def test_each_field_of_an_event_is_stored(name: str) -> None:
    alone = replace(an_event(category="like"), **{name: getattr(EVENT, name)})
    for stored in (a_stored_event(alone), a_stored_event(EVENT)):
        row = EventRow.from_raw_data(event_row(stored).serialize())
        assert event_or_trace_in(row) == stored


@pytest.mark.parametrize("name", sorted({each.name for each in fields(Activity)} - {"walked"}))
def test_each_field_of_an_activity_is_stored(name: str) -> None:
    """`walked` is written only by `mark_walked`."""
    alone = replace(an_activity(category="like"), **{name: getattr(ACTIVITY, name)})
    for activity in (alone, replace(ACTIVITY, walked=frozenset())):
        assert activity_back(activity) == activity


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
data = st.dictionaries(texts, values, min_size=1, max_size=4).map(as_json)
instants = st.datetimes(
    datetime.fromisoformat("1990-01-01"),
    datetime.fromisoformat("2200-01-01"),
    timezones=st.just(UTC),
)
events = st.builds(
    Event,
    user_id=st.just("ann"),
    id=st.just("e1"),
    category=st.just("build"),
    entity=st.builds(
        Entity, texts, texts, texts, texts, st.none() | st.builds(Image, texts, texts)
    ),
    actor=st.none() | st.builds(Actor, texts, texts, st.just("") | texts, st.just("") | texts),
    occurred_at=instants,
    excerpt=st.just("") | texts,
    amended_at=st.none() | instants,
    via=st.lists(texts, max_size=2).map(tuple),
    parent_title=st.just("") | texts,
    importance=st.sampled_from(Importance),
    expires_at=st.none() | instants,
    data=st.just("") | data,
)


@given(events)
def test_event_round_trip_preserves_all_fields(event: Event) -> None:
    assert back(body_of(event)) == event
    assert body_of(back(body_of(event))) == body_of(event)


@given(events)
def test_earlier_release_can_read_new_events(event: Event) -> None:
    """It takes the entity from four texts and the actor from two, and looks at nothing else."""
    body: dict[str, Any] = json.loads(body_of(event))
    assert [len(body["entity"]), len(body["actor"])] == [4, 2]
    assert all(isinstance(text, str) for text in (*body["entity"], *body["actor"]))
    assert datetime.fromisoformat(body["occurred_at"]) == event.occurred_at


@given(events)
def test_activity_round_trip_preserves_all_fields(event: Event) -> None:
    common = {each.name: getattr(event, each.name) for each in fields(Happening)}
    activity = replace(an_activity(), **common)
    assert activity_back(activity) == activity


@pytest.mark.parametrize("stored", ["urgent", "highest"])
def test_unknown_importance_is_preserved(stored: str) -> None:
    body = as_json({**json.loads(OLD_BODY), "importance": stored})
    event = back(body)
    assert not is_known(event.importance)
    assert body_of(event) == body


def test_unset_fields_are_not_stored() -> None:
    event = an_event()
    grown = len(body_of(event).encode())
    assert "data" not in body_of(event)
    more = '{"a":"é"}'
    assert len(body_of(replace(event, data=more)).encode()) == (
        grown + len(',"data":') + len(more.encode())
    )
