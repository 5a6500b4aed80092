"""Instants as texts, as RFC 3339 writes them. Pure."""

import re
from datetime import UTC, datetime, timedelta

_LEAP = re.compile(r"(.+T[0-9]{2}:[0-9]{2}):60(?:\.[0-9]+)?(Z|[+-][0-9:]+)")
_SECOND = timedelta(seconds=1)


def read_instant(text: str) -> datetime:
    """The instant that a text names, in UTC; without a zone in the text, as it is written.

    Takes RFC 3339 with a lower-case `t` or `z` too (section 5.6), and what `fromisoformat` takes
    beside it, such as a date alone. A fraction is cut to microseconds. A leap second counts as the
    second after it, as POSIX counts it, because no clock of Python has it.

    Raises ValueError, also for what is no time of the years 1 to 9999 in UTC.
    """
    written = text.upper()
    leap = _LEAP.fullmatch(written)
    instant = datetime.fromisoformat(f"{leap[1]}:59{leap[2]}" if leap else written)
    try:
        instant = instant if instant.tzinfo is None else instant.astimezone(UTC)
        return _after_leap_second(instant) if leap else instant
    except OverflowError as err:
        raise ValueError(f"{text!r} is outside the years 1 to 9999") from err


def _after_leap_second(last: datetime) -> datetime:
    """Leap seconds are the last of a month in UTC (RFC 3339, section 5.7)."""
    instant = last + _SECOND
    if (instant.day, instant.hour, instant.minute, instant.second) != (1, 0, 0, 0):
        raise ValueError("only the last second of a month, in UTC, may be a leap second")
    return instant
