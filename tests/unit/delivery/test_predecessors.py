"""What older runs decide for the next one: its window, the run it carries, and its wait."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import Policy, RefusedForNow, Uncertain
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.model import DAILY, RunKey
from gazette.steps.delivery.predecessors import deadline_passed
from gazette.steps.runs import apply

from tests.builders import NOW, a_subscriber, an_event
from tests.world import GRACE, World

FIRST, SECOND, THIRD = (RunKey("ann", DAILY, number) for number in (1, 2, 3))
HOUR = timedelta(hours=1)
EVIDENCE = DeliveryEvent(DeliveryEventType.SENT, FIRST, 1, "m1", NOW)


def start(world: World, key: RunKey) -> None:
    now = world.clock()
    world.runs.create(Run(key, due_at=now, check_at=now + HOUR))


def may_have_been_sent(policy: Policy = Policy.CARRY_OVER) -> World:
    """The first run may have gone out with `post1`; the second has `post2` as well."""
    world = World(policy=policy)
    world.subscribers.put(a_subscriber(), replacing=None)
    start(world, FIRST)
    world.events.store(an_event("e1", entity_id="post1"), DAILY)
    world.clock.pass_time(minutes=1)
    world.mailer.script.append(Uncertain(1, "ReadTimeoutError"))
    world.generate(FIRST)
    world.events.store(an_event("e2", entity_id="post2"), DAILY)
    world.clock.pass_time(minutes=10)
    start(world, SECOND)
    return world


def carried(policy: Policy = Policy.CARRY_OVER) -> World:
    """And its policy has decided."""
    world = may_have_been_sent(policy)
    world.clock.pass_time(minutes=20)
    world.evidence_log.record(world.clock())
    world.sweep()
    return world


def lines(world: World) -> list[tuple[str, ...]]:
    return [tuple(sorted(email.lines)) for email in world.emails()]


def test_trace_a_run_waits_while_predecessor_outcome_is_unknown() -> None:
    world = may_have_been_sent()
    run = world.generate(SECOND)
    assert run
    assert run.status is Status.PENDING
    assert world.mailer.calls == 1
    [queued] = world.generate_queue.sent
    assert queued.key == SECOND
    assert world.clock() + queued.delay > world.runs.rows[FIRST].check_at


def test_waiting_run_carries_all_events_after_policy_is_applied() -> None:
    world = may_have_been_sent()
    world.generate(SECOND)
    world.clock.pass_time(minutes=20)
    world.sweep()
    world.deliver_queued()
    assert lines(world) == [("post1: 1", "post2: 1")]


def test_waiting_run_sends_remaining_events_after_delivery_evidence() -> None:
    world = may_have_been_sent()
    world.generate(SECOND)
    world.feedback(EVIDENCE)
    world.deliver_queued()
    assert lines(world) == [("post2: 1",)]


def test_trace_b_evidence_between_read_and_claim_fails_the_claim() -> None:
    """Closing the predecessor and claiming are one: else its events would go out twice."""
    world = carried()
    with world.meanwhile("runs.swap_together", lambda: world.feedback(EVIDENCE), before=True):
        run = world.generate(SECOND)
    assert run
    assert run.status is Status.SENT
    assert world.runs.rows[FIRST].reason is Reason.EVIDENCE
    assert lines(world) == [("post2: 1",)]


def test_trace_b_evidence_after_claim_is_recorded_too_late() -> None:
    world = carried()
    with world.meanwhile("mailer.send", lambda: world.feedback(EVIDENCE), before=True):
        world.generate(SECOND)
    assert world.runs.rows[FIRST].status is Status.SENT
    assert lines(world) == [("post1: 1", "post2: 1")]


def test_trace_c_window_is_recomputed_at_each_attempt() -> None:
    """Refused, then the predecessor's evidence: the second attempt must not repeat its events."""
    world = carried()
    world.mailer.script.append(RefusedForNow(1, "Throttling"))
    world.generate(SECOND)
    world.feedback(EVIDENCE)
    world.deliver_queued()
    assert lines(world) == [("post2: 1",)]


def test_events_carried_into_failed_run_move_to_next_run() -> None:
    world = carried()
    world.mailer.script.append(RefusedForNow(1, "Throttling"))
    world.generate(SECOND)
    world.clock.pass_time(hours=1)
    start(world, THIRD)
    run = world.generate(THIRD)
    assert run
    assert run.status is Status.SENT
    assert world.runs.rows[SECOND].reason is Reason.SUPERSEDED
    assert lines(world) == [("post1: 1", "post2: 1")]


