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


def deliver(key: RunKey, *, context: DeliveryContext, time_left: TimeLeft) -> Delivery | None:
    """End the run, or say when to try again. Returns None if there is no such run.

    Reading, grouping, ranking and rendering come first; then claim, send and commit, so that the
    claim is held only around the call. If the run changes before the claim, everything is read
    again. Suppression is checked after the claim: another reader of the address may have
    complained, and nothing finds all readers of an address to raise the epochs of their runs
    (rule 11). `time_left` is the rest of this invocation. Raises NotYet if the message must be
    kept, because too little time is left or the run kept changing.
    """
    needed = context.limits.send_timeout + context.limits.commit_margin
    permit: Permit | None = None
    deferred = expired = 0
    for _ in range(_OVERTAKEN):
        try:
            prepared = prepare(key, context=context)
        except Overtaken:
            continue
        if not isinstance(prepared, Prepared):
            return replace(prepared, expired=prepared.expired + expired) if prepared else None
        run = prepared.run
        counted = count_expired(prepared.expired, context=context)
        expired += counted
        if counted < len(prepared.expired):
            continue
        spare = time_left() - needed
        if spare < timedelta(0):
            raise NotYet(f"Too little time is left of this invocation to send run {run_id(key)}.")
        if permit is None:
            found = wait_for_permit(run, pacing=context.pacing, spare=spare)
            if isinstance(found, NoPermit):
                instead = without_permit(run, found, pacing=context.pacing)
                if isinstance(instead, Skip):
                    return Delivery(apply(run, instead, runs=context.runs), expired=expired)
                return Delivery(
                    run, context.clock() + instead, _BY_NO_PERMIT[found], expired=expired
                )
            permit = found
        if _is_cancelled(run, context.batches):
            cancelled = apply(run, Cancel(Reason.BATCH_CANCELLED), runs=context.runs)
            return Delivery(cancelled, expired=expired)
        if prepared.held:
            run_since = context.editing.deferred_events.defer(prepared.held, run)
            if run_since is None:
                continue
            run = run_since
            deferred += len(prepared.held)
        deadline = context.clock() + time_left() + context.limits.clock_skew
        claim = Claim(
            prepared.window,
            deadline,
            context.draw_nonce(),
            variant=prepared.variant,
            locale=prepared.subscriber.locale,
            categories=prepared.edition.categories,
            newest=prepared.newest,
            left_out=prepared.left_out,
        )
        claimed = make_claim(run, claim, prepared.older, runs=context.runs)
        if claimed:
            break
    else:
        raise kept_changing(f"Run {run_id(key)}")
    if _is_suppressed(claimed, prepared, context):
        unsent = apply(claimed, NotAttempted(claimed.attempt), runs=context.runs)
        skipped = apply(unsent, Skip(Reason.SUPPRESSED), runs=context.runs)
        return Delivery(skipped, excluded=prepared.excluded, deferred=deferred, expired=expired)
    if time_left() < needed or context.clock() + context.limits.send_timeout > deadline:
        apply(claimed, NotAttempted(claimed.attempt), runs=context.runs)
        raise NotYet(f"The invocation ran out of time before run {run_id(key)} was sent.")
    mail = address(
        claimed,
        prepared.edition,
        prepared.subscriber,
        prepared.links,
        list_id=context.list_id,
        installation=context.installation,
    )
    outcome = context.mailer.send(mail, claimed.attempt)
    accepted_at = context.clock() if isinstance(outcome, Accepted) else None
    try:
        run = apply(claimed, _dated(outcome, claimed, context), runs=context.runs)
    finally:
        record_outcome(outcome, claimed, permit, pacing=context.pacing)
    return Delivery(
        run,
        *_again(run, context.clock()),
        outcome,
        excluded=prepared.excluded,
        deferred=deferred,
        expired=expired,
        accepted_at=accepted_at,
    )


def _is_suppressed(claimed: Run, prepared: Prepared, context: DeliveryContext) -> bool:
    """Whether the reader's address is suppressed. If it cannot tell, it gives the claim back."""
    try:
        return context.suppressions.holds(address_hash(prepared.subscriber.email))
    except Unavailable:
        apply(claimed, NotAttempted(claimed.attempt), runs=context.runs)
        raise


def _is_cancelled(run: Run, batches: Batches) -> bool:
    """Whether the run's batch is cancelled. Cancelling a batch also cancels its runs (rule 11)."""
    slot = batch_of(run)
    return slot is not None and batches.get(slot).cancelled_at is not None


def _dated(outcome: SendOutcome, run: Run, context: DeliveryContext) -> Signal:
    """Return the outcome with the time of the next attempt, or of the sweep's next look."""
    match outcome:
        case RefusedForNow():
            pause = pause_after(run.refusals + 1, random=context.random())
            return replace(outcome, retry_at=context.clock() + pause)
        case Uncertain() if run.deadline:
            return replace(outcome, check_at=run.deadline + context.limits.evidence_grace)
        case _:
            return outcome


def _again(run: Run, now: datetime) -> tuple[datetime | None, WaitingFor | None]:
    """Return when the run is tried again, and what it waits for; None if it is not."""
    if run.status is not Status.RETRYING:
        return None, None
    if run.retry_at:
        return run.retry_at, WaitingFor.PAUSE_OVER
    return now + _SOON, WaitingFor.SENDING_RESUMED
