"""Fan-out: every due schedule starts one run, whatever is repeated or breaks off."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.domain.delivery.batch import Batch, BatchRun
from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status
from gazette.domain.errors import Unavailable
from gazette.domain.model import DAILY, RunKey, Schedule, ScheduleState, Window
from gazette.domain.ports.ledgers import ScheduleKey
from gazette.domain.ports.queues import QueuedRun, Shard
from gazette.domain.scheduling.calendar import Days, DigestTimes, Recurrence, slot_of
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.fanout.fanout import FannedOut, tick
from gazette.steps.subscribers.schedules import set_schedule

from tests.builders import KEY, NOW, SettableClock, a_run, a_schedule, a_subscriber, an_event
from tests.fakes import FakeQueue
from tests.world import SETTLE_LAG, World, crashes, interleavings

SLOT = datetime(2026, 11, 22, 7, 0, tzinfo=UTC)
TOMORROW = datetime(2026, 11, 23, 7, 0, tzinfo=UTC)


@dataclass
class Fanout(World):
    """A world with one shard; `left` is what remains of the invocation of fan-out."""

    max_lateness: timedelta = timedelta(hours=6)
    spread: timedelta = timedelta(seconds=540)
    drawn: float = 0.5
    left: timedelta = timedelta(seconds=120)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.time_left = lambda: self.left

    def make_due(self, schedule: Schedule) -> None:
        """A schedule with an event that waits under it."""
        self.schedules.put(schedule, replacing=None)
        self.subscribers.put(a_subscriber(schedule.user_id), replacing=None)
        event = an_event(f"for-{schedule.name}", user_id=schedule.user_id)
        before, self.clock.now = self.clock.now, NOW - SETTLE_LAG
        self.events.store(event, schedule.name)
        self.clock.now = before

    def fan_out(self, slot: datetime = SLOT, until: datetime | None = None) -> FannedOut:
        return self.fan_out_shard(Shard(0, slot, until or slot))


@pytest.fixture
def world(clock: SettableClock) -> Fanout:
    world = Fanout(clock)
    world.make_due(a_schedule())
    return world


def ticked(world: Fanout, time: datetime) -> dict[int, tuple[datetime, datetime]]:
    """The first and the last slot of each shard that a tick queued."""
    world.shard_queue.sent.clear()
    number = tick(time, batches=world.batches, shard_queue=world.shard_queue, shards=4, lookback=2)
    assert number == len(world.shard_queue.sent)
    return {shard.number: (shard.since, shard.until) for shard in world.shard_queue.sent}


def test_tick_queues_every_shard_from_shortly_before_its_checkpoint(
    world: Fanout,
) -> None:
    for number, behind in enumerate((0, 10, 20, 7 * 24 * 60)):
        world.batches.save_checkpoint(number, SLOT - timedelta(minutes=behind))
    assert ticked(world, SLOT + timedelta(minutes=3)) == {
        0: (SLOT - timedelta(minutes=20), SLOT),
        1: (SLOT - timedelta(minutes=20), SLOT),
        2: (SLOT - timedelta(minutes=30), SLOT),
        3: (SLOT - timedelta(minutes=7 * 24 * 60 + 10), SLOT),
    }


def test_unfinished_shard_starts_at_announced_slot(world: Fanout) -> None:
    """Nobody writes a schedule to a shard before that."""
    world.clock.now = SLOT - timedelta(days=9)
    world.batches.announce(3)
    world.clock.now = SLOT - timedelta(days=2)
    world.batches.announce(6)
    world.batches.save_checkpoint(0, SLOT - timedelta(minutes=10))
    again = timedelta(minutes=20)
    assert ticked(world, SLOT) == {
        0: (SLOT - again, SLOT),
        **dict.fromkeys((1, 2), (SLOT - timedelta(days=9) - again, SLOT)),
        **dict.fromkeys((3, 4, 5), (SLOT - timedelta(days=2) - again, SLOT)),
    }


def test_new_shard_starts_at_current_slot(world: Fanout) -> None:
    assert ticked(world, SLOT)[3] == (SLOT - timedelta(minutes=20), SLOT)


def test_retired_shard_is_queued_until_drained(
    world: Fanout,
) -> None:
    """There were more shards; what lies in them is put into those of now as it moves on."""
    world.batches.save_checkpoint(17, SLOT - timedelta(minutes=10))
    assert ticked(world, SLOT).keys() == set(range(18))


def test_late_tick_queues_its_own_slot(world: Fanout) -> None:
    world.batches.save_checkpoint(0, SLOT + timedelta(days=1))
    assert ticked(world, SLOT)[0] == (SLOT - timedelta(minutes=20), SLOT)


def test_due_schedule_creates_run_and_message_and_advances(world: Fanout) -> None:
    assert world.fan_out() == FannedOut(queued=1)
    run = world.runs.rows[KEY]
    assert (run.status, run.due_at) == (Status.PENDING, SLOT)
    assert run.check_at == NOW + timedelta(seconds=540) + timedelta(hours=1)
    assert world.generate_queue.sent == [QueuedRun(KEY, timedelta(seconds=270))]
    moved = world.schedules.rows["ann", DAILY]
    assert (moved.next_due_at, moved.sequence) == (TOMORROW, 2)


@pytest.mark.parametrize(("drawn", "seconds"), [(0.0, 0), (0.999999, 539)])
def test_random_delay_is_within_spread_setting(world: Fanout, drawn: float, seconds: int) -> None:
    world.drawn = drawn
    world.fan_out()
    assert world.generate_queue.sent[0].delay == timedelta(seconds=seconds)


def test_duplicate_shard_message_starts_no_run(world: Fanout) -> None:
    world.fan_out()
    assert world.fan_out() == FannedOut()
    assert len(world.runs.rows) == 1


def test_trace_j_retry_queues_run_stored_before_crash(world: Fanout) -> None:
    """The row alone must not make the repetition skip the message."""

    def refuse(messages: Iterable[QueuedRun]) -> None:
        raise Unavailable("SQS")

    queue, world.generate_queue = world.generate_queue, FakeQueue[QueuedRun]()
    world.generate_queue.send = refuse  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        world.fan_out()
    assert world.schedules.rows["ann", DAILY].next_due_at == SLOT
    world.generate_queue = queue
    world.fan_out()
    assert [queued.key for queued in queue.sent] == [KEY]


def test_crash_before_schedule_advances_repeats_same_run(world: Fanout) -> None:
    before = world.schedules.rows["ann", DAILY]
    world.fan_out()
    world.schedules.rows["ann", DAILY] = before
    world.fan_out()
    assert list(world.runs.rows) == [KEY]
    assert [queued.key for queued in world.generate_queue.sent] == [KEY, KEY]


def test_ended_run_is_not_queued(world: Fanout) -> None:
    ended = Run(
        key=KEY, due_at=SLOT, check_at=NOW, status=Status.SENT, reason=Reason.ACCEPTED, attempt=1
    )
    world.runs.create(ended)
    assert world.fan_out().queued == 0
    assert world.schedules.rows["ann", DAILY].sequence == 2


def test_concurrently_changed_schedule_is_not_overwritten(world: Fanout) -> None:
    original = world.schedules.put
    changed = replace(a_schedule(next_due_at=NOW + timedelta(hours=5)), revision=2)

    def raced(schedule: Schedule, *, replacing: Schedule | None) -> bool:
        world.schedules.rows["ann", DAILY] = changed
        return original(schedule, replacing=replacing)

    world.schedules.put = raced  # type: ignore[method-assign]
    assert world.fan_out() == FannedOut(queued=1)
    assert world.schedules.rows["ann", DAILY] == changed


def test_trace_j_hour_change_during_fan_out_loses_no_digest(
    world: Fanout,
) -> None:
    """The changed schedule must not meet the run that was started for the old one."""
    world.fan_out()
    world.runs.rows[KEY] = replace(world.runs.rows[KEY], status=Status.SENT)
    world.schedules.rows["ann", DAILY] = a_schedule()
    changed = a_subscriber(changed_at=NOW + timedelta(seconds=1), times=DigestTimes(hour=9))
    context = replace(
        World().context, schedules=world.schedules, runs=world.runs, clock=world.clock
    )
    set_schedule(
        changed, Frequency.DAILY, context=context, current=context.schedules.get("ann", DAILY)
    )
    assert world.schedules.rows["ann", DAILY].sequence == 2
    world.clock.now = world.schedules.rows["ann", DAILY].next_due_at
    world.fan_out(slot_of(world.clock.now))
    assert [queued.key.sequence for queued in world.generate_queue.sent] == [1, 2]


def test_unknown_time_zone_is_treated_as_utc(world: Fanout) -> None:
    """Rather a digest at a wrong hour than a schedule that comes back for ever."""
    world.make_due(replace(a_schedule("aaa"), recurrence=Recurrence(8, 0, "Mars/Olympus_Mons")))
    world.make_due(a_schedule("zoe"))
    assert world.fan_out() == FannedOut(queued=3)
    due = world.schedules.rows["aaa", DAILY].next_due_at
    assert due == datetime(2026, 11, 23, 8, 0, tzinfo=UTC), "that of seven was the date's digest"
    assert world.schedules.rows["zoe", DAILY].sequence == 2


@pytest.mark.parametrize(("late", "queued"), [(timedelta(0), 1), (timedelta(microseconds=1), 0)])
def test_overdue_digest_is_skipped_with_reason_and_joins_next(
    world: Fanout, late: timedelta, queued: int
) -> None:
    world.clock.now = SLOT + world.max_lateness + late
    assert world.fan_out() == FannedOut(queued=queued, late=1 - queued)
    run = world.runs.rows[KEY]
    assert run.reason is (Reason.DUE if queued else Reason.TOO_LATE)
    assert world.schedules.rows["ann", DAILY].next_due_at == TOMORROW
    world.clock.now = TOMORROW
    assert world.fan_out(TOMORROW).queued == 1


@pytest.mark.parametrize("days", [Days(month_day=22), Days(frozenset({7}), every=4, phase=0)])
def test_infrequent_digest_is_sent_late_instead_of_skipped(world: Fanout, days: Days) -> None:
    """Its events would have to wait for a second long interval, and expire on the way."""
    monthly = replace(
        a_schedule(), name="custom", recurrence=Recurrence(8, 0, "Europe/Berlin", days)
    )
    world.make_due(monthly)
    world.clock.now = SLOT + world.max_lateness + timedelta(hours=1)
    assert world.fan_out() == FannedOut(queued=1, late=1)
    assert world.generate_queue.sent[0].key.schedule == "custom"


def test_trace_k_schedule_never_advances_into_current_slot(world: Fanout) -> None:
    """After an outage of two days the next occurrence lies after now.

    Each that was missed has a run of its own, and only the last of them goes out.
    """
    world.clock.pass_time(days=2)
    assert world.fan_out() == FannedOut(queued=1, late=2)
    advanced = world.schedules.rows["ann", DAILY]
    assert advanced.next_due_at == TOMORROW + timedelta(days=2)
    assert (advanced.sequence, advanced.last_due_at) == (4, TOMORROW + timedelta(days=1))
    assert [(run.due_at, run.reason) for run in world.runs.rows.values()] == [
        (SLOT, Reason.TOO_LATE),
        (TOMORROW, Reason.TOO_LATE),
        (TOMORROW + timedelta(days=1), Reason.DUE),
    ]


def test_reader_gets_one_email_after_outage(world: Fanout) -> None:
    """Not even where nothing is ever too late: one email holds it all."""
    world.clock.now = TOMORROW + timedelta(minutes=5)
    assert world.fan_out(until=TOMORROW) == FannedOut(queued=1, late=1)
    assert [queued.key.sequence for queued in world.generate_queue.sent] == [2]


def test_missed_occurrences_are_skipped_despite_stale_index(world: Fanout) -> None:
    """The index may show the next occurrence only after its slot was read."""
    world.clock.pass_time(days=1)
    world.fan_out(SLOT, until=SLOT)
    assert world.schedules.rows["ann", DAILY].next_due_at > world.clock.now


def test_retry_recovers_from_crash_between_missed_occurrences(
    world: Fanout,
) -> None:
    world.clock.pass_time(days=2)
    original, puts = world.schedules.put, []

    def once(schedule: Schedule, *, replacing: Schedule | None) -> bool:
        puts.append(schedule)
        if len(puts) == 2:
            raise Unavailable("DynamoDB")
        return original(schedule, replacing=replacing)

    world.schedules.put = once  # type: ignore[method-assign]
    until = SLOT + timedelta(days=2)
    with pytest.raises(Unavailable):
        world.fan_out(until=until)
    assert world.batches.done == {}
    world.fan_out(until=until)
    assert [run.reason for run in world.runs.rows.values()] == [
        Reason.TOO_LATE,
        Reason.TOO_LATE,
        Reason.DUE,
    ]
    assert world.batches.done == {0: until}


def test_finished_shard_stores_its_checkpoint(world: Fanout) -> None:
    world.fan_out(SLOT - timedelta(hours=1), until=SLOT)
    assert world.batches.done == {0: SLOT}
    world.fan_out(SLOT - timedelta(hours=2), until=SLOT - timedelta(hours=1))
    assert world.batches.done == {0: SLOT}, "it never goes back"


def test_shard_that_exceeds_invocation_time_is_requeued(world: Fanout) -> None:
    for number in range(25):
        world.make_due(a_schedule(f"user{number}"))
    original = world.generate_queue.send

    def slow(messages: Iterable[QueuedRun]) -> None:
        original(messages)
        world.left -= timedelta(seconds=50)

    world.generate_queue.send = slow  # type: ignore[method-assign]
    until = SLOT + timedelta(minutes=10)
    before = SLOT - timedelta(minutes=10)
    assert world.fan_out(before, until=until) == FannedOut(queued=20, handed_on=1)
    assert world.batches.done == {0: before}
    [rest] = world.shard_queue.sent
    assert rest == Shard(0, SLOT, until)
    world.left = timedelta(seconds=120)
    assert world.fan_out(rest.since, rest.until) == FannedOut(queued=6)
    assert world.batches.done == {0: until}


def test_shard_far_behind_is_requeued_even_if_empty(world: Fanout) -> None:
    """A stage that was switched off for a season: each invocation comes further."""
    original = world.schedules.due

    def slow(slot: datetime, shard: int) -> Iterator[Sequence[ScheduleKey]]:
        world.left -= timedelta(seconds=1)
        return original(slot, shard)

    world.schedules.due = slow  # type: ignore[method-assign]
    shard = Shard(0, SLOT - timedelta(days=2), SLOT)
    invocations = 0
    while world.batches.done.get(0) != SLOT:
        world.left = timedelta(seconds=120)
        done = world.fan_out(shard.since, shard.until)
        invocations += 1
        if done.handed_on:
            shard = world.shard_queue.sent.pop()
    assert invocations == 4
    assert done.queued == 1


def test_started_run_belongs_to_batch_of_its_slot(world: Fanout) -> None:
    world.fan_out()
    assert world.batches.latest(2) == [Batch(SLOT, started_at=NOW)]
    assert list(world.runs.of_batch(SLOT)) == [BatchRun(KEY, Status.PENDING, Reason.DUE)]


def test_slot_without_due_schedules_has_no_batch(clock: SettableClock) -> None:
    world = Fanout(clock)
    world.fan_out()
    assert world.batches.rows == {}


def test_cancelled_batch_queues_no_runs_and_keeps_events(
    world: Fanout,
) -> None:
    world.batches.cancel(SLOT)
    assert world.fan_out() == FannedOut(cancelled=1)
    run = world.runs.rows[KEY]
    assert (run.status, run.reason) == (Status.CANCELLED, Reason.BATCH_CANCELLED)
    assert world.schedules.rows["ann", DAILY].sequence == 2
    world.clock.now = TOMORROW
    assert world.fan_out(TOMORROW).queued == 1


def test_thirty_five_schedules_take_four_queue_calls(world: Fanout) -> None:
    for number in range(34):
        world.make_due(a_schedule(f"user{number}"))
    world.schedules.page = 35
    assert world.fan_out().queued == 35
    assert world.generate_queue.calls == 4
    assert {queued.key for queued in world.generate_queue.sent} == set(world.runs.rows)
    assert RunKey("user33", DAILY, 1) in world.runs.rows


@pytest.mark.parametrize(
    ("days", "due"),
    [
        (frozenset({1}), "2026-11-23T07:00"),
        (frozenset({7}), "2026-11-29T07:00"),
        (frozenset({3, 6}), "2026-11-25T07:00"),
    ],
)
def test_schedule_advances_to_next_chosen_day(
    world: Fanout, days: frozenset[int], due: str
) -> None:
    """It is Sunday."""
    weekly = replace(
        a_schedule(), name="weekly", recurrence=Recurrence(8, 0, "Europe/Berlin", Days(days))
    )
    world.make_due(weekly)
    world.fan_out()
    advanced = world.schedules.rows["ann", "weekly"]
    assert advanced.next_due_at == datetime.fromisoformat(due).replace(tzinfo=UTC)
    assert {queued.key.schedule for queued in world.generate_queue.sent} == {DAILY, "weekly"}


def test_withdrawn_schedule_starts_no_run(world: Fanout) -> None:
    world.schedules.withdraw(world.schedules.rows["ann", DAILY])
    assert world.fan_out() == FannedOut()


@pytest.mark.parametrize(
    "now",
    [
        a_schedule().idle(),
        a_schedule().withdrawn(),
        a_schedule().advanced(TOMORROW),
    ],
    ids=["idle", "withdrawn", "advanced"],
)
def test_stale_due_index_entry_is_ignored(
    world: Fanout, now: Schedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.schedules.rows["ann", DAILY] = now
    monkeypatch.setattr(world.schedules, "due", lambda *_: iter([[("ann", DAILY)]]))
    assert world.fan_out() == FannedOut()
    assert world.schedules.rows["ann", DAILY] == now
    assert world.runs.rows == {}


# Nothing waits.


def due_with_nothing(clock: SettableClock) -> Fanout:
    """Ann's schedule is due, and no event waits."""
    world = Fanout(clock)
    world.schedules.put(a_schedule(), replacing=None)
    world.subscribers.put(a_subscriber(), replacing=None)
    return world


