"""What bounces and complaints do to an address: it is suppressed if they are bad enough."""

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
    """The tables by which an address, and who reads there, is stopped."""

    suppressions: Suppressions
    bounces: Bounces
    subscribers: Subscribers
    schedules: Schedules
    runs: Runs
    soft_limit: SoftLimit


def heed(report: DeliveryEvent, *, by: SuppressionContext) -> Cause | None:
    """Suppress the address that the report speaks against, if it is bad enough; returns why.

    Safe to repeat, in any order: soft bounces are counted by the message, and the greater cause
    stays. What is no message to a reader, such as the canary, is not heeded. Raises InvalidEvent
    where it does not say whom it speaks against: somebody has to look.
    """
    if report.flaw:
        raise InvalidEvent(report.flaw)
    if report.fault is None or report.run is None:
        return None
    cause = _CAUSES.get(report.fault)
    if report.fault in _COUNTED:
        bounced = by.bounces.remember(report.address, report.message_id, report.sent_at)
        cause = Cause.BOUNCED if by.soft_limit.is_reached(bounced) else None
    if cause is None:
        return None
    by.suppressions.add(report.address, cause)
    stop_reader(
        report.run.user_id,
        report.address,
        subscribers=by.subscribers,
        schedules=by.schedules,
        runs=by.runs,
    )
    return cause
