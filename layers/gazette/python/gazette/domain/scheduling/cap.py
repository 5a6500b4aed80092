"""The limit of a reader's immediate emails, for an hour and for a day (rule 28). Pure.

Each limit is a generic cell rate algorithm, as ITU-T Recommendation I.371 describes it (virtual
scheduling): https://www.itu.int/rec/T-REC-I.371. It needs one stored instant, the theoretical
arrival time. Here, this is the time from which the whole allowance is free again. An email moves it
by the emission interval, which is the period divided by the number of emails. An email is allowed
if the time then is at most one period from now.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Usage:
    """The recent immediate emails of a reader, as the instants of two cell rate algorithms."""

    hour_free_at: datetime
    """The time from which the whole allowance of an hour is free."""

    day_free_at: datetime
    """The time from which the whole allowance of a day is free."""

    @property
    def ends_at(self) -> datetime:
        """The time from which the usage allows as much as no usage."""
        return max(self.hour_free_at, self.day_free_at)


@dataclass(frozen=True, slots=True)
class ImmediateLimit:
    """The allowance of immediate emails. A reader who got none may get `per_hour` at once.

    Afterwards, one email becomes free in each `per_hour`-th part of an hour. So at most twice
    `per_hour` emails are allowed within an hour, and `per_hour` an hour on average. `per_day` works
    in the same way.
    """

    per_hour: int
    per_day: int

    def take(self, used: Usage | None, now: datetime) -> Usage | None:
        """Return the usage after one more email; None if one of the limits does not allow it.

        `used` is None if no row is stored.
        """
        hour = _after_one(used.hour_free_at if used else now, now, HOUR, self.per_hour)
        day = _after_one(used.day_free_at if used else now, now, DAY, self.per_day)
        return Usage(hour, day) if hour - now <= HOUR and day - now <= DAY else None


def _after_one(free_at: datetime, now: datetime, period: timedelta, number: int) -> datetime:
    """Return the time from which the allowance is free after one more email.

    The emission interval is rounded down, so that `number` emails fit in one period.
    """
    return max(free_at, now) + period // number