def fan_out_when_due(world: World) -> FannedOut:
    """One fan-out of the slot that Ann is due in."""
    due = world.schedules.rows["ann", DAILY].next_due_at
    world.clock.now = max(world.clock.now, due)
    return world.fan_out(slot_of(due))


def test_schedule_without_waiting_events_becomes_idle(
    clock: SettableClock,
) -> None:
    world = due_with_nothing(clock)
    assert fan_out_when_due(world) == FannedOut(idle=1)
    run = world.runs.rows[KEY]
    assert (run.status, run.reason, run.due_at) == (Status.SKIPPED, Reason.NOTHING_WAITED, SLOT)
    assert run.slot is None, "no batch counts it"
    assert world.generate_queue.calls == 0
    idle = world.schedules.rows["ann", DAILY]
    assert (idle.state, idle.next_due_at, idle.sequence) == (ScheduleState.IDLE, SLOT, 2)
    assert idle.last_due_at is None, "no digest was started on that date"


def test_idle_schedule_is_not_visited(clock: SettableClock) -> None:
    world = due_with_nothing(clock)
    fan_out_when_due(world)
    for _ in range(400):
        world.clock.pass_time(days=1)
        slot = slot_of(world.clock.now)
        with world.calls() as calls:
            assert world.fan_out(slot - timedelta(days=1), until=slot) == FannedOut()
        assert {call for call in calls if "due" not in call} == {"batches.save_checkpoint"}


