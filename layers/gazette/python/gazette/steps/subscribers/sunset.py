"""Readers without a sign of life for long are dormant, until the next one."""

from dataclasses import replace
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Reason, why_not_sent
from gazette.domain.outcome import Outcome
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.stores import Subscribers
from gazette.domain.subscribers.subscriber import Erased, Subscriber, SubscriberStatus
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import ScheduleContext
from gazette.steps.subscribers.schedules import is_active, set_schedules, withdraw_if_left

_ASK_AGAIN = timedelta(days=45)
"""How long a reader counts as active if the installation has no sunset."""


def active_until(
    user_id: str, *, subscribers: Subscribers, sunset: timedelta | None, clock: Clock
) -> datetime | Reason:
    """Until when a reader is certainly active, or why no digest is scheduled for them any more.

    A reader without a sign of life for `sunset` becomes dormant here. If a reason is returned, the
    caller takes the schedules out of the due index. That also removes schedules of readers who
    left, which a crash kept in it; so this is asked for every reader from time to time.
    """
    for _ in ATTEMPTS:
        reader = subscribers.get(user_id)
        if not is_active(reader):
            return why_not_sent(reader)
        until = reader.dormant_at(sunset) if sunset else clock() + _ASK_AGAIN
        if clock() < until:
            return until
        if subscribers.set_dormant(reader):
            return Reason.DORMANT
    raise kept_changing(f"The profile of {user_id}")


def mark_active(user_id: str, at: datetime, *, context: ScheduleContext) -> Outcome:
    """Store the date of a sign of life; a dormant reader resumes. Safe to repeat, in any order.

    At most one write a day changes anything. For a reader who may be dormant, the status is written
    first, then the schedules, and the date last: so a redelivery completes what a crash cut off,
    and a worker that makes the reader dormant at the same time is noticed at the end.
    """
    for _ in ATTEMPTS:
        reader = context.subscribers.get(user_id)
        if isinstance(reader, Erased):
            return Outcome.ERASED
        resumes = reader is not None and _may_be_dormant(reader, at, context)
        if reader is not None and resumes and not _resume(reader, at, context):
            continue
        if reader is None or reader.active_on is None or reader.active_on < at.date():
            context.subscribers.mark_active(user_id, at.date())
        if not resumes:
            return Outcome.ACTIVE
    raise kept_changing(f"The profile of {user_id}")


def _may_be_dormant(reader: Subscriber, at: datetime, context: ScheduleContext) -> bool:
    """Whether a sign of life may change more than the date. One older than the sunset does not.

    If the sunset was switched off, any sign of life resumes a reader who is still dormant.
    """
    sunset = context.sunset
    if reader.has_left or (sunset and at < context.clock() - sunset):
        return False
    is_dormant = reader.status is SubscriberStatus.DORMANT
    return is_dormant or reader.is_overdue_at(at, sunset) or _is_resuming(reader, at)


def _is_resuming(reader: Subscriber, at: datetime) -> bool:
    """Whether the reader resumed, but no date since was stored: a crash may have cut it off.

    That includes a sign of life from before the reader resumed, whose message came late.
    """
    if reader.resumed_at is None:
        return False
    ended_on = min(reader.resumed_at.date(), at.date())
    return reader.active_on is None or reader.active_on < ended_on


def _resume(reader: Subscriber, at: datetime, context: ScheduleContext) -> bool:
    """Make the reader active; False if the profile has changed meanwhile.

    A reader who is dormant by the date resumes as well: an event that was put while they were is
    not sent at once later.
    """
    resumed = reader
    is_dormant = reader.status is SubscriberStatus.DORMANT
    if is_dormant or reader.is_overdue_at(at, context.sunset):
        resumed = replace(reader.resumed(context.clock()), revision=reader.revision + 1)
        if not context.subscribers.put(resumed, replacing=reader):
            return False
    set_schedules(resumed, context=context, resumes=True)
    withdraw_if_left(reader.user_id, context=context)
    return True
