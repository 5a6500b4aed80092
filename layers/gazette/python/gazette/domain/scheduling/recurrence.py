"""When digests are due: days, hour, minute, time zone and pause. Pure."""

import hashlib
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

EVERY_DAY = frozenset(range(1, 8))
"""Days of the week as ISO 8601 numbers them: Monday is 1, Sunday is 7."""

LONGEST_PAUSE = timedelta(weeks=12)
"""Events wait for the end of a pause, and are not kept much longer than this."""


def minute_of(user_id: str) -> int:
    """The minute, 0 to 50 in tens, at which digests are due for a reader who chose only the hour.

    It never changes, and is even over many readers, so that the six slots of an hour are equally
    full. The hash is independent of that of the shards, so that this holds within each shard too.
    """
    return hashlib.sha256(user_id.encode()).digest()[0] % 6 * 10


@dataclass(frozen=True, slots=True)
class Days:
    """On which dates of the subscriber's own calendar a digest is due.

    `weekdays` are ISO 8601 numbers, in every `every`-th week: the weeks whose number (see
    calendar.week_number) modulo `every` is `phase`. If `month_day`, 1 to 31, is given, it alone
    decides; in a shorter month it is the last day.
    """

    weekdays: frozenset[int] = EVERY_DAY
    every: int = 1
    phase: int = 0
    month_day: int | None = None


@dataclass(frozen=True, slots=True)
class Recurrence:
    """When a digest is due, by the subscriber's own clock; on no date before `paused_until`."""

    hour: int
    minute: int
    time_zone: str
    days: Days = Days()
    paused_until: date | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """No email on dates before `until`, by the clocks of `time_zone`."""

    until: date
    time_zone: str

    def holds_at(self, instant: datetime) -> bool:
        """Whether `instant` is in the pause."""
        return instant.astimezone(zone_of(self.time_zone)).date() < self.until


WORKDAYS = Days(frozenset({1, 2, 3, 4, 5}))


@dataclass(frozen=True, slots=True)
class DigestTimes:
    """At what hour digests are due, and on which days those that are not daily.

    `minute` None: see minute_of. `paused_until`: the first date on which email is wanted again;
    None, or a date that has come: there is no pause.
    """

    hour: int = 8
    minute: int | None = None
    weekly_on: int = 1
    custom_on: Days = WORKDAYS
    paused_until: date | None = None


AT_EIGHT = DigestTimes()
"""The times of readers who chose none."""


def zone_of(name: str) -> ZoneInfo:
    """The time zone with this name; UTC if this installation does not know it.

    The contract refuses unknown names, so the name was stored with newer zone data. Until that is
    back, the reader's digest comes at the wrong hour, which is better than not at all.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
