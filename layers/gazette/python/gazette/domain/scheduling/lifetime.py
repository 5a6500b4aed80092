"""How long an event waits to be sent, and how long its row is kept after that. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from gazette.domain.scheduling.calendar import next_occurrence
from gazette.domain.scheduling.recurrence import LONGEST_PAUSE, Days, Pause, Recurrence
from gazette.domain.subscribers.frequency import Frequency

_DAY = timedelta(days=1)

MARGIN = timedelta(days=14)
"""A run may be held up for as long as SQS keeps its message, in a dead-letter queue too.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html"""

SHORTEST_LIFE = timedelta(days=35)
"""More than two weeks and the margin: enough for whatever comes weekly or more often."""

_MONTH = 31 * _DAY
_BETWEEN: Mapping[str, timedelta] = MappingProxyType(
    {Frequency.DAILY: _DAY, Frequency.WEEKLY: 7 * _DAY, Frequency.CUSTOM: _MONTH}
)
"""The longest from one occurrence to the next: the rarest digests come once a month."""

_DELETED_WITHIN = timedelta(days=3)
"""A run that is late still finds what has expired; DynamoDB itself takes a few days more.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html"""

_CLOCKS = 2 * _DAY
"""More than time zones and their changes move a date."""


def lasts_until(wanted: Recurrence | None, now: datetime, *, least: timedelta) -> datetime:
    """Up to when an event is sent that is stored at `now`, for `least` at any rate.

    `wanted` is when its schedule is due; None where it has none.
    """
    return max(now + least, needed_until(wanted, now) or now)


def needed_until(wanted: Recurrence | None, now: datetime) -> datetime | None:
    """Up to when an event must last that waits at `now` under a schedule that is due as `wanted`.

    Until the occurrence after the next one, behind a pause where one is in force, and MARGIN. None
    where SHORTEST_LIFE is more than that, which is known without a calendar.
    """
    if wanted is None or not (is_rare(wanted.days) or _is_paused(wanted, now)):
        return None
    return next_occurrence(wanted, after=next_occurrence(wanted, after=now)) + MARGIN


def is_rare(days: Days) -> bool:
    """Whether more than a week may lie between two of them."""
    return days.every > 1 or days.month_day is not None


def kept_until(end: datetime, schedule: str) -> datetime:
    """Up to when the row of an event is kept whose life ended at `end`, under `schedule`.

    So that the next run of the schedule still finds it, and says that it has expired.
    """
    return end + _BETWEEN.get(schedule, timedelta(0)) + _DELETED_WITHIN


def longest_life(least: timedelta) -> timedelta:
    """No event lasts longer that does not move: a monthly one, of a reader who pauses."""
    return max(least, LONGEST_PAUSE + 2 * _MONTH + MARGIN + _CLOCKS)


def longest_kept(least: timedelta) -> timedelta:
    """No row of an event is kept longer, from the last change of its life on."""
    return longest_life(least) + _MONTH + _DELETED_WITHIN


def _is_paused(wanted: Recurrence, now: datetime) -> bool:
    until = wanted.paused_until
    return until is not None and Pause(until, wanted.time_zone).holds_at(now)
