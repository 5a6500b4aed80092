"""What the clocks of a zone do, found by looking at them, and when a local hour then is.

An oracle for the calendar: it knows nothing of folds, and asks zoneinfo for offsets alone.
"""

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

FIRST, LAST = date(2025, 1, 1), date(2027, 12, 31)
"""Three years."""

_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)

Periods = tuple[tuple[datetime, timedelta], ...]
"""Since when, in UTC, which offset holds; oldest first."""


@cache
def zones_that_differ() -> dict[Periods, str]:
    """One zone, the first by name, for each thing that the clocks of some zone do."""
    return {periods_of(zone): zone for zone in sorted(available_timezones(), reverse=True)}


@cache
def periods_of(zone: str) -> Periods:
    """The periods of three years and a few days around them, to the second."""
    clock = ZoneInfo(zone)

    def offset(instant: datetime) -> timedelta:
        return instant.astimezone(clock).utcoffset() or timedelta(0)

    begin = datetime.combine(FIRST, time(), UTC) - 5 * _DAY
    days = [begin + number * _DAY for number in range((LAST - FIRST).days + 10)]
    found = [(begin, offset(begin))]
    for before, after in pairwise(days):
        while offset(after) != found[-1][1]:
            low, high = max(before, found[-1][0]), after
            while high - low > _SECOND:
                middle = (low + (high - low) / 2).replace(microsecond=0)
                low, high = (middle, high) if offset(middle) == found[-1][1] else (low, middle)
            found.append((high, offset(high)))
    return tuple(found)


def expected(periods: Periods, day: date, at: time) -> datetime | None:
    """The first instant at which the clocks show `at` on `day`, or jump over it.

    None where they never show `day` at all.
    """
    shown = _first_showing(periods, datetime.combine(day, at))
    if shown:
        return shown
    if not any(_first_showing(periods, datetime.combine(day, time(hour))) for hour in range(24)):
        return None
    wanted = datetime.combine(day, at, UTC)
    return next(start for start, offset in periods[1:] if start + offset > wanted)


def _first_showing(periods: Periods, local: datetime) -> datetime | None:
    naive = local.replace(tzinfo=UTC)
    starts = [start for start, _ in periods]
    near = bisect_right(starts, naive)
    for number in range(max(0, near - 3), min(len(periods), near + 3)):
        start, offset = periods[number]
        ends = starts[number + 1] if number + 1 < len(periods) else naive + 5 * _DAY
        if start <= naive - offset < ends:
            return naive - offset
    return None


def days_near_a_change(periods: Periods) -> Iterator[tuple[date, date]]:
    """Spans of a week around each change of the clocks; where there is none, the first week."""
    for start, offset in periods[1:] or periods:
        day = max((start + offset).date(), FIRST + 4 * _DAY)
        yield day - 3 * _DAY, min(day + 3 * _DAY, LAST)
