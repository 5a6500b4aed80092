"""How long an event can be sent, and how long its row is kept after that. Pure."""

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
"""A run may be held up for as long as SQS keeps its message, in a dead-letter queue too.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html"""

SHORTEST_LIFE = timedelta(days=35)
"""More than two weeks and the margin: enough for weekly and more frequent digests."""

_MONTH = 31 * _DAY
_BETWEEN: Mapping[str, timedelta] = MappingProxyType(
    {Frequency.DAILY: _DAY, Frequency.WEEKLY: 7 * _DAY, Frequency.CUSTOM: _MONTH}
)
"""The longest time between two occurrences: the rarest digests are monthly."""

_DELETED_WITHIN = timedelta(days=3)
"""A late run still finds events that have expired; DynamoDB may take a few days more.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html"""

_CLOCKS = 2 * _DAY
"""More than time zones and their changes move a date."""


def lasts_until(wanted: Recurrence | None, now: datetime, *, least: timedelta) -> datetime:
    """Up to when an event that is stored at `now` can be sent: at least for `least`.

    `wanted`: when its schedule is due; None if it is no digest.
    """
    return max(now + least, needed_until(wanted, now) or now)


def needed_until(wanted: Recurrence | None, now: datetime) -> datetime | None:
    """Up to when an event must last that waits at `now` under a schedule due as `wanted`.

    That is MARGIN after the second occurrence from now, or from the end of a current pause. None if
    SHORTEST_LIFE is longer, which needs no calendar.
    """
    if wanted is None or not (is_rare(wanted.days) or _is_paused(wanted, now)):
        return None
    return next_occurrence(wanted, after=next_occurrence(wanted, after=now)) + MARGIN


def is_rare(days: Days) -> bool:
    """Whether more than a week may lie between two digests."""
    return days.every > 1 or days.month_day is not None


def kept_until(end: datetime, schedule: str) -> datetime:
    """Up to when to keep the row of an event that can be sent until `end`, under `schedule`.

    So the next run of the schedule still finds the event, and counts it as expired.
    """
    return end + _BETWEEN.get(schedule, timedelta(0)) + _DELETED_WITHIN


def longest_life(least: timedelta) -> timedelta:
    """The longest that an event which does not move can last: monthly, with the longest pause."""
    return max(least, LONGEST_PAUSE + 2 * _MONTH + MARGIN + _CLOCKS)


def longest_kept(least: timedelta) -> timedelta:
    """The longest that the row of an event is kept after `lasts_until` was set last."""
    return longest_life(least) + _MONTH + _DELETED_WITHIN


def _is_paused(wanted: Recurrence, now: datetime) -> bool:
    until = wanted.paused_until
    return until is not None and Pause(until, wanted.time_zone).holds_at(now)
