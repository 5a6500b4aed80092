"""The days on which a digest is wanted, as JSON in one attribute."""

import json
from datetime import date

from gazette.domain.scheduling.recurrence import Days


def write_days(days: Days) -> str:
    """`[weekdays, every, phase]`, or `[day of the month]`."""
    if days.month_day is not None:
        return json.dumps([days.month_day])
    return json.dumps([sorted(days.weekdays), days.every, days.phase])


def read_days(text: str) -> Days:
    """The days that `write_days` wrote."""
    match json.loads(text):
        case [month_day]:
            return Days(month_day=month_day)
        case [weekdays, every, phase]:
            return Days(frozenset(weekdays), every, phase)
        case other:
            raise ValueError(f"{other!r} does not say which days are wanted")


def write_date(day: date | None) -> str | None:
    """A date as in ISO 8601; None stays None."""
    return day.isoformat() if day else None


def read_date(text: str | None) -> date | None:
    """The date that `write_date` wrote; None where the row has none."""
    return date.fromisoformat(text) if text else None
