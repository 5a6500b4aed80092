"""The sweep finds lost runs, and ends unknown outcomes by the policy."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.delivery.pace import PacePlan, PaceReading, Quota
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import Policy, RefusedForNow, Uncertain
from gazette.domain.delivery.standing import Standing
from gazette.domain.delivery.streams import Streams
from gazette.domain.errors import Unavailable
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.identity import shard_of
from gazette.domain.model import DAILY, RunKey
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.queues import QueuedRun, Shard
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.steps.sweep.sweep import begin_sweep, standing, sweep
from gazette.steps.sweep.unknown import Swept

from tests.builders import NOW, SettableClock, a_subscriber, an_event
from tests.fake_stores import PARTITIONS, FakeBatches, FakeRateLimiter
from tests.fakes import FakeQueue
from tests.world import GRACE, World

KEY = RunKey("ann", DAILY, 1)
NEXT = RunKey("ann", DAILY, 2)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def world() -> World:
    """A pending run with an event."""
    world = World()
    world.subscribers.put(a_subscriber(), replacing=None)
    start(world, KEY)
    world.events.store(an_event(), DAILY)
    world.clock.pass_time(minutes=1)
    return world


def start(world: World, key: RunKey) -> Run:
    now = world.clock()
    return world.runs.create(Run(key, due_at=now, check_at=now + HOUR))


def status(world: World, key: RunKey = KEY) -> tuple[Status, Reason]:
    run = world.runs.rows[key]
    return run.status, run.reason


def lose_sight(world: World, key: RunKey = KEY) -> Run:
    """The provider is called and gives no answer; the grace period passes."""
    attempt = world.runs.rows[key].attempt + 1
    world.mailer.script.append(Uncertain(attempt, "ReadTimeoutError"))
    run = world.generate(key) or world.runs.rows[key]
    assert run.status is Status.UNKNOWN
    assert run.deadline
    world.clock.now = run.deadline + GRACE
    return run


def prove(world: World) -> None:
    """Delivery events of emails that were sent lately come in."""
    world.evidence_log.record(world.clock())


# Lost messages.


def test_run_checked_in_time_is_skipped(world: World) -> None:
    assert not world.sweep()
    assert not world.generate_queue.sent


def test_trace_f_pending_run_without_a_message_is_queued_again(world: World) -> None:
    world.clock.pass_time(hours=1)
    assert world.sweep() == {Swept.QUEUED: 1}
    assert [each.key for each in world.generate_queue.sent] == [KEY]
    world.deliver_queued()
    assert status(world) == (Status.SENT, Reason.ACCEPTED)


def test_requeued_run_is_rechecked_at_doubling_intervals(world: World) -> None:
    """A long backlog must not get longer by a message a run and sweep."""
    queued = 0
    for _ in range(24 * 12):
        world.clock.pass_time(minutes=5)
        queued += world.sweep()[Swept.QUEUED]
    assert queued == 5  # after 1, 2, 4, 8 and 16 hours


def test_message_is_queued_before_the_next_check_is_stored(world: World) -> None:
    world.clock.pass_time(hours=1)
    with world.calls() as called:
        world.sweep()
    assert called.index("generate_queue.send") < called.index("runs.swap")


def test_refused_run_without_a_message_is_queued_again_for_resend(world: World) -> None:
    world.mailer.script.append(RefusedForNow(1, "Throttling"))
    world.generate(KEY)
    world.resend_queue.sent.clear()
    world.clock.pass_time(minutes=1)
    assert not world.sweep()
    world.clock.pass_time(minutes=15)
    assert world.sweep() == {Swept.QUEUED: 1}
    assert [each.key for each in world.resend_queue.sent] == [KEY]


def test_refused_run_is_not_queued_before_its_retry_time(world: World) -> None:
    run = replace(
        world.runs.rows[KEY],
        status=Status.RETRYING,
        retry_at=world.clock() + 8 * HOUR,
        check_at=world.clock(),
    )
    world.runs.rows[KEY] = run
    assert world.sweep() == {Swept.DUE_LATER: 1}
    assert not world.resend_queue.sent
    assert world.runs.rows[KEY].check_at == world.clock() + 9 * HOUR


def test_ended_run_is_never_swept(world: World) -> None:
    for ended in (Status.SENT, Status.FAILED, Status.SKIPPED, Status.CANCELLED):
        world.runs.rows[KEY] = replace(world.runs.rows[KEY], status=ended, check_at=NOW)
        assert not world.sweep()


# Workers that died.


def test_run_claimed_by_a_dead_worker_has_an_unknown_outcome(world: World) -> None:
    claimed = replace(
        world.runs.rows[KEY],
        status=Status.SENDING,
        attempt=1,
        deadline=world.clock(),
        check_at=world.clock(),
    )
    world.runs.rows[KEY] = claimed
    assert world.sweep() == {Swept.LEFT_ALONE: 1}
    world.clock.pass_time(microseconds=1)
    assert world.sweep() == {Swept.NOW_UNKNOWN: 1}
    run = world.runs.rows[KEY]
    assert claimed.deadline
    assert (run.status, run.check_at) == (Status.UNKNOWN, claimed.deadline + GRACE)


# Unknown outcomes.


def test_unknown_outcome_waits_for_evidence_until_the_grace_ends(world: World) -> None:
    lose_sight(world)
    prove(world)
    world.clock.now -= timedelta(microseconds=1)
    assert not world.sweep()
    world.clock.now += timedelta(microseconds=1)
    assert world.sweep() == {Swept.RESENT: 1}
    looks_at = world.clock() + world.context.limits.check_after
    assert world.runs.rows[KEY].check_at == looks_at, "and not in each sweep until it is sent"


def test_resend_policy_sends_once_more(world: World) -> None:
    lose_sight(world)
    prove(world)
    world.sweep()
    assert status(world) == (Status.RETRYING, Reason.POLICY_RESEND)
    world.deliver_queued()
    assert status(world) == (Status.SENT, Reason.ACCEPTED)
    assert world.runs.rows[KEY].attempt == 2


def test_trace_e_second_unknown_outcome_after_resend_is_given_up(world: World) -> None:
    lose_sight(world)
    prove(world)
    world.sweep()
    world.clock.pass_time(minutes=1)
    world.generate_queue.sent, world.resend_queue.sent = [], []
    run = lose_sight(world)
    assert run.uncertain == {1, 2}
    prove(world)
    assert world.sweep() == {Swept.GIVEN_UP: 1}
    assert status(world) == (Status.FAILED, Reason.GIVEN_UP)
    assert not world.resend_queue.sent
    assert not world.sweep()


def test_resent_run_does_not_wait_for_proof_of_delivery_events(world: World) -> None:
    """It is not resent again, so that would decide nothing."""
    lose_sight(world)
    prove(world)
    world.sweep()
    world.clock.pass_time(minutes=1)
    world.generate_queue.sent, world.resend_queue.sent = [], []
    lose_sight(world)
    assert world.sweep() == {Swept.GIVEN_UP: 1}


def test_unknown_run_is_unchanged_while_its_delivery_event_may_arrive(world: World) -> None:
    """Also if the sweep looks at it early."""
    world.policy = Policy.CARRY_OVER
    run = lose_sight(world)
    assert run.deadline
    world.clock.now = run.deadline + GRACE - timedelta.resolution
    world.runs.rows[run.key] = early = replace(run, check_at=run.deadline)
    assert world.sweep() == {Swept.LEFT_ALONE: 1}
    assert world.runs.rows[run.key] == early
    world.clock.now += timedelta.resolution
    assert world.sweep() == {Swept.CARRIED: 1}


def test_carry_over_policy_sends_the_events_with_the_next_digest(world: World) -> None:
    world.policy = Policy.CARRY_OVER
    lose_sight(world)
    assert world.sweep() == {Swept.CARRIED: 1}
    start(world, NEXT)
    world.generate(NEXT)
    assert status(world) == (Status.FAILED, Reason.CARRIED_INTO)
    assert status(world, NEXT) == (Status.SENT, Reason.ACCEPTED)
    assert [email.lines for email in world.emails()] == [("post1: 1",)]


def test_assume_sent_policy_closes_the_window(world: World) -> None:
    world.policy = Policy.ASSUME_SENT
    lose_sight(world)
    assert world.sweep() == {Swept.ASSUMED: 1}
    assert status(world) == (Status.SENT, Reason.ASSUMED)
    start(world, NEXT)
    run = world.generate(NEXT)
    assert run
    assert run.reason is Reason.EMPTY


def test_run_is_not_resent_unless_delivery_events_are_known_to_arrive(world: World) -> None:
    """Their absence then says nothing. A canary is sent, so that there is one to go by."""
    lose_sight(world)
    assert world.sweep() == {Swept.WAITS_FOR_EVIDENCE: 1}
    assert world.canary.sent == 1
    world.evidence_log.record(world.clock())
    assert world.sweep() == {Swept.RESENT: 1}


def test_delivery_event_of_an_earlier_email_proves_no_outcome(world: World) -> None:
    run = lose_sight(world)
    assert run.deadline
    world.evidence_log.record(run.deadline)
    assert world.sweep() == {Swept.WAITS_FOR_EVIDENCE: 1}
    world.evidence_log.record(run.deadline + timedelta(microseconds=1))
    assert world.sweep() == {Swept.RESENT: 1}


def test_run_waits_while_unprocessed_delivery_events_exist(world: World) -> None:
    lose_sight(world)
    prove(world)
    world.backlog.clear = False
    assert world.sweep() == {Swept.WAITS_FOR_EVIDENCE: 1}


def test_failing_canary_does_not_block_the_sweep(world: World) -> None:
    world.canary.working = False
    lose_sight(world)
    assert world.sweep() == {Swept.WAITS_FOR_EVIDENCE: 1}


def test_unknown_run_is_carried_over_after_the_maximum_wait(world: World) -> None:
    """The next digest takes its events: late, perhaps twice, but not lost."""
    run = lose_sight(world)
    assert run.deadline
    world.clock.now = run.deadline + timedelta(hours=6) - timedelta(microseconds=1)
    assert world.sweep() == {Swept.WAITS_FOR_EVIDENCE: 1}
    world.clock.now += timedelta(microseconds=1)
    assert world.sweep() == {Swept.CARRIED: 1}


def test_evidence_settles_an_unknown_outcome_before_and_after_the_policy(
    world: World,
) -> None:
    lose_sight(world)
    prove(world)
    world.sweep()
    delivery_event = DeliveryEvent(DeliveryEventType.DELIVERED, KEY, 1, "m1", NOW)
    assert world.feedback(delivery_event) == world.runs.rows[KEY]
    assert status(world) == (Status.SENT, Reason.EVIDENCE)
    world.deliver_queued()
    assert world.mailer.calls == 1


def test_two_concurrent_sweeps_resend_once(world: World) -> None:
    lose_sight(world)
    prove(world)
    with world.meanwhile("runs.swap", world.sweep, before=True):
        world.sweep()
    world.deliver_queued()
    assert world.mailer.calls == 2


def test_interrupted_sweep_is_completed_by_a_later_sweep(world: World) -> None:
    """After the policy has spoken, before its message: the run is overdue once more."""
    lose_sight(world)
    prove(world)
    world.sweep()
    world.resend_queue.sent.clear()
    world.clock.pass_time(hours=1)
    assert world.sweep() == {Swept.QUEUED: 1}
    world.deliver_queued()
    assert status(world) == (Status.SENT, Reason.ACCEPTED)


# What goes out at once has no next digest of its own.

AT_ONCE = RunKey("ann", immediate_schedule("post#post1"), int(NOW.timestamp()))


def carried_at_once() -> World:
    world = World(policy=Policy.CARRY_OVER)
    world.subscribers.put(a_subscriber(), replacing=None)
    world.runs.create(Run(AT_ONCE, due_at=NOW, check_at=NOW + HOUR))
    world.events.store(an_event(), AT_ONCE.schedule)
    world.clock.pass_time(minutes=1)
    lose_sight(world, AT_ONCE)
    return world


def test_carried_immediate_run_starts_a_new_run() -> None:
    world = carried_at_once()
    assert world.sweep() == {Swept.CARRIED: 1}
    world.deliver_queued()
    assert status(world, AT_ONCE) == (Status.FAILED, Reason.CARRIED_INTO)
    [email] = world.emails()
    assert email.lines == ("post1: 1",)


def test_immediate_run_assumed_sent_starts_no_run() -> None:
    world = carried_at_once()
    world.policy = Policy.ASSUME_SENT
    assert world.sweep() == {Swept.ASSUMED: 1}
    assert list(world.runs.rows) == [AT_ONCE]
    assert not world.generate_queue.sent


def test_collecting_run_includes_the_events_of_a_carried_run() -> None:
    world = carried_at_once()
    collecting = replace(AT_ONCE, sequence=AT_ONCE.sequence + 500)
    start(world, collecting)
    world.sweep()
    assert [each.key for each in world.generate_queue.sent] == [collecting]
    world.clock.pass_time(minutes=1)
    world.deliver_queued()
    assert status(world, collecting) == (Status.SENT, Reason.ACCEPTED)


# Time, and shards.


def test_sweep_that_runs_out_of_time_leaves_the_rest_to_the_next(world: World) -> None:
    world.clock.pass_time(hours=2)
    left = timedelta(seconds=14)
    for partition in range(PARTITIONS):
        assert not sweep(partition, context=world.sweeping(), time_left=lambda: left)


@pytest.mark.parametrize(("behind", "late"), [(0, 0), (3, 0), (4, 2), (100, 2)])
def test_shards_that_never_reported_are_queued_again(behind: int, late: int) -> None:
    clock = SettableClock()
    batches = FakeBatches(clock)
    for shard in range(2):
        batches.save_checkpoint(shard, slot_of(NOW) - SLOT * behind)
    shard_queue, sweep_queue = FakeQueue[Shard](), FakeQueue[int]()
    found = begin_sweep(
        NOW,
        partitions=16,
        sweep_queue=sweep_queue,
        batches=batches,
        shard_queue=shard_queue,
        shards=2,
        lookback=1,
    )
    assert found == late
    assert len(shard_queue.sent) == late
    assert sweep_queue.sent == list(range(16))


def test_stage_without_ticks_has_no_late_shards() -> None:
    batches = FakeBatches(SettableClock())
    batches.save_checkpoint(0, slot_of(NOW) - SLOT * 100)
    shard_queue = FakeQueue[Shard]()
    begin_sweep(
        NOW,
        partitions=1,
        sweep_queue=FakeQueue[int](),
        batches=batches,
        shard_queue=shard_queue,
        shards=0,
        lookback=1,
    )
    assert not shard_queue.sent


def test_resend_message_has_no_delay(world: World) -> None:
    lose_sight(world)
    prove(world)
    world.sweep()
    assert world.resend_queue.sent == [QueuedRun(KEY, timedelta(0))]


def test_failing_run_does_not_block_the_others(world: World) -> None:
    """An unknown outcome while delivery events may not come in, before a run without a message."""
    lose_sight(world)
    other = replace(KEY, schedule="weekly")
    world.runs.create(Run(other, due_at=NOW, check_at=NOW))

    def unable(grace: timedelta) -> bool:
        raise Unavailable("CloudWatch did not answer")

    world.backlog.is_clear = unable  # type: ignore[method-assign]
    assert world.sweep() == {Swept.WAITS_FOR_EVIDENCE: 1, Swept.QUEUED: 1}

    def refuse(messages: Iterable[QueuedRun]) -> None:
        raise Unavailable("SQS did not answer")

    world.generate_queue.send = refuse  # type: ignore[method-assign]
    world.clock.pass_time(days=1)
    assert world.sweep()[Swept.FAILED] == 1
    assert world.runs.rows[other].is_open


def look(world: World, time_left: TimeLeft = lambda: MINUTE) -> Standing:
    """At the partition of Ann's runs."""
    return standing(
        shard_of("ann", PARTITIONS),
        runs=world.runs,
        gauges=Streams(digest=world.rate_limiter, immediate=world.immediate_rate_limiter),
        clock=world.clock,
        time_left=time_left,
    )