def test_sent_event_does_not_keep_schedule_active(world: Fanout) -> None:
    world.fan_out()
    window = Window(BEGINNING, world.clock.now)
    world.runs.rows[KEY] = replace(world.runs.rows[KEY], status=Status.SENT, window=window)
    assert fan_out_when_due(world) == FannedOut(idle=1)
    assert world.runs.rows[RunKey("ann", DAILY, 2)].reason is Reason.NOTHING_WAITED


@pytest.mark.parametrize(
    "status", [Status.PENDING, Status.SENDING, Status.RETRYING, Status.UNKNOWN, Status.FAILED]
)
def test_possibly_unsent_event_keeps_schedule_active(world: Fanout, status: Status) -> None:
    """Only generate can tell, which settles the older runs first."""
    world.fan_out()
    window = Window(BEGINNING, world.clock.now)
    world.runs.rows[KEY] = replace(world.runs.rows[KEY], status=status, window=window)
    assert fan_out_when_due(world).queued == 1
    assert world.schedules.rows["ann", DAILY].state is ScheduleState.ARMED


def test_trace_ac_recently_stored_event_keeps_schedule_active(clock: SettableClock) -> None:
    """Its writer found the schedule armed and went away; a window would not hold it yet."""
    world = due_with_nothing(clock)
    world.clock.now = SLOT
    world.events.store(an_event(), DAILY)
    assert world.fan_out() == FannedOut(queued=1)


