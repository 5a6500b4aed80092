"""What the rows of events and activities say: all of it comes back, and no more is stored."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from gazette.adapters.dynamodb.activities import body_of_activity
from gazette.adapters.dynamodb.event_rows import (
    actor_in,
    as_json,
    body_of,
    entity_in,
    event_in,
    optional_in,
)
from gazette.adapters.dynamodb.tables import EventRow
from gazette.domain.model import Actor, Entity, Event, Image, Importance
from gazette.domain.stored import is_known
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import an_activity, an_event

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

OLD_ACTIVITY = (
    '{"category":"comment","entity":["post","post1","Title of post1","https://example.com/post1"],'
    '"parent":null,"actor":["bo","Bo"],"excerpt":""}'
)


def back(body: str) -> Event:
    return event_in(EventRow("ann", "e1", body=body))


def test_event_from_earlier_release_can_be_read() -> None:
    assert back(OLD_BODY) == OLD


def test_event_without_new_fields_keeps_stored_format() -> None:
    assert body_of(OLD) == OLD_BODY


def test_activity_without_new_fields_keeps_stored_format() -> None:
    assert body_of_activity(an_activity()) == OLD_ACTIVITY


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
instants = st.datetimes(timezones=st.just(UTC))
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
    activity = an_activity()
    body = {**json.loads(body_of_activity(activity)), **json.loads(body_of(event))}
    assert (entity_in(body), actor_in(body)) == (event.entity, event.actor)
    assert optional_in(body).get("data", "") == event.data


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
    assert len(body_of(Event(**{**_fields(event), "data": more})).encode()) == (
        grown + len(',"data":') + len(more.encode())
    )


def _fields(event: Event) -> dict[str, Any]:
    return {name: getattr(event, name) for name in Event.__slots__}
