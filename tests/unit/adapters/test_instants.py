"""Instants as DynamoDB stores them: text whose order is that of time."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from gazette.adapters.dynamodb.values import InstantAttribute, instant_text
from hypothesis import given
from hypothesis import strategies as st

_ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
_INSTANTS = st.datetimes(datetime(1900, 1, 1), datetime(9000, 1, 1), timezones=_ZONES)  # noqa: DTZ001


@given(_INSTANTS)
def test_stored_instant_round_trips(instant: datetime) -> None:
    found = InstantAttribute().deserialize(instant_text(instant))
    assert found == instant
    assert found.tzinfo is UTC


@given(_INSTANTS)
def test_stored_instant_format_is_unchanged(instant: datetime) -> None:
    written = instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert instant_text(instant) == written


@given(_INSTANTS, _INSTANTS)
def test_stored_instants_sort_chronologically(one: datetime, other: datetime) -> None:
    assert (instant_text(one) < instant_text(other)) == (one < other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-21",
        "2026-11-21T09:30:00Z",
        "2026-11-21T09:30:00.000000+",
        "2026-11-21T09:30:00.00+00:0",
        "2026-11-21T09:30:00.0000000",
        "2026-13-21T09:30:00.000000Z",
        "2026-11-21T09:30:00.000000z",
        "yesterday, at half past six",
    ],
)
def test_malformed_instant_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        InstantAttribute().deserialize(text)
