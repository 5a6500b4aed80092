"""An address must not be written to: the row is written, then the reader is stopped."""

from dataclasses import dataclass, replace

from gazette.domain.errors import InvalidEvent
from gazette.domain.feedback.delivery_events import Fault, MailReport
from gazette.domain.identity import address_hash
from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.stores import Bounces, Subscribers, Suppressions
from gazette.domain.subscribers.subscriber import Reader, Subscriber, SubscriberStatus
from gazette.domain.subscribers.suppression import Cause, SoftLimit
from gazette.steps.subscribers.unsubscribe import put_out

_CAUSES = {Fault.HARD: Cause.BOUNCED, Fault.COMPLAINT: Cause.COMPLAINED}
_COUNTED = {Fault.SOFT, Fault.UNDETERMINED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressing:
    """The tables by which an address, and who reads there, is stopped."""

    suppressions: Suppressions
    bounces: Bounces
    subscribers: Subscribers
    schedules: Schedules
    runs: Runs
    soft_limit: SoftLimit


def heed(report: MailReport, *, by: Suppressing) -> Cause | None:
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


def stop_if_suppressed(
    reader: Reader,
    *,
    suppressions: Suppressions,
    subscribers: Subscribers,
    schedules: Schedules,
    runs: Runs,
) -> bool:
    """Stop a reader, as they were just read, whose address is suppressed all the same; says if so.

    Whoever suppressed it looked for its reader, and may have found another address or nobody, as
    where an operator names an address, or a complaint comes of who reads there under another id.
    Who is stopped already is so once more: a crash may have left them in the due index.
    """
    if not isinstance(reader, Subscriber) or reader.status is SubscriberStatus.UNSUBSCRIBED:
        return False
    address = address_hash(reader.email)
    if not suppressions.holds(address):
        return False
    stop_reader(reader.user_id, address, subscribers=subscribers, schedules=schedules, runs=runs)
    return True


def stop_reader(
    user_id: str, address: str, *, subscribers: Subscribers, schedules: Schedules, runs: Runs
) -> None:
    """Stop all email to a reader whose address is suppressed, if it still is theirs.

    Status first, then as for who leaves (rule 11). Who has unsubscribed stays so: no other address
    brings them back. After a crash, done again by whoever suppresses again.
    """
    while True:
        reader = subscribers.get(user_id)
        if not isinstance(reader, Subscriber) or address_hash(reader.email) != address:
            return
        if reader.has_left:
            break
        stopped = replace(reader, status=SubscriberStatus.SUPPRESSED, revision=reader.revision + 1)
        if subscribers.put(stopped, replacing=reader):
            break
    put_out(user_id, subscribers=subscribers, schedules=schedules, runs=runs)
