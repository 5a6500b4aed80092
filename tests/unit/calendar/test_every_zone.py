"""Every zone that there is, every hour: each local date has one occurrence, at its hour."""

from datetime import date, datetime, time, timedelta
from zoneinfo import available_timezones

from gazette.domain.scheduling.calendar import Recurrence, next_occurrence

from tests.zones import Periods, days_near_a_change, expected, periods_of, zones_that_differ

_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)


def assert_once_a_day(zone: str, periods: Periods, hour: int, first: date, last: date) -> int:
    """Walks from date to date; returns how many were due."""
    wanted = Recurrence(hour, 0, zone)
    days = [first + number * _DAY for number in range((last - first).days + 1)]
    due = [instant for day in days if (instant := expected(periods, day, time(hour)))]
    after = due[0] - _INSTANT
    found: list[datetime] = []
    while len(found) < len(due):
        after = next_occurrence(wanted, after=after)
        found.append(after)
    assert found == due, (zone, hour)
    return len(found)


def test_every_time_zone_or_an_equivalent_zone_is_tested() -> None:
    looked_at = zones_that_differ()
    assert {periods_of(zone) for zone in available_timezones()} == set(looked_at)
    assert 50 < len(looked_at) < len(available_timezones())


def test_every_hour_is_due_once_daily_around_clock_changes() -> None:
    checked = sum(
        assert_once_a_day(zone, periods, hour, first, last)
        for periods, zone in zones_that_differ().items()
        for first, last in days_near_a_change(periods)
        for hour in range(24)
    )
    assert checked > 20_000
