"""What the port `EventTraces` promises, held against our fake and the real adapter on moto."""

from datetime import timedelta

import pytest
from gazette.adapters.dynamodb.tables import EventRow
from gazette.domain.model import DAILY, Retracted, StoredEvent, Window
from gazette.domain.ports.receipts import EventTraces
from gazette.domain.ports.stores import EventReader, Events
from gazette.domain.receipts.receipt import FoundEvent

from tests.builders import NOW, RETENTION, SettableClock, an_event
from tests.contract.conftest import SECOND


def stored(events: Events, event_id: str = "e1", user_id: str = "ann") -> StoredEvent:
    _, row = events.store(an_event(event_id, user_id=user_id), DAILY)
    assert isinstance(row, StoredEvent)
    return row


def test_stored_event_is_found(events: Events, traces: EventTraces) -> None:
    row = stored(events)
    assert traces.find("ann", "e1") == FoundEvent(row)
    assert traces.find("ann", "e2") is None
    assert traces.find("bo", "e1") is None


def test_event_is_found_until_its_row_may_be_deleted(
    events: Events, traces: EventTraces, clock: SettableClock
) -> None:
    row = stored(events)
    clock.now += RETENTION + timedelta(days=4) - SECOND
    assert events.get("ann", "e1") is None
    assert traces.find("ann", "e1") == FoundEvent(row)
    clock.now += SECOND
    assert traces.find("ann", "e1") is None
    assert traces.find_many([("ann", "e1")]) == {}


def test_retraction_keeps_the_place_of_its_event(
    events: Events, traces: EventTraces, clock: SettableClock
) -> None:
    row = stored(events)
    clock.now += SECOND
    events.retract("ann", "e1", early=False)
    found = FoundEvent(
        Retracted("e1", DAILY),
        was_schedule=DAILY,
        was_stored_at=row.stored_at,
        retracted_at=clock.now,
    )
    assert traces.find("ann", "e1") == found
    clock.now += SECOND
    events.retract("ann", "e1", early=True)
    assert traces.find("ann", "e1") == found


def test_retraction_before_arrival_has_no_place(
    events: Events, traces: EventTraces, clock: SettableClock
) -> None:
    events.retract("ann", "e1", early=True)
    assert traces.find("ann", "e1") == FoundEvent(Retracted("e1"), retracted_at=clock.now)


def test_retraction_of_an_expired_event_keeps_its_place(
    events: Events, traces: EventTraces, clock: SettableClock
) -> None:
    row = stored(events)
    clock.now += RETENTION + SECOND
    assert events.retract("ann", "e1", early=False) is None
    assert events.retract("ann", "e1", early=True) == Retracted("e1")
    found = traces.find("ann", "e1")
    assert found
    assert (found.row, found.was_schedule) == (Retracted("e1"), DAILY)
    assert (found.was_stored_at, found.retracted_at) == (row.stored_at, clock.now)


def test_retracted_event_is_in_no_window(
    events: Events, reader: EventReader, clock: SettableClock
) -> None:
    """Also not by the attribute that keeps its place."""
    row = stored(events)
    events.retract("ann", "e1", early=False)
    window = Window(row.stored_at - SECOND, row.stored_at + SECOND)
    assert list(reader.read("ann", DAILY, window)) == []


def test_events_of_several_readers_are_found_together(events: Events, traces: EventTraces) -> None:
    rows = {
        (user_id, "e1"): FoundEvent(stored(events, user_id=user_id))
        for user_id in (f"reader{number:03}" for number in range(101))
    }
    assert traces.find_many([*rows, ("nobody", "e1")]) == rows
    assert traces.find_many([]) == {}


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_mark_of_an_older_version_is_found_without_its_place(
    events: Events, traces: EventTraces
) -> None:
    EventRow("ann", "e1", was=DAILY, expires_at=NOW + RETENTION).save()
    assert traces.find("ann", "e1") == FoundEvent(Retracted("e1", DAILY), was_schedule=DAILY)
