"""Events of a held category are in no email, and none is lost or sent twice."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from gazette.domain.commands import RetractEvent
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import Policy, RefusedForNow, Uncertain
from gazette.domain.errors import NotYet
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.model import DAILY, RunKey, StoredEvent
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.delivery.deliver import deliver
from gazette.steps.delivery.predecessors import Settled, chain_of, settle
from gazette.steps.delivery.prepare import Prepared, prepare
from gazette.steps.delivery.types import WaitingFor
from gazette.steps.runs import store

from tests.builders import NOW, a_subscriber, an_event
from tests.fake_stores import FakeCategoryHolds
from tests.world import GRACE, SETTLE_LAG, World, crashes, interleavings

KEY = RunKey("ann", DAILY, 1)
NEXT = RunKey("ann", DAILY, 2)
DAY = timedelta(days=1)


def hold(world: World, category: str = "like") -> None:
    world.category_holds.add(category_hold(category, "too many complaints", world.clock()))


def a_world(*, policy: Policy = Policy.RESEND, likes: int = 1, comments: int = 1) -> World:
    """A digest is due; Ann has a comment (post c0) and a like (post l0), or as many as it says."""
    world = World(policy=policy)
    world.subscribers.put(a_subscriber(), replacing=None)
    world.runs.create(Run(KEY, NOW, NOW + timedelta(hours=1)))
    for number in range(comments):
        world.events.store(an_event(f"c{number}", entity_id=f"c{number}"), DAILY)
    for number in range(likes):
        like = an_event(f"l{number}", entity_id=f"l{number}", category="like")
        world.events.store(like, DAILY)
    world.clock.pass_time(minutes=1)
    return world


def a_world_with_a_hold(likes: int = 1) -> World:
    world = a_world(likes=likes)
    hold(world)
    return world


def next_digest(world: World, key: RunKey = NEXT) -> Run | None:
    """A day later, whatever became of the one before."""
    world.clock.now += DAY
    world.runs.create(Run(key, world.clock(), world.clock() + timedelta(hours=1)))
    return world.generate(key)


def shown(world: World) -> list[tuple[str, ...]]:
    """The lines of each email."""
    return [email.lines for email in world.emails()]


def test_held_category_is_sent_in_next_digest_after_release() -> None:
    world = a_world_with_a_hold()
    world.generate(KEY)
    assert shown(world) == [("c0: 1",)]
    next_digest(world)
    assert shown(world) == [("c0: 1",)]
    world.category_holds.release("like")
    next_digest(world, RunKey("ann", DAILY, 3))
    assert shown(world) == [("c0: 1",), ("l0: 1",)]
    next_digest(world, RunKey("ann", DAILY, 4))
    assert len(world.emails()) == 2


def test_deferred_events_keep_schedule_and_move_past_window() -> None:
    world = a_world_with_a_hold()
    done = world.deliver(KEY)
    assert done
    assert (done.unsent.deferred, done.run.categories) == (1, ("comment",))
    assert done.run.window
    stored = world.events.get("ann", "l0")
    assert isinstance(stored, StoredEvent)
    assert (stored.schedule, stored.stored_at) == (DAILY, world.clock())
    assert stored.stored_at > done.run.window.until


def test_deferred_events_are_counted_if_claim_is_retried() -> None:
    world = a_world_with_a_hold(likes=2)

    def change() -> None:
        run = world.runs.rows[KEY]
        world.runs.rows[KEY] = replace(run, epoch=run.epoch + 1)

    with world.meanwhile("runs.swap", change, before=True):
        done = world.deliver(KEY)
    assert done
    assert (done.run.status, done.unsent.deferred) == (Status.SENT, 2)


def test_digest_with_only_held_events_ends_without_writes() -> None:
    world = a_world(comments=0)
    hold(world)
    before = dict(world.events.rows)
    run = world.generate(KEY)
    assert run
    assert (run.status, run.reason) == (Status.SKIPPED, Reason.CATEGORY_HELD)
    assert world.events.rows == before
    world.category_holds.release("like")
    next_digest(world)
    assert shown(world) == [("l0: 1",)]


def test_hold_does_not_affect_other_categories() -> None:
    world = a_world()
    hold(world, "mention")
    world.generate(KEY)
    assert shown(world) == [("c0: 1", "l0: 1")]


def test_events_are_deferred_only_after_send_permit() -> None:
    world = a_world_with_a_hold()
    world.rate_limiter.open_by_hand("stop", world.clock())
    before = dict(world.events.rows)
    world.generate(KEY)
    assert world.events.rows == before


def test_no_event_is_deferred_if_another_worker_claims_first() -> None:
    """It does not know of the hold yet."""
    world = a_world_with_a_hold()
    other = replace(world.delivery_context(), held_categories=FakeCategoryHolds().names)

    def unknowing() -> None:
        deliver(KEY, lambda: timedelta(seconds=60), context=other)

    with world.meanwhile("deferred_events.defer", unknowing, before=True):
        world.generate(KEY)
    assert shown(world) == [("c0: 1", "l0: 1")]


def test_retry_omits_events_held_after_first_attempt() -> None:
    world = a_world()
    world.mailer.script.append(RefusedForNow(1, "throttled"))
    world.generate(KEY)
    hold(world)
    world.clock.now += timedelta(minutes=2)
    world.resend(KEY)
    assert shown(world) == [("c0: 1",)]
    world.category_holds.release("like")
    next_digest(world)
    assert shown(world) == [("c0: 1",), ("l0: 1",)]


def may_have_been_sent(policy: Policy) -> World:
    """Nobody knows whether the email went out; the category is on hold, then the policy speaks."""
    world = a_world(policy=policy)
    world.mailer.script.append(Uncertain(1, "ReadTimeout"))
    world.generate(KEY)
    hold(world)
    world.clock.now += GRACE + timedelta(minutes=5)
    world.evidence_log.record(world.clock())
    world.sweep()
    world.clock.now += timedelta(minutes=5)
    return world


def test_possibly_sent_email_is_resent_unchanged() -> None:
    """Left out it would come once more with the next one, also where it had gone out."""
    world = may_have_been_sent(Policy.RESEND)
    world.resend(KEY)
    assert shown(world) == [("c0: 1", "l0: 1")]
    next_digest(world)
    assert len(world.emails()) == 1


def test_carried_events_are_sent_and_new_held_events_wait() -> None:
    world = may_have_been_sent(Policy.CARRY_OVER)
    for number, category in ((1, "comment"), (2, "like")):
        world.events.store(an_event(f"n{number}", entity_id=f"n{number}", category=category), DAILY)
    next_digest(world)
    assert shown(world) == [("c0: 1", "n1: 1", "l0: 1")]
    world.category_holds.release("like")
    next_digest(world, RunKey("ann", DAILY, 3))
    assert shown(world)[1:] == [("n2: 1",)]


def test_delivery_evidence_during_hold_prevents_duplicate_events() -> None:
    """It would, had the like been moved behind the window of the run that had gone out."""
    world = may_have_been_sent(Policy.CARRY_OVER)
    world.events.store(an_event("n1", entity_id="n1"), DAILY)

    def evidence() -> None:
        run = world.runs.rows[KEY]
        world.runs.rows[KEY] = replace(run, status=Status.SENT, reason=Reason.EVIDENCE)

    with world.meanwhile("runs.swap_together", evidence, before=True):
        next_digest(world)
    world.category_holds.release("like")
    next_digest(world, RunKey("ann", DAILY, 3))
    assert shown(world) == [("n1: 1",)]


def test_run_with_constantly_changing_events_is_retried() -> None:
    world = a_world(likes=5)
    hold(world)
    numbers = iter(range(5))

    def retract() -> None:
        world.say(RetractEvent("ann", f"l{next(numbers)}"))

    with (
        world.meanwhile("deferred_events.defer", retract, before=True, times=5),
        pytest.raises(NotYet),
    ):
        world.generate(KEY)
    world.generate(KEY)
    assert shown(world) == [("c0: 1",)]


def an_immediate_world() -> tuple[World, RunKey]:
    """A comment and a like on one post, which both go out at once."""
    world = World()
    world.choose(comment=Frequency.IMMEDIATE, like=Frequency.IMMEDIATE)
    world.create(an_event("c0"))
    world.create(an_event("l0", category="like"))
    key = RunKey("ann", immediate_schedule("post#post1"), int(world.clock().timestamp()))
    world.generate_queue.sent.clear()
    world.clock.pass_time(minutes=1)
    return world, key


def test_immediate_email_with_held_events_waits_for_release() -> None:
    world, key = an_immediate_world()
    hold(world)
    done = world.deliver(key)
    assert done
    assert (done.run.status, done.waiting_for) == (Status.PENDING, WaitingFor.SENDING_RESUMED)
    world.generate(key)
    (queued,) = world.generate_queue.sent
    assert timedelta(minutes=10) <= queued.delay <= timedelta(minutes=15)
    assert world.emails() == []
    world.category_holds.release("like")
    world.deliver_queued()
    assert [(email.schedule, email.lines) for email in world.emails()] == [
        (key.schedule, ("post1: 1", "post1: 1"))
    ]


def come_to_rest(world: World) -> None:
    """The message comes again until its run has ended; a day later the hold is released, and
    then the next digest comes."""
    world.clock.pass_time(minutes=10)
    world.generate(KEY)
    world.clock.now += GRACE * 2
    world.sweep()
    world.deliver_queued()
    world.category_holds.release("like")
    for sequence in (2, 3):
        next_digest(world, RunKey("ann", DAILY, sequence))
        world.clock.now += GRACE * 2
        world.sweep()
        world.deliver_queued()


def judge(world: World, where: str, *, may_repeat: bool = False) -> None:
    """Everything came, and nothing twice but what a policy sent once more."""
    times = dict.fromkeys(("c0: 1", "l0: 1", "l1: 1"), 0)
    for lines in shown(world):
        for line in lines:
            times[line] += 1
    most = 2 if may_repeat else 1
    assert all(1 <= number <= most for number in times.values()), (where, shown(world))


def test_crash_during_hold_neither_loses_nor_duplicates_events() -> None:
    def make() -> World:
        world = a_world(policy=Policy.CARRY_OVER, likes=2)
        hold(world)
        return world

    for world, where in crashes(make, lambda world: world.generate(KEY)):
        come_to_rest(world)
        judge(world, where, may_repeat="mailer.send" in where or "runs.swap" in where)


@pytest.mark.parametrize("held_first", [True, False])
def test_hold_change_at_any_moment_loses_no_events(held_first: bool) -> None:
    def make() -> World:
        world = a_world(likes=2)
        if not held_first:
            hold(world)
        return world

    def other(world: World) -> None:
        if held_first:
            hold(world)
        else:
            world.category_holds.release("like")

    for world, where in interleavings(make, lambda world: world.generate(KEY), other):
        come_to_rest(world)
        judge(world, where)


@pytest.mark.parametrize("knows", [True, False])
def test_second_worker_at_any_moment_duplicates_no_events(knows: bool) -> None:
    """Also one that does not know of the hold, at any distance of time."""
    for later in (timedelta(0), 2 * SETTLE_LAG):

        def other(world: World, later: timedelta) -> None:
            world.clock.now += later
            known = world.held_categories
            if not knows:
                world.held_categories = FakeCategoryHolds().names
            world.generate(KEY)
            world.held_categories = known

        second = partial(other, later=later)
        make = partial(a_world_with_a_hold, 2)
        for world, where in interleavings(make, lambda world: world.generate(KEY), second):
            come_to_rest(world)
            judge(world, where)


@pytest.mark.parametrize("later", [timedelta(0), 2 * SETTLE_LAG])
def test_worker_with_stale_read_does_not_send_deferred_event(later: timedelta) -> None:
    """A worker that does not know of the hold; the one that does dies before its claim."""

    def unknowing(world: World) -> None:
        known, world.held_categories = world.held_categories, FakeCategoryHolds().names
        world.generate(KEY)
        world.held_categories = known

    def defer_and_die(world: World) -> None:
        known, world.held_categories = world.held_categories, world.category_holds.names
        chain = chain_of(KEY, runs=world.runs)
        assert chain
        context = world.delivery_context()
        settled = settle(chain, now=context.clock(), limits=context.limits)
        if isinstance(settled, Settled):
            store(settled.changes, runs=world.runs)
            prepared = prepare(settled, context=context)
            if isinstance(prepared, Prepared):
                world.deferred_events.defer(prepared.due.to_defer, prepared.run)
        world.clock.now += later
        world.held_categories = known

    for world, where in interleavings(partial(a_world_with_a_hold, 2), unknowing, defer_and_die):
        come_to_rest(world)
        judge(world, where)


def test_retraction_or_move_during_hold_takes_effect() -> None:
    def make() -> World:
        world = World()
        world.choose(at=NOW - DAY)
        world.create(an_event("c0", entity_id="c0"))
        for number in range(2):
            like = an_event(f"l{number}", entity_id=f"l{number}", category="like")
            world.create(like)
        world.runs.create(Run(KEY, NOW, NOW + timedelta(hours=1)))
        world.clock.pass_time(minutes=1)
        hold(world)
        return world

    def retract(world: World) -> None:
        world.say(RetractEvent("ann", "l1"))

    def weekly(world: World) -> None:
        world.choose(like=Frequency.WEEKLY)

    for world, where in interleavings(make, lambda world: world.generate(KEY), retract):
        come_to_rest(world)
        assert sorted(line for lines in shown(world) for line in lines) == ["c0: 1", "l0: 1"], where
    for world, where in interleavings(make, lambda world: world.generate(KEY), weekly):
        come_to_rest(world)
        assert world.waiting() == {"c0": DAILY, "l0": "weekly", "l1": "weekly"}, where
        assert shown(world) == [("c0: 1",)], where
