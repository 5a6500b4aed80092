"""Process the delivery events of emails."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from gazette.domain.commands import MarkActive
from gazette.domain.delivery.run import Run, Status
from gazette.domain.delivery.signals import Evidence
from gazette.domain.errors import (
    ForeignEvent,
    InvalidReport,
    Unavailable,
    UnreadableRow,
)
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
from gazette.domain.model import RunKey
from gazette.domain.ports.bus import Bus
from gazette.domain.ports.clock import Clock, TimeLeft
from gazette.domain.ports.ledgers import CategoryHolds, CategoryStats, Engagements, Runs
from gazette.domain.ports.mail import EvidenceLog
from gazette.domain.ports.queues import Quarantine
from gazette.domain.subscribers.suppression import Cause
from gazette.steps.feedback.bounces import SuppressionContext, suppress_recipient
from gazette.steps.runs import apply
from gazette.steps.time_budget import require_time, result_or_error


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

    was_sent: bool = False
    """True if the run had the status sent before the event was processed."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A delivery event with its run, and the cause of suppression if the recipient was
    suppressed.
    """

    event: DeliveryEvent
    recorded: Recorded
    suppressed: Cause | None


Result = Feedback | str | None | Exception
"""The result of a message. An error means that the message must be retried."""


LEAST_TIME = timedelta(seconds=15)
"""The time that must be left of the invocation before a delivery event is processed.

It is enough to process one event while a table responds slowly, and to hide the failed messages.
"""


def process_delivery_events(
    bodies: Sequence[str],
    time_left: TimeLeft,
    *,
    decode: Callable[[str], DeliveryEvent | None],
    context: FeedbackContext,
) -> Iterator[Result]:
    """Decode and process the delivery events in messages, and yield the results in their order.

    Safe to repeat. The runs of all events are read together, so a run may have changed before its
    event is processed, as if the worker had paused. No message fails because of another message. If
    the runs cannot be read together, the run of each event is read alone.

    A result is None if the message does not belong to an email of this installation. If a service
    published the message, it is returned to the quarantine, because an operator redrove it to the
    wrong queue and no other copy exists. A result is the reason if a service's report is invalid or
    not proven. Such a report is quarantined too, because a retry would not help. A result is
    InvalidEvent if the provider's event cannot be decoded or does not name its recipient, and
    NotYet if too little time is left.
    """
    events = [
        result_or_error(partial(_decoded, body, decode, context=context, time_left=time_left))
        for body in bodies
    ]
    keys = {event.run for event in events if isinstance(event, DeliveryEvent) and event.run}
    runs = _NamedRuns(keys, context.runs)
    for body, event in zip(bodies, events, strict=True):
        if not isinstance(event, DeliveryEvent):
            yield event
            continue
        process = partial(_process, event, body, runs, context=context, time_left=time_left)
        result = result_or_error(process)
        if isinstance(result, Feedback):
            runs.remember(result.recorded.run)
        yield result


class _NamedRuns:
    """The runs that a batch of delivery events names, as they were read or changed last."""

    def __init__(self, keys: Collection[RunKey], runs: Runs) -> None:
        self._runs = runs
        read = result_or_error(partial(runs.get_many, keys)) if keys else {}
        self._are_read = not isinstance(read, Exception)
        self._by_key = {} if isinstance(read, Exception) else dict(read)

    def get(self, key: RunKey) -> Run | None:
        """Return the run. Raises the error with which it could not be read."""
        if not self._are_read and key not in self._by_key:
            return self._runs.get(key)
        run = self._by_key.get(key)
        if isinstance(run, UnreadableRow):
            raise run
        return run

    def remember(self, run: Run | None) -> None:
        """Replace the run by its later state."""
        if run:
            self._by_key[run.key] = run


def _decoded(
    body: str,
    decode: Callable[[str], DeliveryEvent | None],
    *,
    context: FeedbackContext,
    time_left: TimeLeft,
) -> DeliveryEvent | str | None:
    require_time(time_left, least=LEAST_TIME)
    try:
        return decode(body)
    except ForeignEvent as err:
        context.quarantine.keep(body, str(err))
        return None
    except InvalidReport as err:
        context.quarantine.keep(body, str(err))
        return str(err)


def _process(
    event: DeliveryEvent,
    body: str,
    runs: _NamedRuns,
    *,
    context: FeedbackContext,
    time_left: TimeLeft,
) -> Feedback:
    """Record the event, count it for the categories of its email, and suppress its recipient.

    Safe to repeat after a crash at any point. The event is recorded first, because it is evidence
    even if it does not name its recipient. Only the first event of a kind is counted. `body` is the
    message that is quarantined if the event names an unknown attempt.

    Raises InvalidEvent if the event does not name its recipient.
    """
    require_time(time_left, least=LEAST_TIME)
    run = runs.get(event.run) if event.run else None
    recorded = _record_event(event, body, run, context=context)
    if recorded.run and not recorded.is_of_unknown_attempt:
        _record_acceptance(event, recorded.run, context=context)
    if context.category_stats and recorded.run and recorded.is_first:
        _count_event(event, recorded.run, context=context.category_stats)
    suppressed = None
    if event.type in AGAINST_RECIPIENT:
        suppressed = suppress_recipient(event, context=context.suppression)
    return Feedback(event, recorded, suppressed)


def _record_event(
    event: DeliveryEvent, body: str, run: Run | None, *, context: FeedbackContext
) -> Recorded:
    """Settle the run that the delivery event names. The event may arrive late and repeatedly (rule
    8).

    After that, the event is logged as proof that delivery events arrive. Its engagement is stored
    unless a scanner clicked, and the reader's activity is published to the bus. An event of an
    unknown attempt does not settle the run; the event's `body` is quarantined with the reason.
    """
    if run and not run.knows(event.attempt):
        context.quarantine.keep(body, _unknown_attempt(event, run))
        return Recorded(run, is_of_unknown_attempt=True)
    was_sent = bool(run and run.status is Status.SENT)
    if run and event.type is not DeliveryEventType.RENDERING_FAILED:
        proof = Evidence(event.attempt, event.message_id, at=event.sent_at)
        run = apply(run, proof, runs=context.runs)
    if (
        not event.is_reported
    ):  # a report does not prove that SES's events arrive, as `resend` requires
        context.evidence_log.record(event.sent_at)
    engagement = engagement_of(event)
    if run is None or engagement is None:
        return Recorded(run, was_sent=was_sent)
    is_first = context.engagements.record(run, engagement, event.happened_at)
    if event.type in context.signs_of_life or _is_reported_click(event):
        _mark_active(run, event, context.bus)
    return Recorded(run, is_first, was_sent=was_sent)


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
