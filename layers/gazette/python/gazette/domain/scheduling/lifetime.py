"""The time in which an event can be sent, and in which its row is kept. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

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
"""The longest delay of a run: SQS keeps its message that long, also in a dead-letter queue.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
"""

SHORTEST_LIFE = timedelta(days=35)
"""The shortest lifetime: two weeks and the margin, enough for weekly and more frequent digests."""

_MONTH = 31 * _DAY
_BETWEEN: Mapping[str, timedelta] = MappingProxyType(
    {Frequency.DAILY: _DAY, Frequency.WEEKLY: 7 * _DAY, Frequency.CUSTOM: _MONTH}
)
"""The longest time between two occurrences. The rarest digests are monthly."""

_DELETED_WITHIN = timedelta(days=3)
"""The time for which an expired event stays stored, so that a late run still finds it.

DynamoDB may take a few days more.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
"""

_CLOCKS = 2 * _DAY
"""An upper bound for the shift of a date by time zones and their changes."""


def lasts_until(recurrence: Recurrence | None, now: datetime, *, least: timedelta) -> datetime:
    """Return the time up to which an event stored at `now` can be sent: at least for `least`.

    `recurrence`: the recurrence of its schedule; None if it is not a digest.
    """
    return max(now + least, needed_until(recurrence, now) or now)


def needed_until(recurrence: Recurrence | None, now: datetime) -> datetime | None:
    """Return the time up to which an event must last that waits at `now` for a schedule due as
    `recurrence`.

    That is MARGIN after the second occurrence from now, or from the end of a current pause. None if
    SHORTEST_LIFE is longer, which needs no calendar.
    """
    if recurrence is None or not (is_rare(recurrence.days) or _is_paused(recurrence, now)):
        return None
    return next_occurrence(recurrence, after=next_occurrence(recurrence, after=now)) + MARGIN


def is_rare(days: Days) -> bool:
    """Return True if more than a week may lie between two digests."""
    return days.every > 1 or days.month_day is not None


def kept_until(end: datetime, schedule: str) -> datetime:
    """Return the time up to which to keep the row of an event that can be sent until `end`.

    So the next run of the schedule still finds the event, and counts it as expired.
    """
    return end + _BETWEEN.get(schedule, timedelta(0)) + _DELETED_WITHIN


def longest_life(least: timedelta) -> timedelta:
    """Return the longest lifetime of an event that does not move: monthly, with the longest
    pause."""
    return max(least, LONGEST_PAUSE + 2 * _MONTH + MARGIN + _CLOCKS)


def longest_kept(least: timedelta) -> timedelta:
    """Return the longest time that an event's row is kept after `lasts_until` was set last."""
    return longest_life(least) + _MONTH + _DELETED_WITHIN


def _is_paused(recurrence: Recurrence, now: datetime) -> bool:
    until = recurrence.paused_until
    return until is not None and Pause(until, recurrence.time_zone).holds_at(now)
