"""Readers of whom nothing was seen for long rest, until their next sign of life."""

from dataclasses import replace
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Reason, why_not_sent
from gazette.domain.outcome import Outcome
from gazette.domain.ports.outside import Clock
from gazette.domain.ports.stores import Subscribers
from gazette.domain.subscribers.subscriber import Erased, Subscriber, SubscriberStatus
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import ScheduleContext
from gazette.steps.subscribers.schedules import is_active, set_schedules, withdraw_if_left

_ASK_AGAIN = timedelta(days=45)
"""How long a reader counts as active where nobody ever rests."""


def active_until(
    user_id: str, *, subscribers: Subscribers, sunset: timedelta | None, clock: Clock
) -> datetime | Reason:
    """Until when a reader is surely active, or why nobody visits them any more.

    One of whom nothing was seen for `sunset` rests from now on. Who asks takes the schedules of
    somebody who is not visited out of the due index: so also of who left while a crash kept them
    in it, which is why all are asked for now and then.
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
    """Remember the day of the latest sign of life, and end a rest. Safe to repeat, in any order.

    At most one write a day changes anything. Of a reader who may be resting, first the status,
    then the schedules, and the day at last: so what broke off goes on when the message comes
    again, and whoever lets them rest at the same time is found out at the end.
    """
    for _ in ATTEMPTS:
        reader = context.subscribers.get(user_id)
        if isinstance(reader, Erased):
            return Outcome.ERASED
        resumes = reader is not None and _may_be_dormant(reader, at, context)
        if reader is not None and resumes and not _resume(reader, context):
            continue
        if reader is None or reader.active_on is None or reader.active_on < at.date():
            context.subscribers.mark_active(user_id, at.date())
        if not resumes:
            return Outcome.ACTIVE
    raise kept_changing(f"The profile of {user_id}")


def _may_be_dormant(reader: Subscriber, at: datetime, context: ScheduleContext) -> bool:
    """Whether a sign of life changes more than its day. A late one, from before, does not.

    Where nobody rests any more, any wakes whoever still does.
    """
    sunset = context.sunset
    if reader.has_left or (sunset and at < context.clock() - sunset):
        return False
    is_overdue = sunset is not None and reader.dormant_at(sunset) <= at
    return reader.status is SubscriberStatus.DORMANT or is_overdue or _is_resuming(reader, at)


def _is_resuming(reader: Subscriber, at: datetime) -> bool:
    """Whether a rest has ended and no day since was remembered: what ended it may have broken off.

    Also of a sign of life from before the rest ended, which its report brought late.
    """
    if reader.resumed_at is None:
        return False
    ended_on = min(reader.resumed_at.date(), at.date())
    return reader.active_on is None or reader.active_on < ended_on


def _resume(reader: Subscriber, context: ScheduleContext) -> bool:
    """End the rest; False where the profile has changed meanwhile."""
    resumed = reader
    if reader.status is SubscriberStatus.DORMANT:
        resumed = replace(reader.resumed(context.clock()), revision=reader.revision + 1)
        if not context.subscribers.put(resumed, replacing=reader):
            return False
    set_schedules(resumed, context=context, resumes=True)
    withdraw_if_left(reader.user_id, context=context)
    return True
