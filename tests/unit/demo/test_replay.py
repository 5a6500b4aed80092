"""How the replay of the week tells how long it takes."""

from dataclasses import replace
from datetime import datetime

import pytest

from demo import campus
from demo.replay import time_to_begin, time_to_go


@pytest.mark.parametrize(("first", "others", "left"), [(1, 9, 90.0), (5, 5, 10.0), (4, 0, 0.0)])
def test_what_is_left_follows_from_the_share_of_the_first_day(
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
def test_the_week_begins_where_no_digest_is_due_until_its_first_events_are_there(
    now: str, begins: str
) -> None:
    """In Kolkata it is 08:00 at 02:30 UTC."""
    at = datetime.fromisoformat(f"2026-11-24T{now}+00:00")
    assert time_to_begin(at) == datetime.fromisoformat(f"2026-11-24T{begins}+00:00")
