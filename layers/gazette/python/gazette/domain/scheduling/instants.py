"""Instants and durations as text. Pure."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

_LEAP = re.compile(r"(.+T[0-9]{2}:[0-9]{2}):60(?:\.[0-9]+)?(Z|[+-][0-9:]+)")
_SECOND = timedelta(seconds=1)


def read_instant(text: str) -> datetime:
    """Parse a timestamp and return the instant in UTC.

    A timestamp without a zone stays naive. Accepts RFC 3339, including a lower-case `t` or `z`
    (section 5.6), and the other formats of `fromisoformat`, such as a date alone. A fraction is cut
    to microseconds. A leap second counts as the second after it, as in POSIX, because Python has no
    leap seconds.

    Raises ValueError for invalid text and for times outside the years 1 to 9999 in UTC.
    """
    written = text.upper()
    leap = _LEAP.fullmatch(written)
    instant = datetime.fromisoformat(f"{leap[1]}:59{leap[2]}" if leap else written)
    try:
        instant = instant if instant.tzinfo is None else instant.astimezone(UTC)
        return _after_leap_second(instant) if leap else instant
    except OverflowError as err:
        raise ValueError(f"{text!r} is outside the years 1 to 9999") from err


def read_zoned_instant(text: str) -> datetime:
    """Parse a timestamp with a time zone, like `read_instant`. Raises ValueError."""
    instant = read_instant(text)
    if instant.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return instant


def moment(at: datetime) -> str:
    """Format an instant in UTC to the second, such as `2026-11-21 07:10:03 UTC`."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def in_units(seconds: int) -> Iterator[str]:
    """Yield the parts of a duration that are not zero, such as `3 minutes` and `5 seconds`."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        number, seconds = divmod(seconds, size)
        if number:
            yield f"{number} {unit}{'s' * (number > 1)}"


def _after_leap_second(last: datetime) -> datetime:
    """Return the instant of a leap second, which is the second after `last`.

    A leap second is the last second of a month (RFC 3339, section 5.7).
    """
    instant = last + _SECOND
    if (instant.day, instant.hour, instant.minute, instant.second) != (1, 0, 0, 0):
        raise ValueError("only the last second of a month, in UTC, may be a leap second")
    return instant