def test_open_runs_beyond_the_available_time_are_read_partially() -> None:
    world = World()
    for sequence in range(100):
        world.runs.create(Run(RunKey("ann", DAILY, sequence), due_at=NOW, check_at=NOW))
    world.clock.pass_time(minutes=7)
    left = iter(range(60, 0, -1))
    found = look(world, lambda: next(left) * timedelta(seconds=1))
    assert (found.age, found.is_cut_off) == (7 * MINUTE, True)
    assert next(left) == 28, "what the audit needs is left"
    assert not look(world).is_cut_off


def test_sweep_reserves_time_for_the_steps_that_follow(world: World) -> None:
    world.clock.pass_time(hours=2)
    for partition in range(PARTITIONS):
        assert not sweep(
            partition, context=world.sweeping(), time_left=lambda: timedelta(seconds=44)
        )


def test_age_of_the_oldest_open_run_counts_from_its_due_time() -> None:
    world = World()

    def age() -> timedelta:
        return look(world).age

    assert age() == timedelta(0)
    due_at = world.clock() + 5 * MINUTE
    world.runs.create(Run(KEY, due_at=due_at, check_at=due_at + HOUR))
    assert age() == timedelta(0), "due later in its slot"
    world.clock.pass_time(minutes=7)
    assert age() == 2 * MINUTE


