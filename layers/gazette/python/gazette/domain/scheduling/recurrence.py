"""When digests are wanted: hours, days, and the minute of those who chose only the hour. Pure."""

import hashlib
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

EVERY_DAY = frozenset(range(1, 8))
"""Days of the week as ISO 8601 numbers them: Monday is 1, Sunday is 7."""

LONGEST_PAUSE = timedelta(weeks=12)
"""What comes meanwhile waits for its end, and events are kept for little longer."""


def minute_of(user_id: str) -> int:
    """The minute, 0 to 50, at which digests go out to somebody who chose only the hour.

    Stable for ever, and even over many readers: so the ten-minute slots of an hour are alike. Of
    a hash that has nothing to do with that of the shards, so that each shard's are alike too.
    """
    return hashlib.sha256(user_id.encode()).digest()[0] % 6 * 10


@dataclass(frozen=True, slots=True)
class Days:
    """Which dates of the subscriber's own calendar are wanted.

    `weekdays` are ISO 8601 numbers, in every `every`-th week: those whose number (see
    calendar.week_number) leaves the remainder `phase`. Where `month_day` is given, 1 to 31, it
    alone decides: in a month that is shorter, its last day.
    """

    weekdays: frozenset[int] = EVERY_DAY
    every: int = 1
    phase: int = 0
    month_day: int | None = None


@dataclass(frozen=True, slots=True)
class Recurrence:
    """When a digest is wanted, on the subscriber's own clock; on no date before `paused_until`."""

    hour: int
    minute: int
    time_zone: str
    days: Days = Days()
    paused_until: date | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """No email is wanted on the dates before `until`, by the clocks of `time_zone`."""

    until: date
    time_zone: str

    def holds_at(self, instant: datetime) -> bool:
        """Whether the date at `instant` is one of them."""
        return instant.astimezone(zone_of(self.time_zone)).date() < self.until


WORKDAYS = Days(frozenset({1, 2, 3, 4, 5}))


@dataclass(frozen=True, slots=True)
class DigestTimes:
    """At what hour digests are wanted, and on which days those that are not daily.

    `minute` None: one of six within the hour, always the same for a subscriber. `paused_until`
    is the first date on which email is wanted again; None, or a date that has come: it is now.
    """

    hour: int = 8
    minute: int | None = None
    weekly_on: int = 1
    custom_on: Days = WORKDAYS
    paused_until: date | None = None


AT_EIGHT = DigestTimes()
"""What those have who chose nothing."""


def zone_of(name: str) -> ZoneInfo:
    """The zone; UTC where this installation knows none of that name.

    The contract refuses such names, so one comes from zone data that was newer. A reader's hour is
    then wrong for as long as that lasts, which is better than nothing at any hour.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
