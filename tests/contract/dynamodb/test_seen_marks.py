"""The contract of `SeenMarks` and `SeenReader`, on the fake and on the real adapter with moto."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import boto3
import pytest
from gazette.adapters.cached import ALONE
from gazette.adapters.dynamodb.client import several_together
from gazette.adapters.dynamodb.deferred_events import DynamoDeferredEvents
from gazette.adapters.dynamodb.feedback.seen_marks import DynamoSeenMarks, DynamoSeenReader
from gazette.domain.model import DAILY, StoredEvent
from gazette.domain.ports.stores import (
    DeferredEvents,
    EventReader,
    Events,
    Guard,
    SeenMarks,
    SeenReader,
)
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.scheduling.lifetime import seen_for
from gazette.domain.window.seen import SeenMark

from tests.builders import NOW, RETENTION, SettableClock, a_stored_event, a_window, an_event
from tests.fake_stores import FakeEvents, FakeSeenMarks

SECOND = timedelta(seconds=1)
POST = "post#post1"
MARK = SeenMark("ann", POST, NOW)


@dataclass
class Stored:
    """The events and marks of one table."""

    events: Events
    marks: SeenMarks
    seen: SeenReader
    deferred: DeferredEvents


@pytest.fixture
def stored(events: Events, clock: SettableClock) -> Stored:
    if isinstance(events, FakeEvents):
        marks = FakeSeenMarks(events)
        return Stored(events, marks, marks, events)
    return Stored(
        events,
        DynamoSeenMarks("events", kept_for=seen_for(RETENTION), clock=clock),
        DynamoSeenReader("events", read=several_together(ALONE)),
        DynamoDeferredEvents("events", clock=clock),
    )


def test_mark_is_read_by_reader_and_entity(stored: Stored) -> None:
    stored.marks.put(MARK)
    stored.marks.put(SeenMark("bo", "post#post2", NOW))
    assert stored.seen.of("ann", [POST, "post#post2"]) == {POST: NOW}
    assert stored.seen.of("ann", []) == {}
    assert stored.seen.of("cy", [POST]) == {}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_latest_mark_prevails_in_any_order(stored: Stored, order: tuple[int, ...]) -> None:
    for seconds in order:
        stored.marks.put(replace(MARK, seen_at=NOW + seconds * SECOND))
    assert stored.seen.of("ann", [POST]) == {POST: NOW + 2 * SECOND}


def test_marks_of_many_entities_are_read_with_the_same_result(stored: Stored) -> None:
    """More than a request can name."""
    marks = {f"post#p{number}": NOW + number * SECOND for number in range(0, 300, 2)}
    for entity, at in marks.items():
        stored.marks.put(SeenMark("ann", entity, at))
    asked = [f"post#p{number}" for number in range(250)]
    assert stored.seen.of("ann", asked) == {each: marks[each] for each in asked if each in marks}


@pytest.mark.parametrize("many", [False, True])
def test_mark_is_removed_unless_a_later_one_is_stored(stored: Stored, many: bool) -> None:
    stored.marks.put(replace(MARK, seen_at=NOW + many * SECOND))
    stored.marks.remove(MARK)
    assert bool(stored.seen.of("ann", [POST])) == many


def test_erasure_of_the_events_deletes_the_marks(stored: Stored) -> None:
    stored.marks.put(MARK)
    stored.marks.put(replace(MARK, user_id="bo"))
    assert stored.events.erase("ann", None) == ""
    assert stored.seen.of("ann", [POST]) == {}
    assert stored.seen.of("bo", [POST]) == {POST: NOW}


def test_erasure_up_to_an_instant_keeps_later_marks(stored: Stored) -> None:
    stored.marks.put(MARK)
    stored.marks.put(SeenMark("ann", "post#post2", NOW + SECOND))
    stored.events.erase("ann", NOW)
    assert stored.seen.of("ann", [POST, "post#post2"]) == {"post#post2": NOW + SECOND}


def test_mark_is_no_event(stored: Stored, reader: EventReader) -> None:
    stored.marks.put(MARK)
    stored.events.store(an_event(), DAILY)
    assert len(list(reader.read("ann", DAILY, a_window()))) == 1


def test_seen_event_is_in_no_window(
    stored: Stored, reader: EventReader, clock: SettableClock
) -> None:
    stored.events.store(an_event(), DAILY)
    (read,) = reader.read("ann", DAILY, a_window())
    clock.pass_time(seconds=9)
    assert stored.deferred.leave_out(replace(read, seen_at=NOW))
    assert list(reader.read("ann", DAILY, a_window())) == []
    expected = replace(read, schedule=Unsent.EXCLUDED, stored_at=clock.now, seen_at=NOW)
    assert stored.events.get("ann", "e1") == expected
    assert stored.events.store(an_event(), DAILY) == (False, expected)


def test_seen_event_that_may_have_been_sent_is_given_up(
    stored: Stored, reader: EventReader
) -> None:
    stored.events.store(an_event(), DAILY)
    (read,) = reader.read("ann", DAILY, a_window())
    assert stored.deferred.leave_out(replace(read, seen_at=NOW), for_good=True)
    found = stored.events.get("ann", "e1")
    assert isinstance(found, StoredEvent)
    assert found.schedule == Unsent.GIVEN_UP


def amend(stored: Stored, read: StoredEvent) -> None:
    stored.events.amend(read, replace(read.event, excerpt="Else", amended_at=NOW))


def move(stored: Stored, read: StoredEvent) -> None:
    stored.events.move(read, "weekly", Guard())


def leave_out(stored: Stored, read: StoredEvent) -> None:
    stored.deferred.leave_out(replace(read, seen_at=NOW))


def retract(stored: Stored, read: StoredEvent) -> None:
    stored.events.retract("ann", read.event.id, early=False)


@pytest.mark.parametrize("change", [amend, move, leave_out, retract])
def test_event_that_changed_since_the_read_is_not_left_out(
    stored: Stored,
    reader: EventReader,
    clock: SettableClock,
    change: Callable[[Stored, StoredEvent], None],
) -> None:
    stored.events.store(an_event(), DAILY)
    (read,) = reader.read("ann", DAILY, a_window())
    clock.pass_time(seconds=1)
    change(stored, read)
    before = stored.events.get("ann", "e1")
    assert not stored.deferred.leave_out(replace(read, seen_at=NOW))
    assert stored.events.get("ann", "e1") == before


def test_event_that_returns_loses_the_time_at_which_it_was_seen(
    stored: Stored, reader: EventReader
) -> None:
    stored.events.store(an_event(), DAILY)
    (read,) = reader.read("ann", DAILY, a_window())
    leave_out(stored, read)
    left = stored.events.get("ann", "e1")
    assert isinstance(left, StoredEvent)
    stored.events.move(left, DAILY, Guard())
    assert stored.events.get("ann", "e1") == a_stored_event(an_event(), DAILY, NOW)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_mark_is_deleted_after_the_longest_time_that_an_event_can_need(
    stored: Stored, clock: SettableClock
) -> None:
    stored.marks.put(MARK)
    (item,) = boto3.client("dynamodb").scan(TableName="events")["Items"]
    until = int((clock.now + seen_for(RETENTION)).timestamp())
    assert item["expires_at"] == {"N": str(until)}
