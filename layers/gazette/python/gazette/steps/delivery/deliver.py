"""Deliver one run: the only way in which Gazette sends."""

from dataclasses import replace
from datetime import datetime, timedelta

from gazette.domain.delivery.batch import batch_of
from gazette.domain.delivery.pace import NoPermit, Permit
from gazette.domain.delivery.retries import pause_after
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import (
    Accepted,
    Cancel,
    Claim,
    NotAttempted,
    RefusedForNow,
    SendOutcome,
    Signal,
    Skip,
    Uncertain,
)
from gazette.domain.errors import NotYet, Overtaken, Unavailable
from gazette.domain.identity import address_hash, run_id
from gazette.domain.model import RunKey
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.ledgers import Batches
from gazette.steps.conflicts import kept_changing
from gazette.steps.delivery.category_hold import count_expired
from gazette.steps.delivery.claim import make_claim
from gazette.steps.delivery.edition import address
from gazette.steps.delivery.pacing import record_outcome, wait_for_permit, without_permit
from gazette.steps.delivery.prepare import Prepared, prepare
from gazette.steps.delivery.types import Delivery, DeliveryContext, WaitingFor
from gazette.steps.runs import apply

_OVERTAKEN = 3
"""How often a run is prepared, if stops or changes make its claim fail."""

_SOON = timedelta(minutes=1)

_BY_NO_PERMIT = {
    NoPermit.BUSY: WaitingFor.PERMIT,
    NoPermit.DAILY_CAP: WaitingFor.NEXT_DAY,
    NoPermit.BREAKER_OPEN: WaitingFor.SENDING_RESUMED,
}


def deliver(key: RunKey, *, by: DeliveryContext, time_left: TimeLeft) -> Delivery | None:
    """End the run, or say when to try again. Returns None if there is no such run.

    Reading, grouping, ranking and rendering come first; then claim, send and commit, so that the
    claim is held only around the call. If the run changes before the claim, everything is read
    again. Suppression is checked after the claim: another reader of the address may have
    complained, and nothing finds all readers of an address to raise the epochs of their runs
    (rule 11). `time_left` is the rest of this invocation. Raises NotYet if the message must be
    kept, because too little time is left or the run kept changing.
    """
    needed = by.limits.send_timeout + by.limits.commit_margin
    permit: Permit | None = None
    deferred = expired = 0
    for _ in range(_OVERTAKEN):
        try:
            prepared = prepare(key, by=by)
        except Overtaken:
            continue
        if not isinstance(prepared, Prepared):
            return replace(prepared, expired=prepared.expired + expired) if prepared else None
        run = prepared.run
        counted = count_expired(prepared.expired, by=by)
        expired += counted
        if counted < len(prepared.expired):
            continue
        spare = time_left() - needed
        if spare < timedelta(0):
            raise NotYet(f"Too little time is left of this invocation to send run {run_id(key)}.")
        if permit is None:
            found = wait_for_permit(run, pacing=by.pacing, spare=spare)
            if isinstance(found, NoPermit):
                instead = without_permit(run, found, pacing=by.pacing)
                if isinstance(instead, Skip):
                    return Delivery(apply(run, instead, runs=by.runs), expired=expired)
                return Delivery(run, by.clock() + instead, _BY_NO_PERMIT[found], expired=expired)
            permit = found
        if _is_cancelled(run, by.batches):
            cancelled = apply(run, Cancel(Reason.BATCH_CANCELLED), runs=by.runs)
            return Delivery(cancelled, expired=expired)
        if prepared.held:
            run_since = by.desk.deferred_events.defer(prepared.held, run)
            if run_since is None:
                continue
            run = run_since
            deferred += len(prepared.held)
        deadline = by.clock() + time_left() + by.limits.clock_skew
        claim = Claim(
            prepared.window,
            deadline,
            by.draw_nonce(),
            variant=prepared.variant,
            locale=prepared.subscriber.locale,
            categories=prepared.edition.categories,
            newest=prepared.newest,
            left_out=prepared.left_out,
        )
        claimed = make_claim(run, claim, prepared.older, runs=by.runs)
        if claimed:
            break
    else:
        raise kept_changing(f"Run {run_id(key)}")
    if _is_suppressed(claimed, prepared, by):
        unsent = apply(claimed, NotAttempted(claimed.attempt), runs=by.runs)
        skipped = apply(unsent, Skip(Reason.SUPPRESSED), runs=by.runs)
        return Delivery(skipped, excluded=prepared.excluded, deferred=deferred, expired=expired)
    if time_left() < needed or by.clock() + by.limits.send_timeout > deadline:
        apply(claimed, NotAttempted(claimed.attempt), runs=by.runs)
        raise NotYet(f"The invocation ran out of time before run {run_id(key)} was sent.")
    mail = address(
        claimed,
        prepared.edition,
        prepared.subscriber,
        prepared.links,
        list_id=by.list_id,
        installation=by.installation,
    )
    outcome = by.mailer.send(mail, claimed.attempt)
    accepted_at = by.clock() if isinstance(outcome, Accepted) else None
    try:
        run = apply(claimed, _dated(outcome, claimed, by), runs=by.runs)
    finally:
        record_outcome(outcome, claimed, permit, pacing=by.pacing)
    return Delivery(
        run,
        *_again(run, by.clock()),
        outcome,
        excluded=prepared.excluded,
        deferred=deferred,
        expired=expired,
        accepted_at=accepted_at,
    )


def _is_suppressed(claimed: Run, prepared: Prepared, by: DeliveryContext) -> bool:
    """Whether the reader's address is suppressed. If it cannot tell, it gives the claim back."""
    try:
        return by.suppressions.holds(address_hash(prepared.subscriber.email))
    except Unavailable:
        apply(claimed, NotAttempted(claimed.attempt), runs=by.runs)
        raise


def _is_cancelled(run: Run, batches: Batches) -> bool:
    """Whether the run's batch is cancelled. Cancelling a batch also cancels its runs (rule 11)."""
    slot = batch_of(run)
    return slot is not None and batches.get(slot).cancelled_at is not None


def _dated(outcome: SendOutcome, run: Run, by: DeliveryContext) -> Signal:
    """Return the outcome with the time of the next attempt, or of the sweep's next look."""
    match outcome:
        case RefusedForNow():
            pause = pause_after(run.refusals + 1, random=by.random())
            return replace(outcome, retry_at=by.clock() + pause)
        case Uncertain() if run.deadline:
            return replace(outcome, check_at=run.deadline + by.limits.evidence_grace)
        case _:
            return outcome


def _again(run: Run, now: datetime) -> tuple[datetime | None, WaitingFor | None]:
    """Return when the run is tried again, and what it waits for; None if it is not."""
    if run.status is not Status.RETRYING:
        return None, None
    if run.retry_at:
        return run.retry_at, WaitingFor.PAUSE_OVER
    return now + _SOON, WaitingFor.SENDING_RESUMED
