"""Resend: refused runs are retried with longer pauses, and failed runs are queued for people."""

from datetime import timedelta

import pytest
from gazette.domain.delivery.retries import PAUSES, pause_after
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import RefusedAccount, RefusedForGood, RefusedForNow, Uncertain
from gazette.domain.errors import NotYet
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.model import DAILY, RunKey
from gazette.domain.ports.queues import QueuedRun

from tests.builders import a_subscriber, an_event
from tests.world import World

KEY = RunKey("ann", DAILY, 1)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def world() -> World:
    """A run whose first attempt was refused; its message is on the resend queue."""
    world = World(max_lateness=timedelta(hours=6))
    world.subscribers.put(a_subscriber(), replacing=None)
    world.runs.create(Run(KEY, world.clock(), world.clock() + 60 * MINUTE))
    world.events.store(an_event(), DAILY)
    world.clock.pass_time(minutes=1)
    world.mailer.script.append(RefusedForNow(1, "Throttling"))
    world.generate(KEY)
    return world


def run_of(world: World) -> Run:
    return world.runs.rows[KEY]


def refused(world: World) -> timedelta:
    """Let the pause pass, refuse once more; for how long the message is hidden then."""
    run = run_of(world)
    assert run.retry_at
    world.clock.now = run.retry_at
    world.mailer.script.append(RefusedForNow(run.attempt + 1, "Throttling"))
    hidden: list[timedelta] = []
    with pytest.raises(NotYet, match="Throttling"):
        world.resend(KEY, hide=hidden.append)
    [pause] = hidden
    return pause


def test_retry_delays_grow_from_one_minute_to_eight_hours(world: World) -> None:
    assert world.resend_queue.sent == [QueuedRun(KEY, MINUTE)]
    pauses = [refused(world) for _ in range(4)]
    assert pauses == [5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 480 * MINUTE]


@pytest.mark.parametrize(("drawn", "factor"), [(0.0, 1.0), (0.5, 1.1), (1.0, 1.2)])
def test_runs_rejected_together_are_retried_at_different_times(drawn: float, factor: float) -> None:
    for number, pause in enumerate(PAUSES, start=1):
        assert pause_after(number, random=drawn) == pause * factor


def test_resend_message_of_settled_run_is_not_hidden(world: World) -> None:
    """The delivery event of an earlier attempt comes while its run waits out a refusal."""
    world.feedback(DeliveryEvent(DeliveryEventType.SENT, KEY, 1, "m1", world.clock()))
    hidden: list[timedelta] = []
    run = world.resend(KEY, hide=hidden.append)
    assert run
    assert (run.status, hidden) == (Status.SENT, [])


def test_early_resend_message_is_hidden_for_remaining_delay(world: World) -> None:
    """Such as after a crash between commit and hiding, or a second one."""
    hidden: list[timedelta] = []
    world.clock.pass_time(seconds=20)
    with pytest.raises(NotYet):
        world.resend(KEY, hide=hidden.append)
    assert hidden == [timedelta(seconds=40)]
    assert world.mailer.calls == 1


def test_run_accepted_on_resend_ends(world: World) -> None:
    for _ in range(3):
        refused(world)
    assert run_of(world).retry_at
    world.clock.pass_time(hours=2)
    run = world.resend(KEY)
    assert run
    assert (run.status, run.attempt) == (Status.SENT, 5)
    assert len(world.emails()) == 1


def fail(world: World) -> Run | None:
    for _ in range(4):
        refused(world)
    world.clock.pass_time(hours=8)
    world.mailer.script.append(RefusedForNow(6, "Throttling"))
    return world.resend(KEY)


def test_run_rejected_on_every_attempt_fails_and_becomes_dead_letter(world: World) -> None:
    run = fail(world)
    assert run
    assert (run.status, run.reason) == (Status.FAILED, Reason.ATTEMPTS_EXHAUSTED)
    assert world.failed_runs.sent == [KEY]


def test_dead_letter_lost_in_crash_is_sent_on_retry(world: World) -> None:
    """The message comes again, because it was not deleted."""
    fail(world)
    world.failed_runs.sent.clear()
    world.resend(KEY)
    assert world.failed_runs.sent == [KEY]


def test_redriven_dead_letter_is_not_queued_twice(world: World) -> None:
    """This reader has no schedule, so nothing is started either (test_redrive.py)."""
    failed = fail(world)
    assert world.resend(KEY, given_up=True) is None
    assert run_of(world) == failed
    assert world.failed_runs.sent == [KEY]
    assert world.mailer.calls == 6


def test_next_digest_contains_events_of_failed_digest(world: World) -> None:
    fail(world)
    second = RunKey("ann", DAILY, 2)
    world.runs.create(Run(second, world.clock(), world.clock()))
    done = world.generate(second)
    assert done
    assert done.status is Status.SENT
    assert world.emails()[0].lines == ("post1: 1",)


def test_permanent_rejection_ends_run_immediately(world: World) -> None:
    world.clock.pass_time(minutes=1)
    world.mailer.script.append(RefusedForGood(2, "MessageRejected"))
    run = world.resend(KEY)
    assert run
    assert run.reason is Reason.REFUSED_FOR_GOOD
    assert not world.failed_runs.sent


def test_account_wide_rejection_uses_no_attempts_or_receives(
    world: World,
) -> None:
    """A fresh message takes the place of the one that would otherwise be given back."""
    world.clock.pass_time(minutes=1)
    for attempt in range(2, 30):
        world.mailer.script.append(RefusedAccount(attempt, "SendingPausedException"))
        world.resend_queue.sent.clear()
        run = world.resend(KEY)
        assert run
        assert (run.reason, run.refusals) == (Reason.REFUSED_ACCOUNT, 1)
        assert len(world.resend_queue.sent) == 1
        world.clock.pass_time(minutes=40)


def test_run_with_unknown_outcome_is_left_to_sweep(world: World) -> None:
    world.clock.pass_time(minutes=1)
    world.resend_queue.sent.clear()
    world.mailer.script.append(Uncertain(2, "ReadTimeoutError"))
    run = world.resend(KEY)
    assert run
    assert run.status is Status.UNKNOWN
    assert not world.resend_queue.sent


def test_resend_message_for_missing_run_is_deleted(world: World) -> None:
    assert world.resend(RunKey("bo", DAILY, 1)) is None


def test_digest_first_attempted_on_time_is_retried_past_maximum_lateness(
    world: World,
) -> None:
    """Eleven hours of refusals end where people see them, and not as too late."""
    for _ in range(4):
        refused(world)
    world.clock.pass_time(hours=8)
    run = world.resend(KEY)
    assert run
    assert run.status is Status.SENT
