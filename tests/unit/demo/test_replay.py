"""How the replay of the week tells how long it takes."""

from dataclasses import replace

import pytest

from demo import campus
from demo.replay import time_to_go


@pytest.mark.parametrize(("first", "others", "left"), [(1, 9, 90.0), (5, 5, 10.0), (4, 0, 0.0)])
def test_what_is_left_follows_from_the_share_of_the_first_day(
    first: int, others: int, left: float
) -> None:
    message = campus.messages()[0]
    week = [replace(message, day=0)] * first + [replace(message, day=3)] * others
    assert time_to_go(10.0, week) == pytest.approx(left)
