"""Prepare a run for its claim: find out what it waits for, and render what it would send."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status, why_not_sent
from gazette.domain.delivery.signals import Cancel, Skip
from gazette.domain.feedback.experiment import Variant, variant_of
from gazette.domain.model import DAILY, Edition, Event, RunKey, StoredEvent, Window
from gazette.domain.ports.queues import LONGEST_DELAY
from gazette.domain.ports.rendering import Links
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.delivery.category_hold import count_expired, events_due, without_held
from gazette.steps.delivery.edition import edit
from gazette.steps.delivery.predecessors import (
    Predecessors,
    chain_of,
    give_up_carried,
    gives_way,
    settle_if_overdue,
    settle_older,
    window_of,
)
from gazette.steps.delivery.types import Delivery, DeliveryContext, DeliveryLimits, WaitingFor
from gazette.steps.occurrences.next_run import start_behind
from gazette.steps.runs import apply

_SOON = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that may be claimed as it was read, and the email that it would send.

    `older`: what the older runs leave to it. `held`: events to defer before the claim. `expired`:
    events to count before the claim. `excluded`: as in Delivery. `newest`, `left_out`: as in Run.
    """

    run: Run
    older: Predecessors
    window: Window
    edition: Edition
    subscriber: Subscriber
    links: Links
    variant: Variant
    newest: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    held: Sequence[Event] = ()
    expired: Sequence[StoredEvent] = ()
    excluded: int = 0


def prepare(key: RunKey, *, context: DeliveryContext) -> Prepared | Delivery | None:
    """Read the run, the older ones, its events and its reader, in this order, and render.

    Returns a Delivery if nothing is sent, not now, or by another run; None if there is no such
    run. Raises Overtaken if an event or the run changed before the event was excluded. The run is
    read before the stops are, so that a stop that comes in between makes the claim fail (rule 11).
    """
    chain = chain_of(key, runs=context.runs)
    if chain is None:
        return None
    run = settle_if_overdue(
        chain.run,
        runs=context.runs,
        clock=context.clock,
        evidence_grace=context.limits.evidence_grace,
    )
    if run.status not in {Status.PENDING, Status.RETRYING}:
        return Delivery(run)
    if (not_before := _not_before(run, chain.older, context.limits)) > context.clock():
        waiting_for = WaitingFor.PAUSE_OVER if run.retry_at else WaitingFor.COLLECTED
        return Delivery(run, not_before, waiting_for)
    if run.is_unclaimed and gives_way(chain.newer, runs=context.runs):
        return _left_to_a_later_run(run, chain.newer[0], context)
    if _is_too_late(run, context):
        return _skipped(run, Reason.TOO_LATE, context)
    older = settle_older(
        run,
        chain.others,
        runs=context.runs,
        clock=context.clock,
        evidence_grace=context.limits.evidence_grace,
    )
    if older.unsettled:
        again_at = _when_settled(older.unsettled, context.clock())
        return Delivery(run, again_at, WaitingFor.OLDER_RUN)

    window = window_of(run, older.since, until=context.clock() - context.limits.settle_lag)
    excluded = 0
    while (due := events_due(run, older, window, context=context)).sent or due.held:
        subscriber = context.subscribers.get(key.user_id)
        if not isinstance(subscriber, Subscriber) or not subscriber.receives_email:
            return _skipped(run, why_not_sent(subscriber), context)
        if instead := without_held(run, due, excluded=excluded, context=context):
            return replace(instead, expired=count_expired(due.expired, context=context))
        links = context.link_maker.links(key)
        variant = variant_of(key.user_id, context.editing.experiment())
        edition = edit(
            run,
            due.sent,
            subscriber,
            links,
            variant=variant,
            context=context.editing,
            may_have_been_sent=due.may_have_been_sent,
        )
        if isinstance(edition, Edition):
            return Prepared(
                run,
                older,
                window,
                edition,
                subscriber,
                links,
                variant,
                newest=due.newest,
                left_out=due.left_out,
                held=due.held,
                expired=due.expired,
                excluded=excluded,
            )
        run, excluded = edition.run, excluded + edition.events
    give_up_carried(older, runs=context.runs)
    done = _skipped(run, Reason.EXPIRED if due.expired else Reason.EMPTY, context, excluded)
    return replace(done, expired=count_expired(due.expired, context=context))


def _left_to_a_later_run(run: Run, newest: Run, context: DeliveryContext) -> Delivery:
    """Supersede the run; its remaining events go with the newest run, or one behind it.

    Sent under its own sequence, it would stand before what was sent earlier, and nobody who looks
    back would find it.
    """
    if not newest.is_unclaimed:
        check_after = run.check_at - run.due_at
        newest = start_behind(
            newest, runs=context.runs, clock=context.clock, check_after=check_after
        )
    apply(run, Cancel(Reason.SUPERSEDED), runs=context.runs)
    return Delivery(newest, context.clock(), WaitingFor.COLLECTED)


def _skipped(run: Run, reason: Reason, context: DeliveryContext, excluded: int = 0) -> Delivery:
    return Delivery(apply(run, Skip(reason), runs=context.runs), excluded=excluded)


def _not_before(run: Run, older: Sequence[Run], limits: DeliveryLimits) -> datetime:
    """Return the earliest time of sending: after the pause of a refusal, or after collecting.

    The collecting of each run that it will supersede counts too: a run that a redrive starts is
    due at once.
    """
    if run.retry_at is not None:
        return run.retry_at
    if run.key.is_immediate:
        collecting = (run, *(each for each in older if each.is_unclaimed))
        return max(each.due_at for each in collecting) + limits.settle_lag
    return BEGINNING


def _when_settled(older: Run, now: datetime) -> datetime:
    """Estimate when the older run is settled: at its deadline, or after the grace period.

    An unknown outcome that is older than that waits for proof that delivery events arrive, which
    may take hours.
    """
    expected = older.deadline if older.status is Status.SENDING else older.check_at
    if expected is None or expected < now:
        return now + LONGEST_DELAY
    return expected + _SOON


def _is_too_late(run: Run, context: DeliveryContext) -> bool:
    """Whether a daily digest is too late: its events go with the next one.

    Rarer digests are sent late rather than an interval later. A digest that was tried in time and
    refused is never too late: the pauses between its attempts bound its delay.
    """
    is_daily = run.key.schedule == DAILY
    return (
        is_daily and not run.refusals and context.clock() - run.due_at > context.limits.max_lateness
    )
