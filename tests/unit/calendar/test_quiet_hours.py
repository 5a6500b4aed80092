"""Quiet hours in every time zone: gaps, repeated hours, midnight, and dates that do not exist."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from gazette.domain.scheduling.quiet import (
    JITTER,
    NO_QUIET_HOURS,
    STAGE_QUIET_HOURS,
    QuietHours,
    spread_after,
)

from tests.builders import a_subscriber
from tests.zones import Periods, days_near_a_change, expected, zones_that_differ

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = QuietHours.of("22:00-07:00")
EACH = ("22:00-07:00", "02:30-03:10", "00:00-06:00", "23:30-00:15", "01:00-02:30", "07:00-06:00")


def berlin(text: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN, fold=fold).astimezone(UTC)


@pytest.mark.parametrize(
    ("at", "until"),
    [
        ("2026-11-28 21:59", None),
        ("2026-11-28 22:00", "2026-11-29 07:00"),
        ("2026-11-29 06:59", "2026-11-29 07:00"),
        ("2026-11-29 07:00", None),
        ("2026-03-29 01:00", "2026-03-29 07:00"),  # an hour of this night does not exist
    ],
)
def test_hours_contain_their_beginning_and_not_their_end(at: str, until: str | None) -> None:
    assert NIGHT
    assert NIGHT.until(berlin(at), BERLIN) == (berlin(until) if until else None)


def test_hours_that_begin_in_a_gap_begin_after_it() -> None:
    hours = QuietHours.of("02:30-05:00")
    assert hours
    assert hours.until(berlin("2026-03-29 01:59"), BERLIN) is None
    assert hours.until(berlin("2026-03-29 03:00"), BERLIN) == berlin("2026-03-29 05:00")


def test_hours_that_end_in_a_gap_end_with_it() -> None:
    hours = QuietHours.of("01:00-02:30")
    assert hours
    assert hours.until(berlin("2026-03-29 01:30"), BERLIN) == berlin("2026-03-29 03:00")


def test_repeated_hour_neither_begins_nor_ends_the_hours_again() -> None:
    early, late = QuietHours.of("01:00-02:30"), QuietHours.of("02:30-04:00")
    assert early
    assert late
    assert early.until(berlin("2026-10-25 02:10"), BERLIN) == berlin("2026-10-25 02:30")
    assert early.until(berlin("2026-10-25 02:10", fold=1), BERLIN) is None
    assert late.until(berlin("2026-10-25 02:10", fold=1), BERLIN) == berlin("2026-10-25 04:00")


def test_hours_continue_after_a_date_that_does_not_exist() -> None:
    apia = ZoneInfo("Pacific/Apia")  # which had no 30 December 2011
    assert NIGHT
    evening = datetime(2011, 12, 29, 23, tzinfo=apia)
    assert NIGHT.until(evening, apia) == datetime(2011, 12, 31, 7, tzinfo=apia)


def intervals(
    hours: QuietHours, periods: Periods, first: date, last: date
) -> Iterator[tuple[datetime, datetime]]:
    """The hours of each date, by the oracle."""
    for number in range((last - first).days + 1):
        day = first + number * DAY
        ends_on = day + DAY if hours.end < hours.begin else day
        begin, end = expected(periods, day, hours.begin), expected(periods, ends_on, hours.end)
        if begin and end:
            yield begin, end


def test_hours_are_those_of_the_oracle_in_every_zone() -> None:
    checked = 0
    for periods, zone in zones_that_differ().items():
        for first, last in days_near_a_change(periods):
            for text in EACH:
                hours = QuietHours.of(text)
                assert hours
                quiet = list(intervals(hours, periods, first, last))
                for begin, end in quiet[1:-1]:
                    for at in (begin - MINUTE, begin, end - MINUTE, end, end + MINUTE):
                        ends = [until for since, until in quiet if since <= at < until]
                        assert hours.until(at, ZoneInfo(zone)) == max(ends, default=None), (
                            zone,
                            text,
                            at,
                        )
                        checked += 1
    assert checked > 20_000


@pytest.mark.parametrize(
    "text",
    [
        "22-07",
        "24:00-07:00",
        "22:00-22:00",
        "09:00-08:01",
        "22:00",
        "",
        "22:00 - 07:00",
        "9:00-10:00",
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^must "):
        QuietHours.of(text)


def test_value_of_a_reader_overrides_the_setting_of_the_stage() -> None:
    own, none, default = (
        replace(a_subscriber(), quiet_hours=value)
        for value in ("20:00-08:00", NO_QUIET_HOURS, STAGE_QUIET_HOURS)
    )
    assert str(own.quiet_hours_in_force(NIGHT)) == "20:00-08:00"
    assert none.quiet_hours_in_force(NIGHT) is None
    assert default.quiet_hours_in_force(NIGHT) == NIGHT
    assert default.quiet_hours_in_force(None) is None


def test_emails_after_the_hours_are_spread_evenly_over_ten_minutes() -> None:
    until = datetime(2026, 11, 29, 6, tzinfo=UTC)
    delays = [spread_after(until, f"reader{number}") - until for number in range(6_000)]
    assert timedelta(0) <= min(delays)
    assert max(delays) < JITTER
    by_minute = [sum(delay // MINUTE == minute for delay in delays) for minute in range(10)]
    assert min(by_minute) > 500
    assert max(by_minute) < 700
    assert spread_after(until, "ann") == spread_after(until, "ann")