def use_up(world: World, immediate: int = 0) -> None:
    """The account has nothing left for digests, and so much for immediate emails."""
    quota = Quota(rate=14, daily=200, left=0)
    world.rate_limiter.row.set_quota(quota, world.clock())
    world.immediate_rate_limiter.row.set_quota(replace(quota, left=immediate), world.clock())


def test_run_held_until_the_next_day_is_counted_separately() -> None:
    """A daily digest has: it is skipped, and would not stand but for a worker."""
    world = World()
    start(world, RunKey("ann", "weekly", 1))
    start(world, RunKey("ann", immediate_schedule("post p1"), 1))
    use_up(world)
    world.clock.pass_time(minutes=40)
    assert look(world) == Standing(age=timedelta(0), held_by_day=2)
    start(world, KEY)
    due_at = world.clock()
    world.clock.pass_time(minutes=5)
    assert look(world) == Standing(age=5 * MINUTE, held_by_day=2, due_at=due_at)


def test_daily_limit_of_digests_does_not_hide_immediate_email() -> None:
    world = World()
    start(world, RunKey("ann", "weekly", 1))
    start(world, RunKey("ann", immediate_schedule("post p1"), 1))
    use_up(world, immediate=5)
    world.clock.pass_time(minutes=40)
    assert (look(world).age, look(world).held_by_day) == (40 * MINUTE, 1)