def test_evidence_for_previously_carried_run_fails_later_claim() -> None:
    world = carried()
    world.mailer.script.append(RefusedForNow(1, "Throttling"))
    world.generate(SECOND)
    assert world.runs.rows[FIRST].reason is Reason.CARRIED_INTO
    world.clock.pass_time(minutes=1)
    with world.meanwhile("runs.swap_together", lambda: world.feedback(EVIDENCE), before=True):
        world.generate(SECOND)
    assert lines(world) == [("post2: 1",)]


def test_run_waiting_for_resend_is_carried_by_successor() -> None:
    world = carried(Policy.RESEND)
    assert world.runs.rows[FIRST].reason is Reason.POLICY_RESEND
    world.generate(SECOND)
    assert world.runs.rows[FIRST].reason is Reason.CARRIED_INTO
    world.deliver_queued()
    assert world.mailer.calls == 2
    assert lines(world) == [("post1: 1", "post2: 1")]


def test_transactional_claim_with_lost_response_is_recognized() -> None:
    """The first answer is lost; asked again, the nonce tells that it was made."""
    world = carried()
    original = world.runs.swap_together

    def lost(*args: object, **named: object) -> bool:
        world.runs.swap_together = original  # type: ignore[method-assign]
        original(*args, **named)  # type: ignore[arg-type]
        raise Unavailable("no answer")

    world.runs.swap_together = lost  # type: ignore[method-assign]
    run = world.generate(SECOND)
    assert run
    assert run.status is Status.SENT
    assert world.mailer.calls == 2


def test_two_workers_carrying_concurrently_send_once() -> None:
    world = carried()
    with world.meanwhile("runs.swap_together", lambda: world.generate(SECOND), before=True):
        world.generate(SECOND)
    assert lines(world) == [("post1: 1", "post2: 1")]


def test_run_after_two_unknown_runs_omits_events_attempted_twice() -> None:
    world = carried()
    world.mailer.script.append(Uncertain(1, "ReadTimeoutError"))
    world.generate(SECOND)
    world.clock.pass_time(minutes=20)
    world.sweep()
    start(world, THIRD)
    world.generate(THIRD)
    assert {world.runs.rows[key].reason for key in (FIRST, SECOND)} == {Reason.CARRIED_INTO}
    assert lines(world) == [("post2: 1",)]


@pytest.mark.parametrize("reason", [Reason.EMPTY, Reason.BATCH_CANCELLED])
def test_stopped_run_with_unknown_outcome_is_also_carried(reason: Reason) -> None:
    world = carried(Policy.RESEND)
    stopped = {Reason.EMPTY: Status.SKIPPED, Reason.BATCH_CANCELLED: Status.CANCELLED}[reason]
    world.runs.rows[FIRST] = replace(world.runs.rows[FIRST], status=stopped, reason=reason)
    with world.meanwhile("runs.swap_together", lambda: world.feedback(EVIDENCE), before=True):
        world.generate(SECOND)
    assert lines(world) == [("post2: 1",)]


def test_worker_that_repeatedly_loses_race_keeps_its_message() -> None:
    world = carried()
    world.runs.swap_together = lambda *_, **__: False  # type: ignore[method-assign]
    with pytest.raises(NotYet, match="kept changing"):
        world.generate(SECOND)
    assert world.mailer.calls == 1


def test_grace_period_of_crashed_worker_starts_at_deadline() -> None:
    world = may_have_been_sent()
    dead = replace(
        world.runs.rows[FIRST],
        status=Status.SENDING,
        reason=Reason.CLAIMED,
        uncertain=frozenset(),
    )
    world.runs.rows[FIRST] = dead
    world.generate(SECOND)
    assert dead.deadline
    assert world.runs.rows[FIRST].check_at == dead.deadline + GRACE


def test_overdue_check_does_not_affect_next_attempt() -> None:
    """It stalled, and meanwhile the first attempt was refused and the run claimed once more."""
    world = World()
    start(world, FIRST)
    first = replace(
        world.runs.rows[FIRST],
        status=Status.SENDING,
        attempt=1,
        deadline=NOW - timedelta(minutes=1),
    )
    second = replace(first, attempt=2, deadline=NOW + HOUR)
    world.runs.rows[FIRST] = second
    passed = deadline_passed(first, now=world.clock(), evidence_grace=GRACE)
    assert passed
    apply(first, passed, runs=world.runs)
    assert world.runs.rows[FIRST] == second
