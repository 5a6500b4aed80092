"""How the replay of the week tells how long it takes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.domain.scheduling.calendar import Recurrence, next_occurrence

from demo import campus
from demo.replay import first_day, time_to_begin, time_to_go


@pytest.mark.parametrize(("first", "others", "left"), [(1, 9, 90.0), (5, 5, 10.0), (4, 0, 0.0)])
def test_remaining_replay_time_is_estimated_from_first_day(
    first: int, others: int, left: float
) -> None:
    message = campus.messages()[0]
    week = [replace(message, day=0)] * first + [replace(message, day=3)] * others
    assert time_to_go(10.0, week) == pytest.approx(left)


@pytest.mark.parametrize(
    ("now", "begins"),
    [
        ("02:20:00", "02:20:00"),
        ("02:26:59", "02:26:59"),
        ("02:27:00", "02:30:01"),
        ("02:29:50", "02:30:01"),
        ("02:30:00", "02:30:00"),
    ],
)
def test_replay_starts_before_first_due_digest(now: str, begins: str) -> None:
    """In Kolkata it is 08:00 at 02:30 UTC."""
    at = datetime.fromisoformat(f"2026-11-24T{now}+00:00")
    assert time_to_begin(at) == datetime.fromisoformat(f"2026-11-24T{begins}+00:00")


@pytest.mark.parametrize("hour", range(24))
def test_events_of_day_precede_their_digest(hour: int) -> None:
    began = datetime.fromisoformat(f"2026-11-24T{hour:02d}:00:00+00:00")
    first = datetime.combine(first_day(began), datetime.min.time(), UTC)
    for zone in campus.ZONES:
        due = next_occurrence(Recurrence(campus.DIGEST_HOUR, 0, zone), after=began)
        for day in range(7):
            assert first + timedelta(days=day + 1) <= due
            due = next_occurrence(Recurrence(campus.DIGEST_HOUR, 0, zone), after=due)
