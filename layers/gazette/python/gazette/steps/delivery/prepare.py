"""Everything about a run that comes before its claim: what it waits for, and what it would send."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status, why_not_sent
from gazette.domain.delivery.signals import Cancel, Skip
from gazette.domain.feedback.experiment import Variant, variant_of
from gazette.domain.model import DAILY, Edition, Event, Placed, RunKey, Window
from gazette.domain.ports.queues import LONGEST_DELAY
from gazette.domain.ports.rendering import Links
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.delivery.category_hold import count_expired, events_due, without_held
from gazette.steps.delivery.edition import edit
from gazette.steps.delivery.predecessors import (
    Preceding,
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

    `older`: what the runs before it leave to it. `held`: what the email leaves out, to be deferred
    before the claim. `expired`: what it would have shown in time, to be counted before the claim.
    `excluded`: as in Delivery. `newest`, `left_out`: as in Run.
    """

    run: Run
    older: Preceding
    window: Window
    edition: Edition
    subscriber: Subscriber
    links: Links
    variant: Variant
    newest: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    held: Sequence[Event] = ()
    expired: Sequence[Placed] = ()
    excluded: int = 0


def prepare(key: RunKey, *, by: DeliveryContext) -> Prepared | Delivery | None:
    """Read the run, the older ones, its events and its reader, in this order, and render.

    A Delivery where nothing is to be sent, or not now, or another run sends it; None: there is no
    such run. Raises Overtaken where what was read has changed before it was taken out of the
    window. The run is read before the stops are, so that a claim on what was read fails where one
    came meanwhile (rule 11).
    """
    chain = chain_of(key, runs=by.runs)
    if chain is None:
        return None
    run = settle_if_overdue(
        chain.run, runs=by.runs, clock=by.clock, evidence_grace=by.limits.evidence_grace
    )
    if run.status not in {Status.PENDING, Status.RETRYING}:
        return Delivery(run)
    if (not_before := _not_before(run, chain.older, by.limits)) > by.clock():
        waiting_for = WaitingFor.PAUSE_OVER if run.retry_at else WaitingFor.COLLECTED
        return Delivery(run, not_before, waiting_for)
    if run.is_unclaimed and gives_way(chain.newer, runs=by.runs):
        return _left_to_a_later_number(run, chain.newer[0], by)
    if _is_too_late(run, by):
        return _skipped(run, Reason.TOO_LATE, by)
    older = settle_older(
        run,
        chain.others,
        runs=by.runs,
        clock=by.clock,
        evidence_grace=by.limits.evidence_grace,
    )
    if older.unsettled:
        again_at = _when_settled(older.unsettled, by.clock())
        return Delivery(run, again_at, WaitingFor.OLDER_RUN)

    window = window_of(run, older.since, until=by.clock() - by.limits.settle_lag)
    excluded = 0
    while (due := events_due(run, older, window, by=by)).sent or due.held:
        subscriber = by.subscribers.get(key.user_id)
        if not isinstance(subscriber, Subscriber) or not subscriber.is_written_to:
            return _skipped(run, why_not_sent(subscriber), by)
        if instead := without_held(run, due, excluded=excluded, by=by):
            return replace(instead, expired=count_expired(due.expired, by=by))
        links = by.link_maker.links(key)
        variant = variant_of(key.user_id, by.desk.experiment())
        edition = edit(
            run,
            due.sent,
            subscriber,
            links,
            variant=variant,
            desk=by.desk,
            may_have_gone=due.may_have_gone,
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
    give_up_carried(older, runs=by.runs)
    done = _skipped(run, Reason.EXPIRED if due.expired else Reason.EMPTY, by, excluded)
    return replace(done, expired=count_expired(due.expired, by=by))


def _left_to_a_later_number(run: Run, newest: Run, by: DeliveryContext) -> Delivery:
    """It ends, and what the others have not taken goes with the newest, or one behind that.

    Sent under its own number, it would stand before what was sent earlier, and nobody who looks
    back would find it.
    """
    if not newest.is_unclaimed:
        check_after = run.check_at - run.due_at
        newest = start_behind(newest, runs=by.runs, clock=by.clock, check_after=check_after)
    apply(run, Cancel(Reason.SUPERSEDED), runs=by.runs)
    return Delivery(newest, by.clock(), WaitingFor.COLLECTED)


def _skipped(run: Run, reason: Reason, by: DeliveryContext, excluded: int = 0) -> Delivery:
    return Delivery(apply(run, Skip(reason), runs=by.runs), excluded=excluded)


def _not_before(run: Run, older: Sequence[Run], limits: DeliveryLimits) -> datetime:
    """Before when it is not sent: a pause after a refusal, or what it still collects.

    And what any run collects that it will supersede: one that a redrive starts is due at once.
    """
    if run.retry_at is not None:
        return run.retry_at
    if run.key.is_immediate:
        collecting = (run, *(each for each in older if each.is_unclaimed))
        return max(each.due_at for each in collecting) + limits.settle_lag
    return BEGINNING


def _when_settled(older: Run, now: datetime) -> datetime:
    """Roughly: a claimant ends within its deadline, the sweep soon after the grace period.

    An unknown outcome that is older waits for a proof that delivery events come in, and may do so
    for hours.
    """
    expected = older.deadline if older.status is Status.SENDING else older.check_at
    if expected is None or expected < now:
        return now + LONGEST_DELAY
    return expected + _SOON


def _is_too_late(run: Run, by: DeliveryContext) -> bool:
    """Of what comes daily: its events go with the next one.

    What may be rarer goes out late rather than much later; and for one that was tried in time and
    refused, its pauses count.
    """
    is_daily = run.key.schedule == DAILY
    return is_daily and not run.refusals and by.clock() - run.due_at > by.limits.max_lateness