def test_trace_ac_given_up_event_does_not_keep_schedule_active(world: Fanout) -> None:
    """It was in two attempts with an unknown outcome, and nobody sends it again (rule 9)."""
    world.fan_out()
    world.runs.rows[KEY] = replace(
        world.runs.rows[KEY],
        status=Status.CANCELLED,
        reason=Reason.GIVEN_UP,
        window=Window(BEGINNING, world.clock.now),
        attempt=2,
        uncertain=frozenset({1, 2}),
    )
    assert fan_out_when_due(world) == FannedOut(idle=1)


def test_trace_ad_event_stored_during_fan_out_is_not_lost() -> None:
    """Whichever call it comes before: stored and found armed, or stored and armed again."""
    wheres = []
    for world, where in interleavings(
        ripe, fan_out_when_due, lambda world: world.create(an_event())
    ):
        wheres.append(where)
        world.send_everything()
        assert [len(email.lines) for email in world.emails()] == [1], where
    assert len(wheres) > 10


def test_crash_while_schedule_becomes_idle_loses_no_event() -> None:
    for world, where in crashes(ripe, fan_out_when_due):
        world.create(an_event())
        world.send_everything()
        assert [len(email.lines) for email in world.emails()] == [1], where


def ripe() -> Fanout:
    """Ann's schedule is due now, and nothing waits."""
    return due_with_nothing(SettableClock(SLOT))


