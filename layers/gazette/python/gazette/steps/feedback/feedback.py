"""Process a delivery event of an email."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from gazette.domain.commands import MarkActive
from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import Evidence
from gazette.domain.errors import ForeignEvent, InvalidReport, Unavailable
from gazette.domain.feedback.delivery_events import (
    AGAINST_RECIPIENT,
    DeliveryEvent,
    DeliveryEventType,
    EngagementEvent,
    Mark,
    acceptance_of,
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
    """The counts of delivery events by category, and the category holds that the counts trigger."""

    category_stats: CategoryStats
    holds: CategoryHolds
    tell: Callable[[CategoryHold], None]
    """A function that is called immediately for each new hold.

    The call is immediate because an event that is redelivered after a crash is not counted again.
    """

    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackContext:
    """The dependencies for processing delivery events."""

    runs: Runs
    evidence_log: EvidenceLog
    engagements: Engagements
    quarantine: Quarantine
    bus: Bus
    signs_of_life: Collection[DeliveryEventType]
    """The types of events that count as activity of the subscriber."""

    category_stats: CategoryStatsContext | None
    """The counts by category. None if the stage does not put categories on hold."""

    suppression: SuppressionContext


@dataclass(frozen=True, slots=True)
class Recorded:
    """The stored run of a delivery event. None if the event names no run or an expired run."""

    run: Run | None
    is_first: bool = False
    """True for the first event of this kind for the email."""

    is_of_unknown_attempt: bool = False
    """True if the event names an attempt for which no claim was made."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A delivery event with its run, and the cause of suppression if the recipient was
    suppressed.
    """

    event: DeliveryEvent
    recorded: Recorded
    suppressed: Cause | None


def process_delivery_event(
    body: str, *, decode: Callable[[str], DeliveryEvent | None], context: FeedbackContext
) -> Feedback | str | None:
    """Decode the delivery event in a message, and process it. Safe to repeat.

    Returns None if `body` does not belong to an email of this installation. If a service published
    `body`, it is returned to the quarantine, because an operator redrove it to the wrong queue and
    no other copy exists. Returns the reason if a service's report is invalid or not proven. Such a
    report is quarantined too, because a retry would not help.

    Raises InvalidEvent if the provider's event cannot be decoded or does not name its recipient.
    """
    try:
        event = decode(body)
    except ForeignEvent as err:
        context.quarantine.keep(body, str(err))
        return None
    except InvalidReport as err:
        context.quarantine.keep(body, str(err))
        return str(err)
    return None if event is None else process(event, body, context=context)


def process(event: DeliveryEvent, body: str, *, context: FeedbackContext) -> Feedback:
    """Record the event, count it for the categories of its email, and suppress its recipient.

    Safe to repeat after a crash at any point. The event is recorded first, because it is evidence
    even if it does not name its recipient. Only the first event of a kind is counted. `body` is the
    message that is quarantined if the event names an unknown attempt.

    Raises InvalidEvent if the event does not name its recipient.
    """
    recorded = record_event(event, body, context=context)
    if recorded.run and not recorded.is_of_unknown_attempt:
        _record_acceptance(event, recorded.run, context=context)
    if context.category_stats and recorded.run and recorded.is_first:
        _count_event(event, recorded.run, context=context.category_stats)
    suppressed = None
    if event.type in AGAINST_RECIPIENT:
        suppressed = suppress_recipient(event, context=context.suppression)
    return Feedback(event, recorded, suppressed)


def record_event(event: DeliveryEvent, body: str, *, context: FeedbackContext) -> Recorded:
    """Settle the run that the delivery event names. The event may arrive late and repeatedly (rule
    8).

    After that, the event is logged as proof that delivery events arrive. Its engagement is stored
    unless a scanner clicked, and the reader's activity is published to the bus. An event of an
    unknown attempt does not settle the run; the event's `body` is quarantined with the reason.
    """
    run = context.runs.get(event.run) if event.run else None
    if run and not run.knows(event.attempt):
        context.quarantine.keep(body, _unknown_attempt(event, run))
        return Recorded(run, is_of_unknown_attempt=True)
    if run and event.type is not DeliveryEventType.RENDERING_FAILED:
        proof = Evidence(event.attempt, event.message_id, at=event.sent_at)
        run = apply(run, proof, runs=context.runs)
    if (
        not event.is_reported
    ):  # a report does not prove that SES's events arrive, as `resend` requires
        context.evidence_log.record(event.sent_at)
    engagement = engagement_of(event)
    if run is None or engagement is None:
        return Recorded(run)
    is_first = context.engagements.record(run, engagement, event.happened_at)
    if event.type in context.signs_of_life or _is_reported_click(event):
        _mark_active(run, event, context.bus)
    return Recorded(run, is_first)


def _is_reported_click(event: DeliveryEvent) -> bool:
    """Return True for a click that a service reports, which counts in every stage.

    The setting `track_clicks` concerns only SES.
    """
    return event.is_reported and event.type is DeliveryEventType.CLICKED


def _record_acceptance(event: DeliveryEvent, run: Run, *, context: FeedbackContext) -> None:
    """Record and count that the email was sent, if the event has to stand for its acceptance."""
    accepted = acceptance_of(event)
    if accepted is None:
        return
    is_first = context.engagements.record(run, EngagementEvent.SENT, accepted.sent_at)
    if is_first and context.category_stats:
        _count_event(accepted, run, context=context.category_stats)


def _unknown_attempt(event: DeliveryEvent, run: Run) -> str:
    return (
        f"A delivery event names attempt {event.attempt} of run {run_id(run.key)}, but only "
        f"{run.attempt} were made. Another run had the same id, or the table was restored to an "
        "earlier time. The event does not settle the run, and the events of its email may be sent "
        "again."
    )


def _mark_active(run: Run, event: DeliveryEvent, bus: Bus) -> None:
    if not bus.put([MarkActive(run.key.user_id, event.happened_at)]):
        raise Unavailable(
            "The bus did not accept a subscriber's activity. The message will be retried."
        )


def _count_event(event: DeliveryEvent, run: Run, *, context: CategoryStatsContext) -> None:
    """Count the event for each category in its email. Put categories that reach a threshold on
    hold.

    Only the first event of a kind is counted, so that an email counts once. A crash may lose a
    count. A lost response may count an email twice, because the AWS client retries the call. The
    next bounce or complaint checks the counts again.
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
