"""What was chosen, and what it comes to on a day and in a stretch of the ramp."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from gazette.domain.pace import NoTurn, Pace, PacePlan, Taking, full_rate, rate_at, read, take

from tests.builders import NOW

EVERY = timedelta(seconds=30)
RAMP = PacePlan(rate=100, ramp_from=10, ramp_every=EVERY)
FIRST = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("rate", "quota", "expected"), [(5, 14, 5), (None, 14, 14), (None, None, 1), (5, None, 5)]
)
def test_the_full_rate_is_what_was_chosen_or_the_quota_or_that_of_the_sandbox(
    rate: float | None, quota: float | None, expected: float
) -> None:
    assert full_rate(Pace(quota=quota), PacePlan(rate=rate)) == expected


@pytest.mark.parametrize(
    ("day", "cap"), [(0, 200), (1, 400), (2, 800), (10, 204_800), (30, 200 << 30), (31, None)]
)
def test_the_cap_of_a_new_domain_doubles_each_day_until_it_is_none(
    day: int, cap: int | None
) -> None:
    plan = PacePlan(warmup_from=FIRST, warmup_daily=200)
    assert plan.cap_on(FIRST + timedelta(days=day)) == cap


def test_before_its_first_day_a_new_domain_may_not_send_more_than_on_it() -> None:
    assert PacePlan(warmup_from=FIRST).cap_on(FIRST - timedelta(days=9)) == 200


def test_without_a_new_domain_there_is_no_cap() -> None:
    assert PacePlan().cap_on(FIRST) is None


@pytest.mark.parametrize(
    ("went_out", "rate"),
    [
        (0, 10),
        (1, 10),
        (200, 10),
        (290, 20),
        (300, 20),
        (350, 20),
        (600, 40),
        (1300, 80),
        (2400, 100),
        (3000, 100),
        (100_000, 100),
    ],
)
def test_a_stretch_may_have_twice_what_the_one_before_it_had(went_out: int, rate: float) -> None:
    """Ten, twenty, forty, …, also where a little less or more went out than that."""
    pace = Pace(stretch_at=NOW, last_taken=went_out)
    assert rate_at(pace, RAMP, NOW) == rate
    over = Pace(stretch_at=NOW, stretch_taken=went_out, last_taken=3000)
    assert rate_at(over, RAMP, NOW + EVERY) == rate


def test_a_whole_stretch_without_email_begins_the_ramp_anew() -> None:
    pace = Pace(stretch_at=NOW, stretch_taken=3000, last_taken=3000)
    assert rate_at(pace, RAMP, NOW + 2 * EVERY - timedelta.resolution) == 100
    assert rate_at(pace, RAMP, NOW + 2 * EVERY) == 10
    assert rate_at(Pace(), RAMP, NOW) == 10


@pytest.mark.parametrize("ramp_from", [100, 500])
def test_a_ramp_never_goes_beyond_the_full_rate(ramp_from: float) -> None:
    pace = Pace(stretch_at=NOW, last_taken=10_000)
    assert rate_at(pace, replace(RAMP, ramp_from=ramp_from), NOW) == 100


def test_without_a_ramp_the_rate_is_full_at_once() -> None:
    assert rate_at(Pace(), replace(RAMP, ramp_from=0), NOW) == 100


def taken(pace: Pace, plan: PacePlan) -> Taking:
    found = take(pace, plan, now=NOW, latest=NOW)
    assert isinstance(found, Taking)
    return found


@pytest.mark.parametrize(("rate", "number"), [(0.5, 1), (499, 1), (500, 1), (501, 2), (2500, 5)])
def test_a_row_is_written_five_hundred_times_a_second_at_most(rate: float, number: int) -> None:
    found = taken(Pace(), PacePlan(rate=rate))
    assert found.number == number == len(found.turns)
    assert found.cost >= timedelta(seconds=number / rate)


def test_a_stretch_counts_its_turns_and_the_next_remembers_them() -> None:
    pace = Pace()
    for _ in range(3):
        pace = replace(taken(pace, RAMP).from_(pace), next_at=NOW)
    assert (pace.stretch_at, pace.stretch_taken, pace.last_taken) == (NOW, 3, 0)
    earlier = replace(pace, stretch_at=NOW - EVERY)
    after = taken(earlier, RAMP).from_(earlier)
    assert (after.stretch_at, after.stretch_taken, after.last_taken) == (NOW, 1, 3)


def test_what_is_read_is_of_today() -> None:
    plan = replace(RAMP, warmup_from=FIRST)
    pace = Pace(day=FIRST, taken=17)
    assert (read(pace, plan, NOW).taken, read(pace, plan, NOW).cap) == (17, 200)
    later = read(pace, plan, NOW + timedelta(days=1))
    assert (later.taken, later.cap, later.rate, later.full_rate) == (0, 400, 10, 100)


def test_a_day_that_is_used_up_is_told_whatever_the_turn() -> None:
    plan = replace(RAMP, warmup_from=FIRST)
    pace = Pace(day=FIRST, taken=200, next_at=NOW + EVERY)
    assert take(pace, plan, now=NOW, latest=NOW) is NoTurn.DAILY_CAP
    assert take(replace(pace, taken=199), plan, now=NOW, latest=NOW) is NoTurn.BUSY
