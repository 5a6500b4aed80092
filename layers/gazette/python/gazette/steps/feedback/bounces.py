"""Suppression of recipients after bounces and complaints."""

from collections.abc import Collection
from dataclasses import dataclass

from gazette.domain.delivery.run import Status
from gazette.domain.errors import InvalidEvent
from gazette.domain.feedback.delivery_events import DeliveryEvent, Fault
from gazette.domain.feedback.reports import reported_ids
from gazette.domain.model import RunKey
from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.stores import Bounces, Subscribers, Suppressions
from gazette.domain.stored import readable
from gazette.domain.subscribers.suppression import Cause, SoftBounce, SoftLimit
from gazette.steps.subscribers.suppress import stop_reader

_CAUSES = {Fault.HARD: Cause.BOUNCED, Fault.COMPLAINT: Cause.COMPLAINED}
_COUNTED = {Fault.SOFT, Fault.UNDETERMINED}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionContext:
    """The tables for suppressing an address and stopping the subscriber who has this address."""

    suppressions: Suppressions
    bounces: Bounces
    subscribers: Subscribers
    schedules: Schedules
    runs: Runs
    soft_limit: SoftLimit


def suppress_recipient(event: DeliveryEvent, *, context: SuppressionContext) -> Cause | None:
    """Suppress the recipient after a hard bounce, a complaint or too many soft bounces.

    Returns the cause, or None. Safe to repeat, in any order, because soft bounces are counted by
    message and the more serious cause is kept. Ignores events about emails that were not sent to a
    subscriber, such as the canary.

    Raises InvalidEvent if the event does not name its recipient, so that an operator checks the
    event.
    """
    if event.flaw:
        raise InvalidEvent(event.flaw)
    if event.fault is None or event.run is None:
        return None
    cause = _CAUSES.get(event.fault)
    if event.fault in _COUNTED:
        bounced = context.bounces.remember(
            event.address, SoftBounce(event.sent_at, event.message_id)
        )
        cause = Cause.BOUNCED if _are_too_many(bounced, event.run, context) else None
    if cause is None:
        return None
    context.suppressions.add(event.address, cause)
    stop_reader(
        event.run.user_id,
        event.address,
        subscribers=context.subscribers,
        schedules=context.schedules,
    )
    return cause


def _are_too_many(
    bounced: Collection[SoftBounce], bounced_now: RunKey, context: SuppressionContext
) -> bool:
    """Return True if there are too many consecutive soft bounces.

    The runs are read only if there may be too many. A sent run without a known bounce counts as
    delivered. A delivery event may prove the delivery, but a stage need not report deliveries
    (`report_deliveries`). A later bounce repeats the check.
    """
    limit, sent = context.soft_limit, [each.sent_at for each in bounced]
    if limit.is_reached(sent):
        return True
    if not limit.is_reached_in_a_row(sent, ()):
        return False
    messages = {each.message_id for each in bounced}
    arrived = (
        run.sent_at
        for run in readable(context.runs.of_user(bounced_now.user_id))
        if run.status is Status.SENT
        and run.sent_at
        and run.message_id
        and run.message_id not in messages
        and messages.isdisjoint(reported_ids(run.key, run.attempt))
        # The email may have been sent twice, and the stored id may be the other email's.
        and run.key != bounced_now
    )
    return limit.is_reached_in_a_row(sent, arrived)