def test_idle_flag_left_by_crash_is_reused(clock: SettableClock) -> None:
    world = due_with_nothing(clock)
    world.schedules.rows["ann", DAILY] = a_schedule().leaving()
    assert fan_out_when_due(world) == FannedOut(idle=1)


def test_occurrence_uses_next_sequence_number_if_taken(
    clock: SettableClock,
) -> None:
    """A crash between the spent run and the schedule; then an event arms it again."""
    world = due_with_nothing(clock)
    spent = replace(a_run(), status=Status.SKIPPED, reason=Reason.NOTHING_WAITED, due_at=SLOT)
    world.runs.create(spent)
    world.schedules.rows["ann", DAILY] = a_schedule().leaving()
    world.create(an_event())
    assert fan_out_when_due(world) == FannedOut(queued=1)
    assert [queued.key.sequence for queued in world.generate_queue.sent] == [2]
    assert world.schedules.rows["ann", DAILY].sequence == 3


def test_next_event_arms_idle_schedule(
    clock: SettableClock,
) -> None:
    world = due_with_nothing(clock)
    fan_out_when_due(world)
    world.clock.pass_time(days=10, hours=1)
    world.create(an_event())
    armed = world.schedules.rows["ann", DAILY]
    assert (armed.state, armed.next_due_at) == (ScheduleState.ARMED, TOMORROW + timedelta(days=10))
    assert fan_out_when_due(world) == FannedOut(queued=1)
    assert [queued.key.sequence for queued in world.generate_queue.sent] == [2]


