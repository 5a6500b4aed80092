"""What becomes of an email after it was sent: one delivery event, worked off from its message."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from gazette.domain.commands import MarkActive
from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import Evidence
from gazette.domain.errors import ForeignEvent, Unavailable
from gazette.domain.feedback.delivery_events import (
    AGAINST_RECIPIENT,
    DeliveryEvent,
    DeliveryEventType,
    Mark,
    engagement_of,
    mark_of,
)
from gazette.domain.feedback.reputation import SPAN, CategoryHold, category_hold, hold_reason
from gazette.domain.identity import run_id
from gazette.domain.ports.bus import Bus
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import CategoryHolds, CategoryStats, Engagements, Runs
from gazette.domain.ports.mail import EvidenceLog
from gazette.domain.ports.queues import Quarantine
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.feedback.bounces import SuppressionContext, suppress_recipient
from gazette.steps.runs import apply


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryStatsContext:
    """The counts, and the holds that they lead to. `tell` is called for each new hold, at once:
    after a crash the event is no longer the first of its kind, and counts nothing.
    """

    category_stats: CategoryStats
    holds: CategoryHolds
    tell: Callable[[CategoryHold], None]
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackContext:
    """What delivery events are worked off with.

    `signs_of_life`: the types that show that a subscriber is active. `category_stats`: None where
    the stage holds no categories.
    """

    runs: Runs
    evidence_log: EvidenceLog
    engagements: Engagements
    quarantine: Quarantine
    bus: Bus
    signs_of_life: Collection[DeliveryEventType]
    category_stats: CategoryStatsContext | None
    suppression: SuppressionContext


@dataclass(frozen=True, slots=True)
class Recorded:
    """The run of a delivery event as it is stored; None where the event names none, or one that
    has expired.

    `is_first`: it is the first event of its kind for that email. `is_of_unknown_attempt`: it names
    an attempt that nobody claimed.
    """

    run: Run | None
    is_first: bool = False
    is_of_unknown_attempt: bool = False


@dataclass(frozen=True, slots=True)
class Feedback:
    """A delivery event, what was recorded, and why its recipient was suppressed, if it was."""

    event: DeliveryEvent
    recorded: Recorded
    suppressed: Cause | None


def process_delivery_event(
    body: str, *, decode: Callable[[str], DeliveryEvent | None], context: FeedbackContext
) -> Feedback | None:
    """Record the event, count it for the categories of its email, and suppress its recipient.

    Returns None where `body` is about no email of this installation. A body that a service put on
    the bus goes back to the quarantine: somebody redrove it to the wrong queue, and there is no
    other copy of it. Safe to repeat after a crash at any point. Recorded first, because it is
    evidence even where it does not say which recipient it is about; and only the first event of a
    kind is counted.

    Raises InvalidEvent where it cannot be decoded or does not name its recipient.
    """
    try:
        event = decode(body)
    except ForeignEvent as err:
        context.quarantine.keep(body, str(err))
        return None
    if event is None:
        return None
    recorded = record_event(event, body, context=context)
    if context.category_stats and recorded.run and recorded.is_first:
        _count_event(event, recorded.run, context=context.category_stats)
    suppressed = None
    if event.type in AGAINST_RECIPIENT:
        suppressed = suppress_recipient(event, context=context.suppression)
    return Feedback(event, recorded, suppressed)


def record_event(event: DeliveryEvent, body: str, *, context: FeedbackContext) -> Recorded:
    """Settle the run that the event names, however late and however often it comes (rule 8).

    Only then is the event logged as proof that events come in. Its engagement is stored, unless a
    scanner clicked, and a sign of life goes on the bus. An event of an unknown attempt settles
    nothing: its `body` goes to quarantine, with the reason.
    """
    run = context.runs.get(event.run) if event.run else None
    if run and not run.knows(event.attempt):
        context.quarantine.keep(body, _unknown_attempt(event, run))
        return Recorded(run, is_of_unknown_attempt=True)
    if run and event.type is not DeliveryEventType.RENDERING_FAILED:
        proof = Evidence(event.attempt, event.message_id, at=event.sent_at)
        run = apply(run, proof, runs=context.runs)
    context.evidence_log.record(event.sent_at)
    engagement = engagement_of(event)
    if run is None or engagement is None:
        return Recorded(run)
    is_first = context.engagements.record(run, engagement, event.happened_at)
    if event.type in context.signs_of_life:
        _mark_active(run, event, context.bus)
    return Recorded(run, is_first)


def _unknown_attempt(event: DeliveryEvent, run: Run) -> str:
    return (
        f"SES names attempt {event.attempt} of run {run_id(run.key)}, but {run.attempt} were made. "
        "Another run had the same id, or the table was restored to an earlier time. The event "
        "settles nothing, and what its email showed may be sent again."
    )


def _mark_active(run: Run, event: DeliveryEvent, bus: Bus) -> None:
    if not bus.put([MarkActive(run.key.user_id, event.happened_at)]):
        raise Unavailable("The bus did not accept a sign of life. The message will be retried.")


def _count_event(event: DeliveryEvent, run: Run, *, context: CategoryStatsContext) -> None:
    """Count the event for each category that its email showed, and hold those at a threshold.

    For the first event of a kind alone, so that an email counts once. A crash loses a count; a lost
    answer may count the email twice, because AWS's client repeats the call. The next bounce or
    complaint looks at the counts again.
    """
    mark = mark_of(event)
    if mark is None:
        return
    for category in run.categories:
        context.category_stats.add(category, mark, event.sent_at)
    if mark is Mark.SENT:
        return
    now = context.clock()
    for category in run.categories:
        if why := hold_reason(context.category_stats.since(category, now - SPAN)):
            hold = category_hold(category, why, now)
            if context.holds.add(hold):
                context.tell(hold)
