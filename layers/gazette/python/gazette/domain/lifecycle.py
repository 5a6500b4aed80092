"""The life of a run: a total function from (run, signal) to the run that follows.

The rules that it implements, each with the failure that it prevents, are numbered in
docs/protocol.md. Nothing here does I/O: a step reads a run, asks `transition`, and stores the
answer with a condition on what it read.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import assert_never

from gazette.domain.model import RunKey, Window

MAX_REFUSALS = 5
"""Refused attempts after which a run has failed. Refusals of the whole account do not count."""


class Status(StrEnum):
    """Where a run stands. `sent`, `failed`, `skipped` and `cancelled` are final."""

    PENDING = "pending"
    SENDING = "sending"
    RETRYING = "retrying"
    UNKNOWN = "unknown"
    SENT = "sent"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """True where only evidence of acceptance still moves the run."""
        return self in {Status.SENT, Status.FAILED, Status.SKIPPED, Status.CANCELLED}


class Reason(StrEnum):
    """Why a run has its status: what `explain` and the reports print."""

    DUE = "due"
    CLAIMED = "claimed"
    ACCEPTED = "accepted"
    EVIDENCE = "evidence"
    ASSUMED = "assumed"
    REFUSED_FOR_NOW = "refused_for_now"
    REFUSED_FOR_GOOD = "refused_for_good"
    REFUSED_ACCOUNT = "refused_account"
    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    NOT_ATTEMPTED = "not_attempted"
    UNCERTAIN = "uncertain"
    DEADLINE_PASSED = "deadline_passed"
    POLICY_RESEND = "policy_resend"
    CARRIED = "carried"
    CARRIED_INTO = "carried_into"
    SUPERSEDED = "superseded"
    EMPTY = "empty"
    UNSUBSCRIBED = "unsubscribed"
    UNKNOWN_SUBSCRIBER = "unknown_subscriber"


class Policy(StrEnum):
    """What the adopter chose to do with a run whose outcome stays unknown."""

    RESEND = "resend"
    CARRY_OVER = "carry_over"
    ASSUME_SENT = "assume_sent"


@dataclass(frozen=True, slots=True)
class Run:
    """The one delivery of one digest.

    `attempt` counts claims and never goes back; `refusals` counts those that the provider
    refused; `uncertain` holds the attempts that it may have accepted. `epoch` is raised by
    whoever stops the run, so that a claim made on what was read before the stop fails. `until`
    is fixed by the first claim; `nonce` belongs to the claim that wrote it; `deadline` is the
    instant before which nobody but the claimant may act. `check_at` is when the sweep looks.
    """

    key: RunKey
    due_at: datetime
    check_at: datetime
    status: Status = Status.PENDING
    reason: Reason = Reason.DUE
    attempt: int = 0
    refusals: int = 0
    epoch: int = 0
    uncertain: frozenset[int] = frozenset()
    resent: bool = False
    window: Window | None = None
    deadline: datetime | None = None
    nonce: str = ""
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker is about to call the provider."""

    window: Window
    deadline: datetime
    nonce: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """The provider took this attempt's message."""

    attempt: int
    message_id: str


@dataclass(frozen=True, slots=True)
class RefusedForNow:
    """The provider surely refused the attempt and may take another: throttled, not connected."""

    attempt: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RefusedForGood:
    """The provider surely refused the attempt and would refuse it again."""

    attempt: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RefusedAccount:
    """The provider refuses everything from this account now: nobody's attempt."""

    attempt: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class NotAttempted:
    """The claimant gave the run back without having called the provider."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Uncertain:
    """The provider may have taken this attempt's message: time-out after write, reset, 5xx."""

    attempt: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The claimant can no longer be alive."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The provider reported an event for this run: it took a message of it, some time ago."""

    message_id: str


@dataclass(frozen=True, slots=True)
class GraceOver:
    """No evidence came in time, and the channel that would have brought it is alive."""

    policy: Policy


@dataclass(frozen=True, slots=True)
class Skip:
    """There is nothing to send, or nobody to send it to."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Cancel:
    """Somebody no longer wants this run."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Carry:
    """The next run of the schedule takes this one's events over."""


@dataclass(frozen=True, slots=True)
class Reopen:
    """The occurrence is wanted again, after a change of preferences on the same day."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Something that a worker may have read before its claim has changed."""


SendOutcome = Accepted | RefusedForNow | RefusedForGood | RefusedAccount | Uncertain
"""What one call of the provider can come to. Each leads to a different act."""