def test_run_started_before_crash_is_requeued_without_events(world: Fanout) -> None:
    """Its message may be what the crash prevented; and what it found may be gone since."""
    world.runs.create(replace(a_run(), due_at=SLOT))
    world.events.rows.clear()
    assert world.fan_out().queued == 1


# What the due index shows late.


@pytest.mark.parametrize("hours", [2, 6, 24, 7 * 24, 31 * 24])
def test_trace_ae_very_late_index_entry_is_found(world: Fanout, hours: int) -> None:
    """The index does not say how far behind it is."""
    until = SLOT + timedelta(hours=hours)
    world.clock.now = max(until, NOW)
    assert world.fan_out(until - timedelta(minutes=10), until=until).due > 0


def test_trace_af_worker_rereads_concurrently_changed_schedule(world: Fanout) -> None:
    """The schedule is still due: an event was moved, and the index has it no more."""
    with world.meanwhile("schedules.put", lambda: touch(world), before=True):
        assert world.fan_out() == FannedOut(queued=1)
    assert world.schedules.rows["ann", DAILY].next_due_at == TOMORROW


def touch(world: World) -> None:
    """Somebody else writes the schedule."""
    schedule = world.schedules.rows["ann", DAILY]
    world.schedules.rows["ann", DAILY] = replace(schedule, revision=schedule.revision + 1)


@pytest.mark.parametrize("due_at", [SLOT, SLOT + timedelta(hours=1)], ids=["same slot", "later"])
def test_concurrently_started_run_keeps_schedule_due(
    due_at: datetime,
) -> None:
    """It may send: should it fail, the run of the next occurrence sends what it has left."""
    world = ripe()
    theirs = replace(a_run(), due_at=due_at)

    def around(name: str, call: Callable[[], object]) -> object:
        if name == "runs.create" and KEY not in world.runs.rows:
            world.runs.create(theirs)
        return call()

    with world.watched(around):
        fan_out_when_due(world)
    assert world.runs.rows[KEY] == theirs
    assert world.schedules.rows["ann", DAILY].state is ScheduleState.ARMED
