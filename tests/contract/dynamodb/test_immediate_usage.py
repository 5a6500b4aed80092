"""The contract of `ImmediateUsage` and of the mark of events over the limit, on the fake and on the
real adapter with moto.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import boto3
import pytest
from gazette.adapters.dynamodb.deferred_events import DynamoDeferredEvents
from gazette.adapters.dynamodb.feedback.event_traces import DynamoEventTraces
from gazette.adapters.dynamodb.feedback.immediate_usage import DynamoImmediateUsage
from gazette.domain.model import DAILY, StoredEvent
from gazette.domain.ports.stores import (
    DeferredEvents,
    EventReader,
    Events,
    EventToStore,
    Guard,
    ImmediateUsage,
)
from gazette.domain.scheduling.cap import Usage
from gazette.domain.scheduling.kinds import Unsent
from moto import mock_aws

from tests.builders import NOW, RETENTION, SettableClock, a_window, an_event
from tests.contract.conftest import dynamo_events
from tests.credentials import set_credentials
from tests.fake_stores import FakeEvents, FakeImmediateUsage
from tests.moto_tables import create_tables

HOUR = timedelta(hours=1)
FIRST = Usage(NOW + timedelta(minutes=10, microseconds=7), NOW + HOUR)
SECOND_USE = Usage(NOW + timedelta(minutes=20), NOW + 2 * HOUR)


@dataclass
class Stored:
    """The events of one table, and the usage in it."""

    events: Events
    usage: ImmediateUsage
    deferred: DeferredEvents


@pytest.fixture
def stored(events: Events, clock: SettableClock) -> Stored:
    if isinstance(events, FakeEvents):
        return Stored(events, FakeImmediateUsage(events), events)
    return Stored(
        events, DynamoImmediateUsage("events"), DynamoDeferredEvents("events", clock=clock)
    )


@pytest.fixture
def on_moto(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    set_credentials(monkeypatch)
    with mock_aws():
        create_tables()
        yield


def is_marked(stored: Stored, event_id: str = "e1") -> bool:
    row = stored.events.get("ann", event_id)
    assert isinstance(row, StoredEvent)
    return row.is_capped


# -- the usage -----------------------------------------------------------------------------------


def test_usage_is_stored_for_each_reader(stored: Stored) -> None:
    assert stored.usage.get("ann") is None
    assert stored.usage.put("ann", FIRST, replacing=None)
    assert stored.usage.get("ann") == FIRST
    assert stored.usage.get("bo") is None


def test_usage_is_replaced_only_as_it_was_read(stored: Stored) -> None:
    assert stored.usage.put("ann", FIRST, replacing=None)
    assert not stored.usage.put("ann", SECOND_USE, replacing=None)
    for other in (
        replace(FIRST, hour_free_at=NOW),
        replace(FIRST, day_free_at=NOW),
        SECOND_USE,
    ):
        assert not stored.usage.put("ann", SECOND_USE, replacing=other)
    assert stored.usage.get("ann") == FIRST
    assert stored.usage.put("ann", SECOND_USE, replacing=FIRST)
    assert stored.usage.get("ann") == SECOND_USE


def test_usage_that_was_deleted_is_not_replaced(stored: Stored) -> None:
    assert not stored.usage.put("ann", SECOND_USE, replacing=FIRST)
    assert stored.usage.get("ann") is None


@pytest.mark.parametrize("until", [None, NOW - HOUR])
def test_erasure_deletes_the_usage(stored: Stored, until: datetime | None) -> None:
    """Also an erasure that keeps the later events of a reader who returned."""
    stored.usage.put("ann", FIRST, replacing=None)
    stored.usage.put("bo", FIRST, replacing=None)
    stored.events.erase("ann", until)
    assert stored.usage.get("ann") is None
    assert stored.usage.get("bo") == FIRST


def test_usage_is_no_event(stored: Stored, reader: EventReader) -> None:
    stored.usage.put("ann", FIRST, replacing=None)
    stored.events.store(an_event(), DAILY)
    assert len(list(reader.read("ann", DAILY, a_window()))) == 1
    assert len(list(stored.events.stored_under("ann", DAILY, after=NOW - HOUR))) == 1


@pytest.mark.usefixtures("on_moto")
def test_row_of_the_usage_expires_and_is_in_no_index() -> None:
    DynamoImmediateUsage("events").put("ann", SECOND_USE, replacing=None)
    (item,) = boto3.client("dynamodb").scan(TableName="events")["Items"]
    assert item.keys() == {"user_id", "event_id", "hour_free_at", "day_free_at", "expires_at"}
    assert item["event_id"] == {"S": "\ncap"}
    assert item["expires_at"] == {"N": str(int(SECOND_USE.ends_at.timestamp()))}


# -- the mark ------------------------------------------------------------------------------------


def test_mark_is_stored_with_the_event(stored: Stored) -> None:
    _, row = stored.events.store(an_event(), DAILY, is_capped=True)
    assert stored.events.get("ann", "e1") == row
    assert is_marked(stored)
    stored.events.store(an_event("e2"), DAILY)
    assert not is_marked(stored, "e2")


def test_mark_is_stored_with_events_together(stored: Stored) -> None:
    rows = stored.events.store_together(
        [EventToStore(an_event(), DAILY, is_capped=True), EventToStore(an_event("e2"), DAILY)]
    )
    assert rows
    assert [row.is_capped for row in rows] == [True, False]
    assert (is_marked(stored), is_marked(stored, "e2")) == (True, False)


@pytest.mark.parametrize("together", [False, True])
def test_event_that_moves_keeps_its_mark(stored: Stored, together: bool) -> None:
    _, row = stored.events.store(an_event(), DAILY, is_capped=True)
    assert isinstance(row, StoredEvent)
    if together:
        (moved,) = stored.events.move_together([row], "weekly", Guard()) or ()
    else:
        moved = stored.events.move(row, "weekly", Guard()) or row
    assert (moved.schedule, moved.is_capped) == ("weekly", True)
    assert is_marked(stored)


def test_event_gets_its_mark_when_it_moves(stored: Stored) -> None:
    _, row = stored.events.store(an_event(), "weekly")
    assert isinstance(row, StoredEvent)
    assert stored.events.move(replace(row, is_capped=True), DAILY, Guard())
    assert is_marked(stored)


def test_event_gets_its_mark_in_place(stored: Stored) -> None:
    _, row = stored.events.store(an_event(), DAILY)
    assert isinstance(row, StoredEvent)
    assert stored.events.cap(row)
    assert stored.events.get("ann", "e1") == replace(row, is_capped=True)


def test_event_that_moved_gets_no_mark(stored: Stored, clock: SettableClock) -> None:
    _, row = stored.events.store(an_event(), DAILY)
    assert isinstance(row, StoredEvent)
    clock.pass_time(seconds=1)
    assert stored.events.move(row, "weekly", Guard())
    assert not stored.events.cap(row)
    assert not is_marked(stored)


def test_event_that_was_removed_gets_no_mark(stored: Stored) -> None:
    _, row = stored.events.store(an_event(), DAILY)
    assert isinstance(row, StoredEvent)
    assert stored.events.remove(row, Guard())
    assert not stored.events.cap(row)
    assert stored.events.get("ann", "e1") is None


def test_longer_life_and_amendment_keep_the_mark(stored: Stored) -> None:
    _, row = stored.events.store(an_event(), DAILY, is_capped=True)
    assert isinstance(row, StoredEvent)
    assert stored.events.extend(row, NOW + 2 * RETENTION)
    assert stored.events.amend(row, an_event(excerpt="other", amended_at=NOW))
    assert is_marked(stored)


def test_reason_to_leave_an_event_out_replaces_its_mark(stored: Stored) -> None:
    """One attribute has both."""
    _, row = stored.events.store(an_event(), DAILY, is_capped=True)
    assert isinstance(row, StoredEvent)
    assert stored.deferred.leave_out(replace(row, seen_at=NOW))
    found = stored.events.get("ann", "e1")
    assert isinstance(found, StoredEvent)
    assert (found.schedule, found.is_capped) == (Unsent.EXCLUDED, False)


def test_event_with_a_mark_is_read_and_skimmed(stored: Stored, reader: EventReader) -> None:
    stored.events.store(an_event(), DAILY, is_capped=True)
    (read,) = reader.read("ann", DAILY, a_window())
    (brief,) = reader.skim("ann", DAILY, a_window())
    assert read.is_capped
    assert brief.decode() == read


@pytest.mark.usefixtures("on_moto")
def test_receipt_shows_no_template_error_for_the_mark(clock: SettableClock) -> None:
    dynamo_events(clock).store(an_event(), DAILY, is_capped=True)
    found = DynamoEventTraces("events", clock=clock).find("ann", "e1")
    assert found
    assert found.why == ""
