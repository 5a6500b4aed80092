"""What the stores promise, held against our fakes and against the real adapters on moto."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from gazette.adapters.events import DynamoEventWriter
from gazette.adapters.tables import EventRow
from gazette.domain.calendar import slot_of
from gazette.domain.identity import shard_of
from gazette.domain.model import DAILY, LocalHour, RunKey, SubscriberStatus, Window
from gazette.domain.ports import EventReader, EventWriter, Runs, Schedules, Subscribers
from gazette.domain.run import Reason, Run, Status

from tests.builders import (
    KEY,
    NOW,
    SettableClock,
    a_run,
    a_schedule,
    a_subscriber,
    a_window,
    an_event,
)
from tests.contract.conftest import SHARDS

SECOND = timedelta(seconds=1)
Events = tuple[EventWriter, EventReader]


def test_a_subscriber_comes_back_as_saved(subscribers: Subscribers) -> None:
    assert subscribers.get("ann") is None
    assert subscribers.save(a_subscriber()) == a_subscriber()
    assert subscribers.get("ann") == a_subscriber()


def test_the_newest_profile_wins_and_saving_it_again_succeeds(subscribers: Subscribers) -> None:
    newer = a_subscriber(changed_at=NOW + SECOND, email="new@example.com")
    subscribers.save(newer)
    assert subscribers.save(a_subscriber()) == newer
    assert subscribers.save(newer) == newer
    assert subscribers.get("ann") == newer


def test_a_profile_does_not_change_the_status(subscribers: Subscribers) -> None:
    subscribers.save(a_subscriber())
    assert subscribers.set_status("ann", SubscriberStatus.UNSUBSCRIBED)
    saved = subscribers.save(a_subscriber(changed_at=NOW + SECOND))
    assert saved.status is SubscriberStatus.UNSUBSCRIBED


def test_nobody_has_a_status_before_a_profile(subscribers: Subscribers) -> None:
    assert not subscribers.set_status("ann", SubscriberStatus.UNSUBSCRIBED)
    assert subscribers.get("ann") is None


def test_a_schedule_is_put_once_where_nothing_is(schedules: Schedules) -> None:
    assert schedules.put(a_schedule(), replacing=None)
    assert not schedules.put(a_schedule(), replacing=None)
    assert schedules.get("ann", DAILY) == a_schedule()
    assert schedules.get("bo", DAILY) is None


@pytest.mark.parametrize(
    "stale",
    [
        a_schedule(sequence=2),
        a_schedule(revision=2),
        a_schedule(next_due_at=NOW + SECOND),
    ],
)
def test_a_schedule_is_replaced_only_as_it_was_read(schedules: Schedules, stale: object) -> None:
    schedules.put(a_schedule(), replacing=None)
    changed = replace(a_schedule(revision=2), wanted=LocalHour(20, 30, "Asia/Tokyo"))
    assert not schedules.put(changed, replacing=stale)  # type: ignore[arg-type]
    assert schedules.put(changed, replacing=a_schedule())
    assert schedules.get("ann", DAILY) == changed


def test_nothing_is_replaced_where_nothing_is(schedules: Schedules) -> None:
    assert not schedules.put(a_schedule(), replacing=a_schedule())


def test_a_due_schedule_is_found_in_its_slot_and_shard_alone(schedules: Schedules) -> None:
    due = a_schedule()
    schedules.put(due, replacing=None)
    slot = slot_of(due.next_due_at)
    found = {
        shard: [schedule for page in schedules.due(slot, shard) for schedule in page]
        for shard in range(SHARDS)
    }
    assert found.pop(shard_of("ann", SHARDS)) == [due]
    assert not any(found.values())
    other = slot + timedelta(minutes=10)
    assert not any(list(schedules.due(other, shard)) for shard in range(SHARDS))


def test_more_than_a_page_is_found_whole(schedules: Schedules) -> None:
    users = {f"user{number}" for number in range(250)}
    for user in users:
        schedules.put(a_schedule(user), replacing=None)
    slot = slot_of(a_schedule().next_due_at)
    pages = [page for shard in range(SHARDS) for page in schedules.due(slot, shard)]
    assert {schedule.user_id for page in pages for schedule in page} == users
    assert max(map(len, pages)) <= 100


def test_an_advance_moves_once(schedules: Schedules) -> None:
    schedules.put(a_schedule(), replacing=None)
    tomorrow = a_schedule().next_due_at + timedelta(days=1)
    assert schedules.advance(a_schedule(), tomorrow)
    assert not schedules.advance(a_schedule(), tomorrow)
    assert schedules.get("ann", DAILY) == a_schedule(next_due_at=tomorrow, sequence=2)
    assert not list(schedules.due(slot_of(a_schedule().next_due_at), shard_of("ann", SHARDS)))


def test_a_withdrawn_schedule_is_kept_and_never_due(schedules: Schedules) -> None:
    schedules.put(a_schedule(), replacing=None)
    schedules.withdraw("ann", DAILY)
    schedules.withdraw("nobody", DAILY)
    kept = schedules.get("ann", DAILY)
    assert kept is not None
    assert schedules.get("nobody", DAILY) is None
    assert not list(schedules.due(slot_of(kept.next_due_at), shard_of("ann", SHARDS)))


def test_an_advance_does_not_bring_a_withdrawn_schedule_back(schedules: Schedules) -> None:
    """Fan-out read it before the reader left."""
    schedules.put(a_schedule(), replacing=None)
    schedules.withdraw("ann", DAILY)
    assert not schedules.advance(a_schedule(), NOW + timedelta(days=1))


def test_an_event_comes_back_as_stored_and_once(events: Events) -> None:
    writer, reader = events
    event = an_event(excerpt='Größe "x"\n\u202e😀')
    assert writer.store(event, DAILY)
    assert not writer.store(replace(event, excerpt="again"), DAILY)
    assert list(reader.read("ann", DAILY, a_window())) == [event]


def test_an_event_id_counts_once_whatever_its_schedule(events: Events) -> None:
    """Trace m: the producer repeats it after a change of preferences."""
    writer, reader = events
    assert writer.store(an_event(), DAILY)
    assert not writer.store(an_event(), "weekly")
    assert not list(reader.read("ann", "weekly", a_window()))


def test_a_window_is_open_at_its_beginning_and_closed_at_its_end(
    events: Events, clock: SettableClock
) -> None:
    writer, reader = events
    for number in range(4):
        clock.now = NOW + number * SECOND
        writer.store(an_event(f"e{number}"), DAILY)
    clock.now = NOW + timedelta(minutes=1)
    found = reader.read("ann", DAILY, Window(NOW, NOW + 2 * SECOND))
    assert [event.id for event in found] == ["e1", "e2"]
    assert not list(reader.read("ann", DAILY, Window(NOW, NOW)))
    assert not list(reader.read("ann", DAILY, Window(NOW + SECOND, NOW)))


def test_windows_that_follow_each_other_share_and_miss_nothing(
    events: Events, clock: SettableClock
) -> None:
    writer, reader = events
    edges = [NOW + timedelta(microseconds=number) for number in range(-1, 4)]
    for number, edge in enumerate(edges):
        clock.now = edge
        writer.store(an_event(f"e{number}"), DAILY)
    windows = [Window(NOW - timedelta(days=1), NOW), Window(NOW, NOW + timedelta(days=1))]
    found = [event.id for window in windows for event in reader.read("ann", DAILY, window)]
    assert found == [f"e{number}" for number in range(5)]


def test_events_of_others_and_of_other_schedules_stay_apart(events: Events) -> None:
    writer, reader = events
    writer.store(an_event("mine"), DAILY)
    writer.store(an_event("theirs", user_id="bo"), DAILY)
    writer.store(an_event("later"), "weekly")
    assert [event.id for event in reader.read("ann", DAILY, a_window())] == ["mine"]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.usefixtures("engine")
def test_an_event_is_written_by_one_request_per_stamp(clock: SettableClock) -> None:
    """Else the client would repeat a write with a stamp that has grown old (rule 14)."""
    DynamoEventWriter("events", retention=timedelta(days=90), timeout=1.5, clock=clock)
    config: Any = EventRow._get_connection().connection.client.meta.config
    assert config.retries["total_max_attempts"] == 1
    assert config.connect_timeout + config.read_timeout == 1.5


def test_a_run_is_created_once(runs: Runs) -> None:
    assert runs.create(a_run()) == a_run()
    later = replace(a_run(), due_at=NOW + timedelta(days=1))
    assert runs.create(later) == a_run()
    assert list(runs.chain(KEY)) == [a_run()]


def test_a_run_comes_back_with_everything_it_knows(runs: Runs) -> None:
    runs.create(a_run())
    full = replace(
        a_run(),
        status=Status.UNKNOWN,
        reason=Reason.UNCERTAIN,
        attempt=2,
        refusals=1,
        epoch=3,
        uncertain=frozenset({1, 2}),
        resent=True,
        window=a_window(),
        deadline=NOW + SECOND,
        nonce="nonce",
        message_id="message",
        detail="TooManyRequestsException",
    )
    assert runs.swap(a_run(), full) == full
    assert list(runs.chain(KEY)) == [full]


def test_a_swap_that_lost_returns_what_won(runs: Runs) -> None:
    runs.create(a_run())
    first = replace(a_run(), status=Status.SENDING, attempt=1, nonce="first")
    second = replace(first, nonce="second")
    assert runs.swap(a_run(), first) == first
    assert runs.swap(a_run(), second) == first
    assert runs.swap(a_run(), first) == first, "its own answer was lost: it recognises itself"


@pytest.mark.parametrize(
    "read",
    [
        replace(a_run(), status=Status.RETRYING),
        replace(a_run(), attempt=1),
        replace(a_run(), epoch=1),
        replace(a_run(), reason=Reason.REFUSED_FOR_NOW),
    ],
)
def test_a_swap_holds_only_on_what_was_read(runs: Runs, read: Run) -> None:
    runs.create(a_run())
    assert runs.swap(read, replace(read, status=Status.SENT)) == a_run()


def test_a_swap_never_creates_a_run(runs: Runs) -> None:
    with pytest.raises(LookupError):
        runs.swap(a_run(), replace(a_run(), status=Status.SENDING, attempt=1))
    assert list(runs.chain(KEY)) == []


def test_a_chain_reaches_back_to_the_last_sent_run_before_it(runs: Runs) -> None:
    statuses = [Status.SENT, Status.SENT, Status.SKIPPED, Status.FAILED, Status.SENT]
    for number, status in enumerate(statuses, 1):
        runs.create(replace(a_run(number), status=status))
    runs.create(a_run(2, user_id="bo"))
    chain = runs.chain(RunKey("ann", DAILY, 5))
    assert [run.key.sequence for run in chain] == [5, 4, 3, 2]
    assert [run.key.sequence for run in runs.chain(RunKey("ann", DAILY, 9))] == [5]


def test_a_chain_of_many_unsent_runs_reaches_the_first(runs: Runs) -> None:
    for number in range(1, 41):
        runs.create(replace(a_run(number), status=Status.SKIPPED))
    chain = runs.chain(RunKey("ann", DAILY, 40))
    assert [run.key.sequence for run in chain] == list(range(40, 0, -1))


def test_instants_in_other_zones_are_the_same_instants(runs: Runs) -> None:
    berlin = datetime.fromisoformat("2026-11-22T08:00:00.000001+01:00")
    runs.create(replace(a_run(), due_at=berlin))
    assert runs.chain(KEY)[0].due_at == berlin.astimezone(UTC)
