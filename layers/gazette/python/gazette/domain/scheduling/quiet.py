"""Quiet hours: the hours of the day in which a reader gets no immediate email. Pure.

A value is a text: `22:00-07:00` (the local times at which the hours begin and end), `none`, or
`default` for the setting `quiet_hours` of the stage.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from gazette.domain.scheduling.calendar import first_moment_from

NO_QUIET_HOURS = "none"
"""The value of a reader without quiet hours."""

STAGE_QUIET_HOURS = "default"
"""The value of a reader for whom the stage's setting applies."""

HOURS = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]-(?:[01][0-9]|2[0-3]):[0-5][0-9]"
"""The pattern of quiet hours, such as `22:00-07:00`."""

JITTER = timedelta(minutes=10)
"""The period after the end of quiet hours over which the emails of all readers are spread."""

_HOURS = re.compile(HOURS)

_DAY, _LEAST_OPEN = 24 * 60, 60
"""Minutes of a day, and the least number of minutes outside quiet hours."""


@dataclass(frozen=True, slots=True)
class QuietHours:
    """Quiet hours in the reader's time zone. They cross midnight if `end` is before `begin`."""

    begin: time
    end: time

    @classmethod
    def of(cls, text: str) -> "QuietHours | None":
        """Parse a text such as `22:00-07:00`. Return None for `none`.

        Raises ValueError for any other text, and for hours that leave less than an hour of the day.
        The emails of each reader must fit in this hour, although they are spread (JITTER).
        """
        if text == NO_QUIET_HOURS:
            return None
        if not _HOURS.fullmatch(text):
            raise ValueError("must be two times of day, such as 22:00-07:00")
        begin, end = map(time.fromisoformat, text.split("-"))
        if (_minutes(begin) - _minutes(end)) % _DAY < _LEAST_OPEN:
            raise ValueError("must leave at least an hour of the day, such as 22:00-07:00")
        return cls(begin, end)

    def __str__(self) -> str:
        """Return the hours as a text, such as `22:00-07:00`."""
        return f"{self.begin:%H:%M}-{self.end:%H:%M}"

    def until(self, instant: datetime, zone: ZoneInfo) -> datetime | None:
        """Return the end, in UTC, of the quiet hours that contain `instant`; None if there are
        none.

        The hours begin and end at the first moment at which clocks show the time of day or skip it.
        They are therefore shorter or longer on a date on which the clocks change, and a time of day
        that occurs twice neither begins nor ends them again.
        """
        end = self._end_around(instant, zone)
        while end is not None and (later := self._end_around(end, zone)):
            end = later  # the date between was skipped, so the hours of the next date begin at once
        return end

    def _end_around(self, instant: datetime, zone: ZoneInfo) -> datetime | None:
        today = instant.astimezone(zone).date()
        crosses_midnight = self.end < self.begin
        for day in (today - timedelta(days=1), today):
            last_day = day + timedelta(days=1) if crosses_midnight else day
            begin = first_moment_from(datetime.combine(day, self.begin), zone)
            end = first_moment_from(datetime.combine(last_day, self.end), zone)
            if begin <= instant < end:
                return end
        return None


def _minutes(at: time) -> int:
    return at.hour * 60 + at.minute


def check_quiet_hours(value: str) -> None:
    """Raise ValueError if a value is neither quiet hours, nor `none`, nor `default`."""
    if value != STAGE_QUIET_HOURS:
        QuietHours.of(value)


def spread_after(until: datetime, user_id: str) -> datetime:
    """Return the time at which a reader's emails are due that waited for the end of quiet hours.

    The delay is less than JITTER. It never changes for a reader, and is spread evenly over readers.
    """
    number = int.from_bytes(hashlib.sha256(user_id.encode()).digest()[1:5])
    return until + timedelta(seconds=number % int(JITTER.total_seconds()))
