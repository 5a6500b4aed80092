"""Readers of whom nothing was seen for long rest, until their next sign of life."""

from dataclasses import replace
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Reason, why_not_sent
from gazette.domain.errors import NotYet
from gazette.domain.outcome import Outcome
from gazette.domain.ports.outside import Clock
from gazette.domain.ports.stores import Subscribers
from gazette.domain.subscribers.subscriber import Erased, Subscriber, SubscriberStatus
from gazette.steps.context import Places
from gazette.steps.subscribers.schedules import is_active, set_schedules, withdraw_if_left

_CONFLICTS = 5

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
    for _ in range(_CONFLICTS):
        reader = subscribers.get(user_id)
        if not is_active(reader):
            return why_not_sent(reader)
        until = reader.rests_at(sunset) if sunset else clock() + _ASK_AGAIN
        if clock() < until:
            return until
        if subscribers.set_dormant(reader):
            return Reason.DORMANT
    raise NotYet(f"The profile of {user_id} kept changing. The shard will come again.")


def mark_active(user_id: str, at: datetime, *, places: Places) -> Outcome:
    """Remember the day of the latest sign of life, and end a rest. Safe to repeat, in any order.

    At most one write a day changes anything. Of a reader who may be resting, first the status,
    then the schedules, and the day at last: so what broke off goes on when the message comes
    again, and whoever lets them rest at the same time is found out at the end.
    """
    for _ in range(_CONFLICTS):
        reader = places.subscribers.get(user_id)
        if isinstance(reader, Erased):
            return Outcome.ERASED
        wakes = reader is not None and _may_rest(reader, at, places)
        if reader is not None and wakes and not _wake(reader, places):
            continue
        if reader is None or reader.active_on is None or reader.active_on < at.date():
            places.subscribers.mark_active(user_id, at.date())
        if not wakes:
            return Outcome.ACTIVE
    raise NotYet(f"The profile of {user_id} kept changing. The message will come again.")


def _may_rest(reader: Subscriber, at: datetime, places: Places) -> bool:
    """Whether a sign of life changes more than its day. A late one, from before, does not.

    Where nobody rests any more, any wakes whoever still does.
    """
    sunset = places.sunset
    if reader.has_left or (sunset and at < places.clock() - sunset):
        return False
    is_overdue = sunset is not None and reader.rests_at(sunset) <= at
    return reader.status is SubscriberStatus.DORMANT or is_overdue or _is_waking(reader, at)


def _is_waking(reader: Subscriber, at: datetime) -> bool:
    """Whether a rest has ended and no day since was remembered: what ended it may have broken off.

    Also of a sign of life from before the rest ended, which its report brought late.
    """
    if reader.awake_since is None:
        return False
    ended_on = min(reader.awake_since.date(), at.date())
    return reader.active_on is None or reader.active_on < ended_on


def _wake(reader: Subscriber, places: Places) -> bool:
    """End the rest; False where the profile has changed meanwhile."""
    awake = reader
    if reader.status is SubscriberStatus.DORMANT:
        awake = replace(reader.awake(places.clock()), revision=reader.revision + 1)
        if not places.subscribers.put(awake, replacing=reader):
            return False
    set_schedules(awake, places=places, wakes=True)
    withdraw_if_left(reader.user_id, places=places)
    return True
