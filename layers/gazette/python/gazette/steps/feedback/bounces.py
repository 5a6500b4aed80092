"""Bounces and complaints: when they suppress the recipient."""

from dataclasses import dataclass

from gazette.domain.errors import InvalidEvent
from gazette.domain.feedback.delivery_events import DeliveryEvent, Fault
from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.stores import Bounces, Subscribers, Suppressions
from gazette.domain.subscribers.suppression import Cause, SoftLimit
from gazette.steps.subscribers.suppress import stop_reader

_CAUSES = {Fault.HARD: Cause.BOUNCED, Fault.COMPLAINT: Cause.COMPLAINED}
_COUNTED = {Fault.SOFT, Fault.UNDETERMINED}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionContext:
    """The tables by which an address, and the subscriber who has it, are stopped."""

    suppressions: Suppressions
    bounces: Bounces
    subscribers: Subscribers
    schedules: Schedules
    runs: Runs
    soft_limit: SoftLimit


def suppress_recipient(event: DeliveryEvent, *, context: SuppressionContext) -> Cause | None:
    """Suppress the recipient after a hard bounce, a complaint or too many soft bounces.

    Returns the cause, or None. Safe to repeat, in any order: soft bounces are counted by message,
    and the graver cause stays. Ignores what is no email to a subscriber, such as the canary.

    Raises InvalidEvent where the event does not name its recipient: a person has to look.
    """
    if event.flaw:
        raise InvalidEvent(event.flaw)
    if event.fault is None or event.run is None:
        return None
    cause = _CAUSES.get(event.fault)
    if event.fault in _COUNTED:
        bounced = context.bounces.remember(event.address, event.message_id, event.sent_at)
        cause = Cause.BOUNCED if context.soft_limit.is_reached(bounced) else None
    if cause is None:
        return None
    context.suppressions.add(event.address, cause)
    stop_reader(
        event.run.user_id,
        event.address,
        subscribers=context.subscribers,
        schedules=context.schedules,
        runs=context.runs,
    )
    return cause