def test_age_of_a_quota_held_run_counts_from_the_quota_increase() -> None:
    """It stands by itself from there on, also after more ticks."""
    world = World()
    start(world, RunKey("ann", "weekly", 1))
    use_up(world)
    world.clock.pass_time(hours=15)
    for _ in range(2):
        world.rate_limiter.row.set_quota(Quota(rate=14, daily=200, left=9), world.clock())
        world.clock.pass_time(minutes=10)
    assert (look(world).age, look(world).held_by_day) == (20 * MINUTE, 0)


def test_age_of_a_run_held_by_the_warmup_counts_from_midnight() -> None:
    world = World()
    plan = PacePlan(warmup_from=NOW.date(), warmup_daily=1)
    world.rate_limiter = FakeRateLimiter(plan)
    start(world, RunKey("ann", "weekly", 1))
    world.rate_limiter.reserve(world.clock(), world.clock())
    world.clock.pass_time(hours=1)
    assert look(world).held_by_day == 1
    midnight = world.clock().replace(hour=0, minute=0, second=0) + timedelta(days=1)
    world.clock.now = midnight + 7 * MINUTE
    assert (look(world).age, look(world).held_by_day) == (7 * MINUTE, 0)


def test_warmup_midnight_does_not_reset_the_age_of_an_unrelated_run() -> None:
    """Its alarm would end each night, though it is stuck for a reason of its own."""
    world = World()
    world.rate_limiter = FakeRateLimiter(PacePlan(warmup_from=NOW.date(), warmup_daily=9))
    start(world, RunKey("ann", "weekly", 1))
    due_at = world.clock()
    for _ in range(2):
        world.rate_limiter.reserve(world.clock(), world.clock())
        world.clock.pass_time(hours=24)
        age = world.clock() - due_at
        assert look(world) == Standing(age=age, held_by_day=0, due_at=due_at)


def test_pace_of_a_stream_is_read_only_if_needed() -> None:
    world = World()

    @dataclass
    class Counted(FakeRateLimiter):
        reads: int = 0

        def read(self, now: datetime) -> PaceReading:
            self.reads += 1
            return super().read(now)

    world.rate_limiter, world.immediate_rate_limiter = Counted(PacePlan()), Counted(PacePlan())

    def reads() -> list[int]:
        found = (world.rate_limiter, world.immediate_rate_limiter)
        return [each.reads for each in found if isinstance(each, Counted)]

    start(world, KEY)
    look(world)
    assert reads() == [0, 0]
    for number in range(1, 4):
        start(world, RunKey("ann", "weekly", number))
    look(world)
    assert reads() == [1, 0]
