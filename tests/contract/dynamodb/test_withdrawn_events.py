"""The contract of `DeferredEvents.withdraw`, on the fake and on the real adapter with moto."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import boto3
import pytest
from gazette.adapters.dynamodb.deferred_events import DynamoDeferredEvents
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.model import DAILY, StoredEvent
from gazette.domain.ports.ledgers import Runs
from gazette.domain.ports.stores import EVENTS_AT_ONCE, DeferredEvents, EventReader, Events, Guard
from gazette.domain.scheduling.kinds import Unsent

from tests.builders import (
    NOW,
    SettableClock,
    a_claimed_run,
    a_run,
    a_stored_event,
    a_window,
    an_event,
)
from tests.fake_stores import FakeEvents

AT = NOW + timedelta(hours=1)
"""The time of the withdrawal."""


@pytest.fixture
def deferred(events: Events, clock: SettableClock) -> DeferredEvents:
    return events if isinstance(events, FakeEvents) else DynamoDeferredEvents("events", clock=clock)


@pytest.fixture
def run(runs: Runs) -> Run:
    return runs.create(a_run())


@pytest.fixture
def read(events: Events, reader: EventReader) -> StoredEvent:
    """A stored event, as a worker read it before it applied a withdrawal."""
    events.store(an_event(), DAILY)
    (stored,) = reader.read("ann", DAILY, a_window())
    return replace(stored, withdrawn_at=AT)


def test_withdrawn_event_is_in_no_window(
    events: Events,
    reader: EventReader,
    deferred: DeferredEvents,
    run: Run,
    runs: Runs,
    read: StoredEvent,
    clock: SettableClock,
) -> None:
    clock.pass_time(seconds=9)
    removing = replace(run, removed=Reason.WITHDRAWN)
    after = deferred.withdraw([read], removing)
    assert after == replace(removing, epoch=1) == runs.get(run.key)
    assert list(reader.read("ann", DAILY, a_window())) == []
    expected = replace(read, schedule=Unsent.EXCLUDED, stored_at=clock.now)
    assert events.get("ann", "e1") == expected
    assert deferred.withdraw([read], after) is None


def test_many_events_are_withdrawn_with_one_change_of_the_run(
    events: Events, reader: EventReader, deferred: DeferredEvents, run: Run, runs: Runs
) -> None:
    for number in range(EVENTS_AT_ONCE):
        events.store(an_event(f"e{number}"), DAILY)
    some = [replace(each, withdrawn_at=AT) for each in reader.read("ann", DAILY, a_window())]
    assert len(some) == EVENTS_AT_ONCE
    assert deferred.withdraw(some, run, for_good=["e1"]) == replace(run, epoch=1)
    assert list(reader.read("ann", DAILY, a_window())) == []
    for event_id, place in (("e0", Unsent.EXCLUDED), ("e1", Unsent.GIVEN_UP)):
        stored = events.get("ann", event_id)
        assert isinstance(stored, StoredEvent)
        assert (stored.schedule, stored.withdrawn_at) == (place, AT)


def amend(events: Events, read: StoredEvent) -> None:
    events.amend(read, replace(read.event, excerpt="Else", amended_at=NOW))


def move(events: Events, read: StoredEvent) -> None:
    events.move(read, "weekly", Guard())


def retract(events: Events, read: StoredEvent) -> None:
    events.retract("ann", read.event.id, early=False)


@pytest.mark.parametrize("change", [amend, move, retract])
def test_event_that_changed_since_the_read_is_not_withdrawn(
    events: Events,
    deferred: DeferredEvents,
    run: Run,
    runs: Runs,
    read: StoredEvent,
    clock: SettableClock,
    change: Callable[[Events, StoredEvent], None],
) -> None:
    clock.pass_time(seconds=1)
    change(events, read)
    before = events.get("ann", "e1")
    assert deferred.withdraw([read], run) is None
    assert events.get("ann", "e1") == before
    assert runs.get(run.key) == run


def test_event_claimed_by_a_worker_with_an_older_list_is_not_withdrawn(
    reader: EventReader, deferred: DeferredEvents, run: Run, runs: Runs, read: StoredEvent
) -> None:
    runs.swap(run, a_claimed_run(status=Status.SENDING, reason=Reason.CLAIMED))
    assert deferred.withdraw([read], run) is None
    assert len(list(reader.read("ann", DAILY, a_window()))) == 1


def test_worker_with_an_older_list_cannot_claim_after_an_event_was_withdrawn(
    deferred: DeferredEvents, run: Run, runs: Runs, read: StoredEvent
) -> None:
    assert deferred.withdraw([read], run)
    claimed = a_claimed_run(status=Status.SENDING, reason=Reason.CLAIMED)
    assert runs.swap(run, claimed).status is Status.PENDING


def test_event_that_returns_loses_the_time_of_the_withdrawal(
    events: Events, deferred: DeferredEvents, run: Run, read: StoredEvent
) -> None:
    deferred.withdraw([read], run)
    left = events.get("ann", "e1")
    assert isinstance(left, StoredEvent)
    events.move(left, DAILY, Guard())
    assert events.get("ann", "e1") == a_stored_event(an_event(), DAILY, NOW)


def test_latest_reason_replaces_an_earlier_one(
    events: Events, deferred: DeferredEvents, run: Run, read: StoredEvent
) -> None:
    """A row of another version may still have the earlier reason."""
    stored = replace(read, withdrawn_at=None, seen_at=NOW)
    assert deferred.leave_out(stored)
    left = events.get("ann", "e1")
    assert isinstance(left, StoredEvent)
    assert (left.seen_at, left.withdrawn_at) == (NOW, None)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_older_version_shows_the_reason(
    deferred: DeferredEvents, run: Run, read: StoredEvent
) -> None:
    deferred.withdraw([read], run)
    (item,) = boto3.client("dynamodb").scan(TableName="events")["Items"]
    assert "gazette withdraw" in item["why"]["S"]
    assert item["stored"]["S"].startswith("excluded#")
