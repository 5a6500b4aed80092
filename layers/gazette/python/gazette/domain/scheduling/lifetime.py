"""The lifetimes of events and of their rows. An event can be sent during its lifetime. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from gazette.domain.model import StoredEvent
from gazette.domain.scheduling.calendar import (
    LONGEST_PAUSE,
    Days,
    Pause,
    Recurrence,
    next_occurrence,
)
from gazette.domain.subscribers.frequency import Frequency

_DAY = timedelta(days=1)

MARGIN = timedelta(days=14)
"""The maximum delay of a run. SQS keeps messages no longer than this, even in a dead-letter queue.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
"""

SHORTEST_LIFE = timedelta(days=35)
"""The shortest lifetime of an event, which is enough for weekly and more frequent digests.

It is two weeks plus MARGIN.
"""

_MONTH = 31 * _DAY
_BETWEEN: Mapping[str, timedelta] = MappingProxyType(
    {Frequency.DAILY: _DAY, Frequency.WEEKLY: 7 * _DAY, Frequency.CUSTOM: _MONTH}
)
"""The longest time between two occurrences. The least frequent digests are monthly."""

_DELETED_WITHIN = timedelta(days=3)
"""The time for which an expired event stays stored, so that a late run still finds the event.

DynamoDB may take a few days longer to delete the row.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
"""

_CLOCKS = 2 * _DAY
"""The maximum time by which time zones and clock changes can shift the start of a date."""


def lasts_until(recurrence: Recurrence | None, now: datetime, *, least: timedelta) -> datetime:
    """Return the time up to which an event stored at `now` can be sent.

    The result is at least `least` after `now`. `recurrence` is the recurrence of the event's
    schedule; None if the schedule is not a digest.
    """
    return max(now + least, needed_until(recurrence, now) or now)


def needed_until(recurrence: Recurrence | None, now: datetime) -> datetime | None:
    """Return the earliest time at which an event may expire, if it waits for a schedule at `now`.

    The result is MARGIN after the second occurrence, counted from `now` or from the end of a
    current pause. Return None if SHORTEST_LIFE is enough for the schedule; this check needs no
    calendar.
    """
    if recurrence is None or not (is_rare(recurrence.days) or _is_paused(recurrence, now)):
        return None
    return next_occurrence(recurrence, after=next_occurrence(recurrence, after=now)) + MARGIN


def longer_life(
    stored: StoredEvent, recurrence: Recurrence | None, now: datetime
) -> datetime | None:
    """Return the time up to which the lifetime of an event must be extended; None if it lasts long
    enough.

    `recurrence` is the recurrence of its schedule. The event may have been sent. So it lasts no
    longer than any event that was stored at the same time, and its run outlives it.
    """
    needed = needed_until(recurrence, now)
    if needed is None:
        return None
    until = min(needed, stored.stored_at + longest_life(timedelta(0)))
    return until if until > stored.lasts_until else None


def is_rare(days: Days) -> bool:
    """Return True if more than a week may pass between two digests."""
    return days.every > 1 or days.month_day is not None


def kept_until(end: datetime, schedule: str) -> datetime:
    """Return the time up to which the row of an event is kept.

    `end` is the time up to which the event can be sent.

    The next run of the schedule still finds the event and counts it as expired.
    """
    return end + _BETWEEN.get(schedule, timedelta(0)) + _DELETED_WITHIN


def longest_life(least: timedelta) -> timedelta:
    """Return the longest lifetime of an event that is not moved to a different schedule.

    That is the lifetime of an event in a monthly digest with the longest pause.
    """
    return max(least, LONGEST_PAUSE + 2 * _MONTH + MARGIN + _CLOCKS)


def longest_kept(least: timedelta) -> timedelta:
    """Return the maximum time for which an event's row is kept after `lasts_until` was last set."""
    return longest_life(least) + _MONTH + _DELETED_WITHIN


def seen_for(least: timedelta) -> timedelta:
    """Return the time for which a mark of a seen entity is kept.

    An event about the entity can arrive late by `least`, and wait for its longest lifetime. The
    service's clock may be ahead of Gazette's clock.
    """
    return longest_life(least) + least + _DAY


def withdrawn_for(least: timedelta) -> timedelta:
    """Return the time for which a withdrawal applies.

    An event of its actor or entity can arrive late by `least`, and its row is then kept for as long
    as possible. The browser view of an email shows the events whose rows are kept.
    """
    return longest_kept(least) + least + _DAY


def _is_paused(recurrence: Recurrence, now: datetime) -> bool:
    until = recurrence.paused_until
    return until is not None and Pause(until, recurrence.time_zone).holds_at(now)
