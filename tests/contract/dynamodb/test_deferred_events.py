"""What `DeferredEvents` promises, held against our fake and the real adapter on moto."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.adapters.dynamodb.deferred_events import DynamoDeferredEvents
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.explanation import EventHistory
from gazette.domain.model import DAILY, Event, RunKey, StoredEvent
from gazette.domain.ports.ledgers import Runs
from gazette.domain.ports.stores import EVENTS_AT_ONCE, DeferredEvents, EventReader, Events, Guard
from gazette.domain.scheduling.kinds import Unsent

from tests.builders import (
    NOW,
    RETENTION,
    SettableClock,
    a_claimed_run,
    a_run,
    a_stored_event,
    a_window,
    an_event,
)
from tests.fake_stores import FakeEvents


@pytest.fixture
def deferred_events(events: Events, clock: SettableClock) -> DeferredEvents:
    return events if isinstance(events, FakeEvents) else DynamoDeferredEvents("events", clock=clock)


@pytest.fixture
def run(runs: Runs) -> Run:
    """A run that is due, of the schedule under which the events are."""
    return runs.create(a_run())


def test_excluded_event_is_in_no_window(
    events: Events, reader: EventReader, deferred_events: DeferredEvents, run: Run, runs: Runs
) -> None:
    events.store(an_event(), DAILY)
    assert deferred_events.exclude(an_event(), run, "cannot be shown") == replace(run, epoch=1)
    assert runs.get(run.key) == replace(run, epoch=1)
    assert list(reader.read("ann", DAILY, a_window())) == []
    assert events.get("ann", "e1") == a_stored_event(an_event(), Unsent.EXCLUDED, NOW)


def test_permanently_excluded_event_is_marked_as_given_up(
    events: Events, reader: EventReader, deferred_events: DeferredEvents, run: Run
) -> None:
    events.store(an_event(), DAILY)
    assert deferred_events.exclude(an_event(), run, "cannot be shown", for_good=True)
    assert list(reader.read("ann", DAILY, a_window())) == []
    assert events.get("ann", "e1") == a_stored_event(an_event(), Unsent.GIVEN_UP, NOW)
    assert events.store(an_event(), DAILY) == (
        False,
        a_stored_event(an_event(), Unsent.GIVEN_UP, NOW),
    )


@pytest.mark.parametrize("name", ["weekly", "dail", "daily2"])
def test_moved_event_is_not_excluded(
    events: Events, reader: EventReader, deferred_events: DeferredEvents, runs: Runs, name: str
) -> None:
    other = runs.create(replace(a_run(), key=RunKey("ann", name, 1)))
    events.store(an_event(), DAILY)
    assert deferred_events.exclude(an_event(), other, "cannot be shown") is None
    assert len(list(reader.read("ann", DAILY, a_window()))) == 1


def test_amended_event_is_not_excluded(
    events: Events, reader: EventReader, deferred_events: DeferredEvents, run: Run
) -> None:
    """Its producer amended it: it may be shown now."""
    _, stored_event = events.store(an_event(), DAILY)
    assert isinstance(stored_event, StoredEvent)
    assert events.amend(stored_event, replace(an_event(), excerpt="Mended", amended_at=NOW))
    assert deferred_events.exclude(an_event(), run, "cannot be shown") is None
    assert len(list(reader.read("ann", DAILY, a_window()))) == 1


def test_trace_y_event_claimed_by_another_worker_is_not_excluded(
    events: Events, reader: EventReader, deferred_events: DeferredEvents, run: Run, runs: Runs
) -> None:
    """Whose templates can show it: it goes out, and put again it would go out twice."""
    events.store(an_event(), DAILY)
    runs.swap(run, a_claimed_run(status=Status.SENDING, reason=Reason.CLAIMED))
    assert deferred_events.exclude(an_event(), run, "cannot be shown") is None
    assert len(list(reader.read("ann", DAILY, a_window()))) == 1


def test_missing_event_is_not_recreated_by_exclusion(
    events: Events, deferred_events: DeferredEvents, run: Run
) -> None:
    assert deferred_events.exclude(an_event(), run, "cannot be shown") is None
    assert events.get("ann", "e1") is None


def test_excluded_event_can_be_moved_to_its_schedule(
    events: Events, reader: EventReader, deferred_events: DeferredEvents, run: Run
) -> None:
    """As by its producer, who puts it again."""
    events.store(an_event(), DAILY)
    deferred_events.exclude(an_event(), run, "cannot be shown " * 100)
    _, found = events.store(an_event(), DAILY)
    assert isinstance(found, StoredEvent)
    assert events.move(found, DAILY, Guard())
    assert [each.event.id for each in reader.read("ann", DAILY, a_window())] == ["e1"]


def test_expired_event_is_counted_once_and_removed_from_the_window(
    events: Events,
    reader: EventReader,
    history: EventHistory,
    deferred_events: DeferredEvents,
    run: Run,
    runs: Runs,
    clock: SettableClock,
) -> None:
    events.store(an_event(), DAILY)
    clock.now += RETENTION
    (stored_event,) = reader.read("ann", DAILY, a_window())
    after = deferred_events.expire([stored_event], run)
    assert after
    assert after == replace(run, epoch=1) == runs.get(run.key)
    assert deferred_events.expire([stored_event], after) is None
    assert list(reader.read("ann", DAILY, a_window())) == []
    assert not reader.holds("ann", DAILY, after=a_window().since)
    assert list(history.of_user("ann")) == [
        replace(stored_event, schedule=Unsent.EXPIRED, stored_at=clock.now)
    ]
    assert events.get("ann", "e1") is None
    assert events.store(an_event(), DAILY)[0], "put again by its producer"


def test_trace_v_extended_event_is_not_counted_as_expired(
    events: Events,
    reader: EventReader,
    deferred_events: DeferredEvents,
    run: Run,
    clock: SettableClock,
) -> None:
    """As whoever has read it may believe: a pause that began meanwhile has made it last longer."""
    events.store(an_event(), DAILY)
    read = a_stored_event()
    assert not deferred_events.expire([read], run)
    events.extend(read, NOW + 2 * RETENTION)
    clock.now += RETENTION
    assert not deferred_events.expire([read], run)
    assert [each.event.id for each in reader.read("ann", DAILY, a_window())] == ["e1"]
    assert events.get("ann", "e1") == replace(read, lasts_until=NOW + 2 * RETENTION)


LAPSES = replace(an_event(), expires_at=NOW + timedelta(hours=1))


def test_lapsed_event_is_counted_once_and_removed_from_the_window(
    events: Events,
    reader: EventReader,
    history: EventHistory,
    deferred_events: DeferredEvents,
    run: Run,
    clock: SettableClock,
) -> None:
    events.store(LAPSES, DAILY)
    (read,) = reader.read("ann", DAILY, a_window())
    assert not deferred_events.expire([read], run), "it has not lapsed yet"
    clock.now += timedelta(hours=1)
    after = deferred_events.expire([read], run)
    assert after
    assert not deferred_events.expire([read], after)
    assert list(reader.read("ann", DAILY, a_window())) == []
    assert not reader.holds("ann", DAILY, after=a_window().since)
    assert list(history.of_user("ann")) == [
        replace(read, schedule=Unsent.EXPIRED, stored_at=clock.now)
    ]
    assert isinstance(events.get("ann", "e1"), StoredEvent), "an amendment may bring it back"


@pytest.mark.parametrize("lapses", [True, False])
def test_given_up_event_is_not_restored_by_more_time(
    events: Events,
    reader: EventReader,
    deferred_events: DeferredEvents,
    run: Run,
    clock: SettableClock,
    lapses: bool,
) -> None:
    events.store(LAPSES if lapses else an_event(), DAILY)
    (read,) = reader.read("ann", DAILY, a_window())
    clock.now += timedelta(hours=1) if lapses else RETENTION
    assert deferred_events.expire([read], run, for_good={read.event.id})
    assert list(reader.read("ann", DAILY, a_window())) == []
    place = replace(read, schedule=Unsent.GIVEN_UP, stored_at=clock.now)
    if lapses:
        more = replace(LAPSES, amended_at=clock.now, expires_at=clock.now + timedelta(hours=1))
        assert events.store(more, DAILY) == (False, place)


@pytest.mark.parametrize("for_good", [False, True])
def test_trace_r_event_claimed_by_another_worker_is_not_expired(
    events: Events,
    reader: EventReader,
    deferred_events: DeferredEvents,
    run: Run,
    runs: Runs,
    clock: SettableClock,
    for_good: bool,
) -> None:
    """That worker read it before it lapsed, and sends it."""
    events.store(LAPSES, DAILY)
    (read,) = reader.read("ann", DAILY, a_window())
    clock.now += timedelta(hours=1)
    runs.swap(run, a_claimed_run(status=Status.SENDING, reason=Reason.CLAIMED))
    assert deferred_events.expire([read], run, for_good=["e1"] * for_good) is None
    assert len(list(reader.read("ann", DAILY, a_window()))) == 1


def test_claim_fails_after_a_lapsed_event_is_removed(
    events: Events,
    deferred_events: DeferredEvents,
    run: Run,
    runs: Runs,
    clock: SettableClock,
) -> None:
    """By its own clock it may not have lapsed."""
    _, read = events.store(LAPSES, DAILY)
    assert isinstance(read, StoredEvent)
    clock.now += timedelta(hours=1)
    assert deferred_events.expire([read], run)
    claimed = a_claimed_run(status=Status.SENDING, reason=Reason.CLAIMED)
    assert runs.swap(run, claimed).status is Status.PENDING


def test_trace_v_lapsed_event_given_more_time_is_not_expired(
    events: Events,
    reader: EventReader,
    deferred_events: DeferredEvents,
    run: Run,
    clock: SettableClock,
) -> None:
    events.store(LAPSES, DAILY)
    (read,) = reader.read("ann", DAILY, a_window())
    clock.now += timedelta(hours=1)
    more = replace(LAPSES, amended_at=clock.now, expires_at=clock.now + timedelta(hours=1))
    assert events.amend(read, more)
    assert not deferred_events.expire([read], run)
    assert [each.event for each in reader.read("ann", DAILY, a_window())] == [more]


@pytest.mark.parametrize("act", ["moved", "retracted", "gone"])
def test_missing_moved_or_retracted_event_is_not_counted_as_expired(
    events: Events, deferred_events: DeferredEvents, run: Run, clock: SettableClock, act: str
) -> None:
    read = a_stored_event()
    if act != "gone":
        events.store(an_event(), DAILY)
    if act == "moved":
        clock.pass_time(minutes=1)
        events.move(read, "weekly", Guard())
    if act == "retracted":
        events.retract("ann", "e1", early=False)
    clock.now = NOW + RETENTION
    before = events.get("ann", "e1")
    assert not deferred_events.expire([read], run)
    assert events.get("ann", "e1") == before


@pytest.mark.parametrize("number", [2, EVENTS_AT_ONCE])
def test_expired_events_are_removed_with_a_single_run_change(
    events: Events,
    reader: EventReader,
    deferred_events: DeferredEvents,
    run: Run,
    runs: Runs,
    history: EventHistory,
    clock: SettableClock,
    number: int,
) -> None:
    stored(events, number)
    clock.now += RETENTION
    over = list(reader.read("ann", DAILY, a_window()))
    run = replace(run, removed=Reason.EXPIRED)
    after = deferred_events.expire(over, run, for_good=["e1"])
    assert after == replace(run, epoch=1) == runs.get(run.key)
    assert list(reader.read("ann", DAILY, a_window())) == []
    places = {
        each.event.id: each.schedule
        for each in history.of_user("ann")
        if isinstance(each, StoredEvent)
    }
    assert places.pop("e1") == Unsent.GIVEN_UP
    assert list(places.values()) == [Unsent.EXPIRED] * (number - 1)


def test_expiry_of_several_events_fails_if_any_was_extended(
    events: Events,
    reader: EventReader,
    deferred_events: DeferredEvents,
    run: Run,
    runs: Runs,
    clock: SettableClock,
) -> None:
    stored(events, 3)
    over = list(reader.read("ann", DAILY, a_window()))
    clock.now += RETENTION
    assert events.extend(over[1], clock.now + timedelta(hours=1))
    assert deferred_events.expire(over, run) is None
    assert len(list(reader.read("ann", DAILY, a_window()))) == 3
    assert runs.get(run.key) == run
    assert deferred_events.expire(over[::2], run)
    assert [each.event.id for each in reader.read("ann", DAILY, a_window())] == ["e1"]


def stored(events: Events, number: int) -> list[Event]:
    """So many, under the daily digest."""
    some = [an_event(f"e{each}") for each in range(number)]
    for event in some:
        events.store(event, DAILY)
    return some


def ids(some: Sequence[Event]) -> list[str]:
    return [event.id for event in some]


def where(events: Events, some: Sequence[Event]) -> set[tuple[str, timedelta]]:
    """The schedule of each, and how long after now it was stored."""
    found = [events.get("ann", event.id) for event in some]
    return {
        (each.schedule, each.stored_at - NOW) for each in found if isinstance(each, StoredEvent)
    }


@pytest.mark.parametrize("number", [1, 49, 50, 120])
def test_deferred_event_leaves_the_window_and_fails_an_open_claim(
    events: Events,
    deferred_events: DeferredEvents,
    runs: Runs,
    reader: EventReader,
    clock: SettableClock,
    number: int,
) -> None:
    some = stored(events, number)
    run = runs.create(a_run())
    clock.pass_time(minutes=1)
    after = deferred_events.defer(ids(some), run)
    assert after == runs.get(run.key)
    assert after
    assert after == replace(run, epoch=after.epoch)
    assert after.epoch > run.epoch
    assert where(events, some) == {(DAILY, timedelta(minutes=1))}
    assert list(reader.read("ann", DAILY, a_window())) == []
    claimed = replace(run, status=Status.SENDING, attempt=1)
    assert runs.swap(run, claimed) == after
    assert runs.swap(after, replace(claimed, epoch=after.epoch)).status is Status.SENDING


@pytest.mark.parametrize(
    "changes", [{"status": Status.SENDING, "attempt": 1}, {"status": Status.SENT}, {"epoch": 1}]
)
def test_defer_fails_if_the_run_has_changed(
    events: Events,
    deferred_events: DeferredEvents,
    runs: Runs,
    clock: SettableClock,
    changes: dict[str, object],
) -> None:
    some = stored(events, 2)
    run = runs.create(a_run())
    changed: Run = runs.swap(run, replace(run, **changes))  # type: ignore[arg-type]
    clock.pass_time(minutes=1)
    assert deferred_events.defer(ids(some), run) is None
    assert where(events, some) == {(DAILY, timedelta(0))}
    assert runs.get(run.key) == changed


def test_defer_fails_if_any_event_was_retracted_or_moved(
    events: Events, deferred_events: DeferredEvents, runs: Runs, clock: SettableClock
) -> None:
    some = stored(events, 3)
    run = runs.create(a_run())
    events.retract("ann", "e1", early=False)
    found = events.get("ann", "e2")
    assert isinstance(found, StoredEvent)
    events.move(found, "weekly", Guard())
    clock.pass_time(minutes=1)
    for gone in some[1:]:
        assert deferred_events.defer(ids([some[0], gone]), run) is None
    assert where(events, some) == {(DAILY, timedelta(0)), ("weekly", timedelta(0))}
    assert runs.get(run.key) == run


def test_deferred_event_can_be_deferred_again(
    events: Events, deferred_events: DeferredEvents, runs: Runs, clock: SettableClock
) -> None:
    some = stored(events, 2)
    run: Run | None = runs.create(a_run())
    for _ in range(2):
        assert run
        clock.pass_time(minutes=1)
        run = deferred_events.defer(ids(some), run)
    assert where(events, some) == {(DAILY, timedelta(minutes=2))}
