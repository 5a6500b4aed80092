"""The life cycle of a run: a total function from a run and a signal to the next state of the run.

The module does no I/O. A step reads a run, calls `transition`, and stores the result on the
condition that the run is unchanged. For the numbered rules, see docs/protocol.md.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import assert_never

from gazette.domain.delivery.retries import PAUSES
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import (
    Accepted,
    Cancel,
    Carry,
    Claim,
    DeadlinePassed,
    Evidence,
    GiveUp,
    GraceOver,
    NotAttempted,
    Policy,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    Signal,
    Skip,
    Stop,
    Uncertain,
)
from gazette.domain.model import Window

MAX_REFUSALS = 1 + len(PAUSES)
"""The number of refusals after which a run fails. Refusals of the stream or account do not
count."""

_OVERDUE = timedelta(minutes=15)
"""The time after `retry_at` before the sweep checks a run that was not retried."""


_HANDED_OVER = {Reason.CARRIED_INTO, Reason.GIVEN_UP}


@dataclass(frozen=True, slots=True)
class Ignored:
    """A signal that changes nothing, with the reason."""

    why: str


def transition(run: Run, signal: Signal) -> Run | Ignored:
    """Return the run after `signal`, or Ignored.

    The function is total, which means that it handles every signal in every status.
    """
    match signal:
        case Accepted() | Evidence():
            return _accept(run, signal)
        case Claim():
            return _claim(run, signal)
        case RefusedForNow() | RefusedForGood() | RefusedAccount() | NotAttempted():
            return _refuse(run, signal)
        case Uncertain() | DeadlinePassed():
            return _lose_sight(run, signal)
        case GraceOver():
            return _decide(run, signal.policy)
        case Skip():
            return _end(run, Status.SKIPPED, signal.reason)
        case Cancel():
            return _end(run, Status.CANCELLED, signal.reason)
        case Carry():
            return _carry(run)
        case GiveUp():
            return _give_up(run)
        case Stop():
            return _stop(run)
        case _:
            assert_never(signal)


def _accept(run: Run, signal: Accepted | Evidence) -> Run | Ignored:
    """Mark the run as sent, whatever its status. A sent run never changes (rule 8).

    The row must contain the attempt. If it does not, a different run had the same id or the table
    was restored to an earlier time. The content of the attempt is then unknown.
    """
    if run.status is Status.SENT:
        return Ignored("already sent")
    if not run.knows(signal.attempt):
        return Ignored(f"attempt {signal.attempt} was not claimed")
    reason = Reason.ACCEPTED if isinstance(signal, Accepted) else Reason.EVIDENCE
    return replace(
        run,
        status=Status.SENT,
        reason=reason,
        message_id=signal.message_id,
        sent_at=signal.at,
    )


def _claim(run: Run, signal: Claim) -> Run | Ignored:
    """Claim the run (rule 4).

    The first claim fixes `until`. Every claim recomputes `since` (rule 2).
    """
    if run.status not in {Status.PENDING, Status.RETRYING}:
        return Ignored(f"a {run.status} run is not claimed")
    window = signal.window
    if run.window is not None:
        window = Window(window.since, run.window.until)
    return replace(
        run,
        status=Status.SENDING,
        reason=Reason.CLAIMED,
        attempt=run.attempt + 1,
        retry_at=None,
        window=window,
        deadline=signal.deadline,
        nonce=signal.nonce,
        claimed_at=signal.at,
        variant=signal.variant,
        locale=signal.locale,
        categories=signal.categories,
        newest=signal.newest,
        events=signal.events,
        left_out=signal.left_out,
        without=signal.without,
        templates=signal.templates,
        templates_gone=signal.templates_gone or run.templates_gone,
    )


def _refuse(
    run: Run, signal: RefusedForNow | RefusedForGood | RefusedAccount | NotAttempted
) -> Run | Ignored:
    """Record that the open attempt was refused, even if the response arrives late (rule 7).

    A refusal of an earlier attempt is ignored.
    """
    if run.status not in {Status.SENDING, Status.UNKNOWN}:
        return Ignored("no attempt is open")
    if signal.attempt != run.attempt:
        return Ignored("that attempt is over")
    detail = "" if isinstance(signal, NotAttempted) else signal.detail
    settled = replace(run, uncertain=run.uncertain - {signal.attempt}, detail=detail)
    match signal:
        case NotAttempted():
            return replace(settled, status=Status.RETRYING, reason=Reason.NOT_ATTEMPTED)
        case RefusedAccount():
            return replace(settled, status=Status.RETRYING, reason=Reason.REFUSED_ACCOUNT)
        case RefusedForGood():
            return replace(settled, status=Status.FAILED, reason=Reason.REFUSED_FOR_GOOD)
        case RefusedForNow():
            refusals = run.refusals + 1
            if refusals >= MAX_REFUSALS:
                return replace(
                    settled,
                    status=Status.FAILED,
                    reason=Reason.ATTEMPTS_EXHAUSTED,
                    refusals=refusals,
                )
            return replace(
                settled,
                status=Status.RETRYING,
                reason=Reason.REFUSED_FOR_NOW,
                refusals=refusals,
                retry_at=signal.retry_at,
                check_at=signal.retry_at + _OVERDUE if signal.retry_at else run.check_at,
            )
        case _:
            assert_never(signal)


def _lose_sight(run: Run, signal: Uncertain | DeadlinePassed) -> Run | Ignored:
    """Mark the outcome of the open attempt as unknown (rule 6).

    A signal about an earlier attempt is ignored, because the open attempt has its own claimant.
    """
    if run.status is not Status.SENDING:
        return Ignored("no attempt is open")
    if signal.attempt != run.attempt:
        return Ignored("that attempt is over")
    if isinstance(signal, Uncertain):
        reason, detail = Reason.UNCERTAIN, signal.detail
    else:
        reason, detail = Reason.DEADLINE_PASSED, ""
    return replace(
        run,
        status=Status.UNKNOWN,
        reason=reason,
        detail=detail,
        uncertain=run.uncertain | {run.attempt},
        check_at=signal.check_at or run.check_at,
    )


def _decide(run: Run, policy: Policy) -> Run | Ignored:
    """Apply the policy for unknown outcomes (rule 9). A run is resent only once. After that, the
    next run takes over its events.

    Until the next run is prepared, the carried run waits.
    """
    if run.status is not Status.UNKNOWN or run.reason is Reason.CARRIED:
        return Ignored("the policy has already decided")
    match policy:
        case Policy.ASSUME_SENT:
            return replace(run, status=Status.SENT, reason=Reason.ASSUMED)
        case Policy.RESEND if not run.resent:
            return replace(run, status=Status.RETRYING, reason=Reason.POLICY_RESEND, resent=True)
        case Policy.RESEND | Policy.CARRY_OVER:
            return replace(run, reason=Reason.CARRIED)
        case _:
            assert_never(policy)


def _stop(run: Run) -> Run | Ignored:
    """Invalidate claims that are based on an older read (rule 11).

    A claim made before the stop remains valid.
    """
    if run.status.is_final:
        return Ignored("the run has ended")
    is_late = run.status not in {Status.PENDING, Status.RETRYING}
    return replace(run, epoch=run.epoch + 1, overtaken=run.overtaken or is_late)


def _end(run: Run, status: Status, reason: Reason) -> Run | Ignored:
    if run.status not in {Status.PENDING, Status.RETRYING}:
        return Ignored(f"too late for a {run.status} run")
    return replace(run, status=status, reason=reason)


def _carry(run: Run) -> Run | Ignored:
    """End the run because the next run takes over its events (rule 5).

    The run must have an uncertain attempt, and the policy must have been applied.
    """
    if not run.uncertain:
        return Ignored("it has no uncertain attempt")
    if run.status in {Status.SENDING, Status.SENT} or run.reason in _HANDED_OVER:
        return Ignored(f"a {run.status} run is not carried")
    if run.status is Status.UNKNOWN and run.reason is not Reason.CARRIED:
        return Ignored("its policy has not decided yet")
    return replace(run, status=Status.FAILED, reason=Reason.CARRIED_INTO)


def _give_up(run: Run) -> Run | Ignored:
    """Mark the run as given up (rule 9).

    The run's events are not sent again. Only evidence can still change the run.
    """
    if run.status is not Status.UNKNOWN:
        return Ignored(f"a {run.status} run is not given up")
    return replace(run, status=Status.FAILED, reason=Reason.GIVEN_UP)