Signal = (
    SendOutcome
    | Claim
    | NotAttempted
    | DeadlinePassed
    | Evidence
    | GraceOver
    | Skip
    | Cancel
    | Carry
    | Reopen
    | Stop
)


@dataclass(frozen=True, slots=True)
class Ignored:
    """The signal changes nothing, and why."""

    why: str


def transition(run: Run, signal: Signal) -> Run | Ignored:
    """The run after `signal`, or Ignored. Total: every (status, signal) pair has an answer."""
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
        case Reopen():
            return _reopen(run)
        case Stop():
            if run.status.is_final:
                return Ignored("the run has ended")
            return replace(run, epoch=run.epoch + 1)
        case _:
            assert_never(signal)


def _accept(run: Run, signal: Accepted | Evidence) -> Run | Ignored:
    """Acceptance moves any status to sent, and nothing moves sent (rule 8)."""
    if run.status is Status.SENT:
        return Ignored("already sent")
    reason = Reason.ACCEPTED if isinstance(signal, Accepted) else Reason.EVIDENCE
    return replace(run, status=Status.SENT, reason=reason, message_id=signal.message_id)


def _claim(run: Run, signal: Claim) -> Run | Ignored:
    """Rule 4; `until` is fixed by the first claim, `since` is computed anew (rule 2)."""
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
        window=window,
        deadline=signal.deadline,
        nonce=signal.nonce,
    )


def _refuse(
    run: Run, signal: RefusedForNow | RefusedForGood | RefusedAccount | NotAttempted
) -> Run | Ignored:
    """Only the attempt that is open can be refused, also when the answer comes late (rule 7)."""
    if run.status not in {Status.SENDING, Status.UNKNOWN}:
        return Ignored("no attempt is open")
    if signal.attempt != run.attempt:
        return Ignored("that attempt is over")
    settled = replace(run, uncertain=run.uncertain - {signal.attempt})
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
                settled, status=Status.RETRYING, reason=Reason.REFUSED_FOR_NOW, refusals=refusals
            )
        case _:
            assert_never(signal)


def _lose_sight(run: Run, signal: Uncertain | DeadlinePassed) -> Run | Ignored:
    if run.status is not Status.SENDING:
        return Ignored("no attempt is open")
    if isinstance(signal, Uncertain):
        if signal.attempt != run.attempt:
            return Ignored("that attempt is over")
        reason = Reason.UNCERTAIN
    else:
        reason = Reason.DEADLINE_PASSED
    return replace(
        run, status=Status.UNKNOWN, reason=reason, uncertain=run.uncertain | {run.attempt}
    )


def _decide(run: Run, policy: Policy) -> Run | Ignored:
    """Rule 9: resend once and once only, then carry; what is carried waits for its successor."""
    if run.status is not Status.UNKNOWN or run.reason is Reason.CARRIED:
        return Ignored("nothing is left to decide")
    match policy:
        case Policy.ASSUME_SENT:
            return replace(run, status=Status.SENT, reason=Reason.ASSUMED)
        case Policy.RESEND if not run.resent:
            return replace(run, status=Status.RETRYING, reason=Reason.POLICY_RESEND, resent=True)
        case Policy.RESEND | Policy.CARRY_OVER:
            return replace(run, reason=Reason.CARRIED)
        case _:
            assert_never(policy)


def _end(run: Run, status: Status, reason: Reason) -> Run | Ignored:
    if run.status not in {Status.PENDING, Status.RETRYING}:
        return Ignored(f"too late for a {run.status} run")
    return replace(run, status=status, reason=reason)


def _carry(run: Run) -> Run | Ignored:
    """Rule 5: only a run with an uncertain attempt, and only when its policy has spoken."""
    if not run.uncertain:
        return Ignored("no attempt of it is uncertain")
    if run.status in {Status.SENDING, Status.SENT} or run.reason is Reason.CARRIED_INTO:
        return Ignored(f"a {run.status} run is not carried")
    if run.status is Status.UNKNOWN and run.reason is not Reason.CARRIED:
        return Ignored("its policy has not spoken")
    return replace(run, status=Status.FAILED, reason=Reason.CARRIED_INTO)


def _reopen(run: Run) -> Run | Ignored:
    """Rule 12: only what was cancelled before anybody claimed it."""
    if run.status is not Status.CANCELLED or run.attempt > 0:
        return Ignored("only a cancelled run that was never claimed is reopened")
    return replace(run, status=Status.PENDING, reason=Reason.DUE, epoch=run.epoch + 1)
