"""A redrive of a run that exhausted its attempts sends its events now, and once."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber, ChoosePreferences
from gazette.domain.delivery.redrive import Redriven, RedriveResult
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import RefusedForNow
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY, RunKey, Window
from gazette.domain.ports.queues import QueuedRun
from gazette.domain.scheduling.calendar import DigestTimes, slot_of
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.delivery.types import WaitingFor
from gazette.steps.support.dead_letters import Redrive, forecast

from tests.builders import a_subscriber, an_event
from tests.world import SETTLE_LAG, Email, World, crashes, interleavings

KEY = RunKey("ann", DAILY, 1)
NEXT = RunKey("ann", DAILY, 2)
DAY = timedelta(days=1)


def happen(world: World, number: int) -> None:
    """Store an event on an entity of its own, old enough to be in a digest."""
    world.create(an_event(f"e{number}", entity_id=f"post{number}", occurred_at=world.clock()))
    world.clock.pass_time(minutes=1)


def refuse_to_the_end(world: World, key: RunKey) -> None:
    for attempt in range(1, 7):
        world.mailer.script.append(RefusedForNow(attempt, "Throttling"))
    for _ in range(7):
        world.deliver_queued()
    assert world.runs.rows[key].reason is Reason.ATTEMPTS_EXHAUSTED
    assert world.failed_runs.sent[-1:] == [key]


def failed(frequency: Frequency = Frequency.DAILY) -> World:
    """What happened before and while it was refused waits; its dead letter is in `failed`."""
    world = World()
    world.choose(comment=frequency)
    happen(world, 1)
    if frequency is Frequency.DAILY:
        due = world.schedules.rows["ann", DAILY].next_due_at
        world.clock.now = due + 2 * SETTLE_LAG
        world.fan_out(slot_of(due))
    refuse_to_the_end(world, next(iter(world.runs.rows)))
    if frequency is Frequency.DAILY:
        happen(world, 2)
    return world


@pytest.fixture
def world() -> World:
    return failed()


def start_next(world: World, key: RunKey = KEY) -> Redriven:
    return world.redrive(world.runs.rows[key])


def redrive(world: World, key: RunKey = KEY) -> None:
    """A message from `failed`, moved to the resend queue."""
    world.resend(key, given_up=True)


def work_off(world: World) -> None:
    for _ in range(3):
        world.deliver_queued()


def test_trace_aa_redrive_of_failed_run_sends_all_waiting_events(world: World) -> None:
    assert not world.emails()
    redrive(world)
    work_off(world)
    (email,) = world.emails()
    assert sorted(email.lines) == ["post1: 1", "post2: 1"]
    assert world.runs.rows[KEY].reason is Reason.ATTEMPTS_EXHAUSTED
    assert world.runs.rows[NEXT].status is Status.SENT
    assert world.failed_runs.sent == [KEY]


def test_trace_aa_next_digest_after_redrive_is_on_time_without_repeats(world: World) -> None:
    before = world.schedules.rows["ann", DAILY]
    redrive(world)
    after = world.schedules.rows["ann", DAILY]
    assert after == replace(before, sequence=3, revision=before.revision + 1)
    work_off(world)
    happen(world, 3)
    world.send_digest()
    assert [sorted(email.lines) for email in world.emails()] == [
        ["post1: 1", "post2: 1"],
        ["post3: 1"],
    ]
    assert world.runs.rows[RunKey("ann", DAILY, 3)].due_at == before.next_due_at


def emails_of(world: World) -> list[Email]:
    """Once the message was repeated, everything was worked off, and the next digest was due."""
    redrive(world)
    work_off(world)
    happen(world, 3)
    world.send_digest()
    work_off(world)
    return world.emails()


@pytest.mark.parametrize("frequency", [Frequency.DAILY, Frequency.IMMEDIATE])
def test_trace_aa_crash_during_redrive_neither_loses_nor_repeats_events(
    frequency: Frequency,
) -> None:
    """Its message comes again; that of the run it started may have come before."""

    def key(world: World) -> RunKey:
        return next(iter(world.runs.rows))

    def act(world: World) -> None:
        redrive(world, key(world))

    for works_before in (False, True):
        broken = 0
        for world, where in crashes(lambda: failed(frequency), act):
            broken += 1
            if works_before:
                work_off(world)
            redrive(world, key(world))
            work_off(world)
            if frequency is Frequency.DAILY:
                happen(world, 3)
                world.send_digest()
                work_off(world)
            shown = [line for email in world.emails() for line in email.lines]
            numbers = sorted(key.sequence for key in world.runs.rows)
            if frequency is Frequency.IMMEDIATE:
                assert (shown, len(numbers)) == (["post1: 1"], 2), where
                continue
            assert sorted(shown) == ["post1: 1", "post2: 1", "post3: 1"], where
            assert len(world.emails()) == 2, where
            assert numbers == [1, 2, 3], where
            assert world.schedules.rows["ann", DAILY].sequence == 4, where
        assert broken > 10


def test_trace_aa_two_workers_and_duplicate_message_start_one_run() -> None:
    for world, where in interleavings(failed, redrive, redrive):
        assert len(emails_of(world)) == 2, where
        assert sorted(key.sequence for key in world.runs.rows) == [1, 2, 3], where


def test_trace_aa_fan_out_during_redrive_neither_loses_nor_repeats_events() -> None:
    """At the hour of the next digest, with a schedule that is as it was read."""

    def at_the_hour() -> World:
        world = failed()
        due = world.schedules.rows["ann", DAILY].next_due_at
        world.clock.now = due + 2 * SETTLE_LAG
        return world

    def fan_out(world: World) -> None:
        world.fan_out(slot_of(world.clock.now))

    for world, where in interleavings(at_the_hour, redrive, fan_out):
        emails = emails_of(world)
        shown = sorted(line for email in emails for line in email.lines)
        assert shown == ["post1: 1", "post2: 1", "post3: 1"], where
        numbers = sorted(key.sequence for key in world.runs.rows)
        assert numbers == list(range(1, numbers[-1] + 1)), where
        assert world.schedules.rows["ann", DAILY].sequence == numbers[-1] + 1, where


def test_trace_aa_fan_out_after_crash_ignores_redrive_run(
    world: World,
) -> None:
    """The number was taken, and the schedule does not say so yet: the message comes again."""

    def no_number(name: str, call: Callable[[], object]) -> object:
        if name == "schedules.put":
            raise Unavailable("no answer")
        return call()

    with world.watched(no_number), pytest.raises(Unavailable):
        redrive(world)
    assert world.schedules.rows["ann", DAILY].sequence == NEXT.sequence
    work_off(world)
    assert start_next(world) == Redriven(
        world.runs.rows[KEY], RedriveResult.SENT_SINCE, world.runs.rows[NEXT]
    )
    assert world.schedules.rows["ann", DAILY].sequence == 3


def test_trace_aa_interrupted_fan_out_resumes_with_its_own_run(world: World) -> None:
    """The number of the next occurrence has its run, and is not spent for it."""
    before = world.schedules.rows["ann", DAILY]
    world.clock.now = before.next_due_at + 2 * SETTLE_LAG

    def no_advance(name: str, call: Callable[[], object]) -> object:
        if name == "schedules.put":
            raise Unavailable("no answer")
        return call()

    with world.watched(no_advance), pytest.raises(Unavailable):
        world.fan_out(slot_of(before.next_due_at))
    assert start_next(world).result is RedriveResult.GOES_WITH
    assert world.schedules.rows["ann", DAILY] == before
    work_off(world)
    happen(world, 3)
    world.fan_out(slot_of(before.next_due_at))
    work_off(world)
    assert [sorted(email.lines) for email in world.emails()] == [["post1: 1", "post2: 1"]]
    assert len(world.runs.rows) == 2


def test_trace_aa_hour_change_after_crash_loses_no_digest(world: World) -> None:
    """The run of the redrive has the number of the occurrence that the change gives up."""
    before = world.schedules.rows["ann", DAILY]
    world.runs.create(Run(NEXT, world.clock(), world.clock()))
    world.clock.pass_time(minutes=1)
    evening = DigestTimes(hour=20, minute=0)
    world.say(ChangeSubscriber(a_subscriber(changed_at=world.clock(), times=evening)))
    moved = world.schedules.rows["ann", DAILY]
    assert (moved.last_due_at, moved.sequence) == (before.last_due_at, 3)
    assert moved.next_due_at == before.next_due_at + timedelta(hours=12)


def test_redrive_names_later_digest_that_carried_the_events(
    world: World,
) -> None:
    for number in (3, 4):
        world.send_digest()
        work_off(world)
        happen(world, number)
    assert len(world.emails()) == 2
    done = start_next(world)
    assert (done.result, done.run and done.run.key) == (RedriveResult.SENT_SINCE, NEXT)
    redrive(world)
    assert (world.generate_queue.sent, world.resend_queue.sent) == ([], [])
    assert len(world.runs.rows) == 3


def test_redrive_of_unsent_run_queues_its_message_again(world: World) -> None:
    world.clock.now = world.schedules.rows["ann", DAILY].next_due_at + 2 * SETTLE_LAG
    world.fan_out(slot_of(world.clock.now))
    before = world.schedules.rows["ann", DAILY]
    done = start_next(world)
    assert (done.result, done.run) == (RedriveResult.GOES_WITH, world.runs.rows[NEXT])
    assert world.resend_queue.sent == [QueuedRun(NEXT, timedelta(0))]
    assert world.schedules.rows["ann", DAILY] == before


def test_redrive_starts_run_for_carried_events(world: World) -> None:
    """Nobody acts on it until it comes."""
    world.send_digest()
    sent = world.runs.rows[NEXT]
    carried = replace(
        sent, status=Status.UNKNOWN, reason=Reason.CARRIED, uncertain=frozenset({sent.attempt})
    )
    world.runs.rows[NEXT] = carried
    done = start_next(world)
    assert (done.result, done.run and done.run.key.sequence) == (RedriveResult.STARTED, 3)


def test_failed_redrive_run_can_be_redriven(world: World) -> None:
    redrive(world)
    refuse_to_the_end(world, NEXT)
    redrive(world)
    redrive(world, NEXT)
    work_off(world)
    (email,) = world.emails()
    assert sorted(email.lines) == ["post1: 1", "post2: 1"]
    assert world.failed_runs.sent == [KEY, NEXT]
    assert len(world.runs.rows) == 3


def test_redrive_starts_no_run_for_inactive_reader(world: World) -> None:
    hashed = address_hash("ann@example.com")
    world.suppressions.add(hashed, Cause.MANUAL)
    assert start_next(world).reason is Reason.SUPPRESSED
    world.suppressions.lift(hashed, Cause.MANUAL)
    world.unsubscribe()
    assert start_next(world).reason is Reason.UNSUBSCRIBED
    world.erase()
    assert start_next(world) == Redriven(
        world.runs.rows[KEY], RedriveResult.RECEIVES_NO_EMAIL, reason=Reason.ERASED
    )
    assert (world.resend_queue.sent, len(world.runs.rows)) == ([], 1)


def test_redrive_during_pause_leaves_events_to_next_digest(
    world: World,
) -> None:
    """A run that failed before says nothing of what the reader wants now."""
    until = world.clock().date() + 3 * DAY
    world.say(ChoosePreferences("ann", Choice(paused_until=until), world.clock()))
    assert start_next(world) == Redriven(world.runs.rows[KEY], RedriveResult.PAUSED)
    assert expected(world)[0] is Redrive.PAUSED
    redrive(world)
    work_off(world)
    assert not world.emails()
    world.send_digest()
    assert [email.lines for email in world.emails()] == [("post2: 1", "post1: 1")]


def test_redrive_without_schedule_starts_no_run(world: World) -> None:
    del world.schedules.rows["ann", DAILY]
    assert start_next(world).result is RedriveResult.NO_SCHEDULE
    assert (world.resend_queue.sent, len(world.runs.rows)) == ([], 1)


def test_redrive_skips_sequence_number_of_run_without_email(world: World) -> None:
    """Such as that of a reader who rested: the schedule left the due index with its number."""
    schedule = world.schedules.rows["ann", DAILY]
    rested = Run(
        NEXT, schedule.next_due_at, world.clock(), status=Status.SKIPPED, reason=Reason.DORMANT
    )
    world.runs.create(rested)
    redrive(world)
    work_off(world)
    assert world.runs.rows[RunKey("ann", DAILY, 3)].status is Status.SENT
    assert world.schedules.rows["ann", DAILY].sequence == 4


def test_redrive_is_retried_while_schedule_keeps_changing(world: World) -> None:
    def change() -> None:
        schedule = world.schedules.rows["ann", DAILY]
        changed = replace(schedule, revision=schedule.revision + 1)
        world.schedules.rows["ann", DAILY] = changed

    with (
        world.meanwhile("schedules.get", change, times=6),
        pytest.raises(NotYet, match="kept changing"),
    ):
        redrive(world)
    redrive(world)
    work_off(world)
    assert len(world.emails()) == 1


def test_events_possibly_sent_before_failure_are_in_next_run() -> None:
    """An unknown outcome of an earlier attempt is carried, as behind any run."""
    world = failed()
    run = world.runs.rows[KEY]
    world.runs.rows[KEY] = replace(run, uncertain=frozenset({1}))
    redrive(world)
    work_off(world)
    assert world.runs.rows[KEY].reason is Reason.CARRIED_INTO
    assert len(world.emails()) == 1
    redrive(world)
    assert len(world.runs.rows) == 2


def expected(world: World) -> tuple[Redrive, RunKey | None]:
    with world.calls() as called:
        said = forecast(KEY, given_up=True, context=world.dry_run_context())
    assert {"runs.create", "schedules.put", "resend_queue.send"}.isdisjoint(called)
    return said.redrive, said.run.key if said.run else None


def test_redrive_forecast_matches_actual_redrive(world: World) -> None:
    assert expected(world) == (Redrive.STARTS_NEXT, NEXT)
    redrive(world)
    assert expected(world) == (Redrive.GOES_WITH, NEXT)
    work_off(world)
    assert expected(world) == (Redrive.SENT_SINCE, NEXT)
    other = failed()
    other.rate_limiter.open_by_hand("wrong template", other.clock())
    said = forecast(KEY, given_up=True, context=other.dry_run_context())
    assert (said.redrive, said.waiting_for) == (Redrive.STARTS_NEXT, WaitingFor.SENDING_RESUMED)
    other.unsubscribe()
    said = forecast(KEY, given_up=True, context=other.dry_run_context())
    assert (said.redrive, said.reason) == (Redrive.NOT_WANTED, Reason.UNSUBSCRIBED)


def test_redrive_forecast_reports_no_waiting_events(world: World) -> None:
    world.events.rows.clear()
    said = forecast(KEY, given_up=True, context=world.dry_run_context())
    assert said.run
    assert (said.redrive, said.run.reason) == (Redrive.NOT_WANTED, Reason.EMPTY)
    redrive(world)
    work_off(world)
    assert world.runs.rows[NEXT].reason is Reason.EMPTY


def test_redrive_names_first_sent_run_that_covers_window(world: World) -> None:
    """One that was sent with an earlier end did not have its events."""
    until = world.runs.rows[KEY].window
    assert until

    def a_sent_one(number: int, end: datetime) -> Run:
        return Run(
            RunKey("ann", DAILY, number),
            world.clock(),
            world.clock(),
            status=Status.SENT,
            reason=Reason.ACCEPTED,
            window=Window(until.since, end),
        )

    world.runs.create(a_sent_one(2, until.until - DAY))
    world.schedules.rows["ann", DAILY] = replace(world.schedules.rows["ann", DAILY], sequence=5)
    assert expected(world) == (Redrive.STARTS_NEXT, RunKey("ann", DAILY, 5))
    for number in (3, 4):
        world.runs.create(a_sent_one(number, until.until + DAY))
    assert expected(world) == (Redrive.SENT_SINCE, RunKey("ann", DAILY, 3))
