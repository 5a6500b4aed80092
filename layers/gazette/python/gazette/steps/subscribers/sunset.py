"""Make inactive readers dormant, and resume their email at their next activity."""

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
"""The time for which a reader counts as active if no sunset is configured."""


def active_until(
    user_id: str, *, subscribers: Subscribers, sunset: timedelta | None, clock: Clock
) -> datetime | Reason:
    """Return the time until which a reader is certainly active, or the reason why no digest is
    scheduled.

    A reader without activity for `sunset` becomes dormant here. If a reason is returned, the caller
    takes the schedules out of the due index. That also removes schedules of unsubscribed readers
    that a crash left in the index, so this function is called for every reader from time to time.
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
    """Store the date of an activity, and reactivate a dormant reader.

    Safe to repeat, in any order. At most one write per day changes the row. For a reader who may be
    dormant, the status is written first, then the schedules, and the date last. So a redelivery
    completes the steps that a crash prevented, and a worker that makes the reader dormant at the
    same time is detected at the end.
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
    """Return True if recording an activity may have to reactivate the reader.

    An activity that is older than the sunset does not reactivate the reader. If no sunset is
    configured, any activity reactivates a dormant reader.
    """
    sunset = context.sunset
    if reader.has_left or (sunset and at < context.clock() - sunset):
        return False
    is_dormant = reader.status is SubscriberStatus.DORMANT
    return is_dormant or reader.is_overdue_at(at, sunset) or _is_resuming(reader, at)


def _is_resuming(reader: Subscriber, at: datetime) -> bool:
    """Return True if no activity date was stored since the reader was reactivated, as after a
    crash.

    This includes activity from before the reactivation whose message was late.
    """
    if reader.resumed_at is None:
        return False
    ended_on = min(reader.resumed_at.date(), at.date())
    return reader.active_on is None or reader.active_on < ended_on


def _resume(reader: Subscriber, at: datetime, context: ScheduleContext) -> bool:
    """Make the reader active. Return False if the profile has changed in between.

    An inactive reader whose dormant status is not stored yet is also reactivated, so that an event
    from the dormant period is not sent as an immediate email later.
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
