"""Instants as others write them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from gazette.domain.scheduling.instants import read_instant
from hypothesis import given
from hypothesis import strategies as st

HALF_PAST_NINE = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
NEW_YEAR = datetime(2017, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-11-21T09:30:00Z", HALF_PAST_NINE),
        ("2026-11-21t09:30:00z", HALF_PAST_NINE),
        ("2026-11-21T09:30:00z", HALF_PAST_NINE),
        ("2026-11-21t10:30:00+01:00", HALF_PAST_NINE),
        ("2026-11-21T09:30:00-00:00", HALF_PAST_NINE),
        ("2026-11-21T09:30:00.0000001Z", HALF_PAST_NINE),
        ("2026-11-21T09:30:00.123456789012345678Z", HALF_PAST_NINE.replace(microsecond=123456)),
        ("2026-11-22T09:29:00+23:59", HALF_PAST_NINE),
        ("2016-12-31T23:59:60Z", NEW_YEAR),
        ("2016-12-31t23:59:60.75z", NEW_YEAR),
        ("2016-12-31T15:59:60-08:00", NEW_YEAR),
        ("2017-01-01T00:59:60+01:00", NEW_YEAR),
    ],
)
def test_instant_is_converted_to_utc(text: str, instant: datetime) -> None:
    """RFC 3339, sections 4.3, 5.6, 5.7 and 5.8."""
    assert read_instant(text) == instant
    assert read_instant(text).tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "",
        "2026-02-30T09:30:00Z",
        "2026-11-21T09:60:00Z",
        "2026-11-21T09:30:00+24:00",
        "2026-11-21T09:30:61Z",
        "2026-11-21T09:30:60Z",
        "2026-12-30T23:59:60Z",
        "2016-12-31T23:59:60+01:00",
        "0000-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "9999-12-31T23:59:60Z",
    ],
)
def test_invalid_instant_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_instant(text)


def test_time_without_zone_is_kept_unchanged() -> None:
    assert read_instant("2026-11-21") == datetime(2026, 11, 21)  # noqa: DTZ001
    assert read_instant("2026-11-21T09:30") == datetime(2026, 11, 21, 9, 30)  # noqa: DTZ001


_OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=_OFFSETS))  # noqa: DTZ001
def test_written_instant_round_trips(instant: datetime) -> None:
    assert read_instant(instant.isoformat()) == instant
    assert read_instant(instant.isoformat().lower()) == instant
