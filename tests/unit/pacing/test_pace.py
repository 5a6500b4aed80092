"""Rate, ramp, warm-up and daily cap: from the settings to permits."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from gazette.domain.delivery.circuit_breaker import tripped
from gazette.domain.delivery.pace import (
    NoPermit,
    Pace,
    PacePlan,
    Permit,
    Quota,
    Reservation,
    full_rate,
    rate_at,
    read,
    take,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW

EVERY = timedelta(seconds=30)
RAMP = PacePlan(rate=100, ramp_from=10, ramp_every=EVERY)
FIRST = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("rate", "quota", "expected"),
    [
        (5, None, 5),
        (5, 4, 5),
        (500, 14, 500),
        (None, 14, 12.6),
        (None, None, 0.9),
        (None, 555, 499.5),
        (None, 5_556, 5_000),
        (None, 20_000, 5_000),
    ],
)
def test_full_rate_is_configured_or_90_percent_of_quota(
    rate: float | None, quota: float | None, expected: float
) -> None:
    """And never more than one row takes."""
    pace = Pace(quota=Quota(rate=quota) if quota else None)
    assert full_rate(pace, PacePlan(rate=rate)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("day", "cap"), [(0, 200), (1, 400), (2, 800), (10, 204_800), (30, 200 << 30), (31, None)]
)
def test_daily_cap_of_new_domain_doubles_until_unlimited(day: int, cap: int | None) -> None:
    plan = PacePlan(warmup_from=FIRST, warmup_daily=200)
    assert plan.cap_on(FIRST + timedelta(days=day)) == cap


def test_cap_before_first_warm_up_day_equals_first_day_cap() -> None:
    assert PacePlan(warmup_from=FIRST).cap_on(FIRST - timedelta(days=9)) == 200


def test_there_is_no_daily_cap_without_warm_up() -> None:
    assert PacePlan().cap_on(FIRST) is None


@pytest.mark.parametrize(
    ("taken", "rate"),
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
def test_ramp_interval_allows_twice_the_previous_interval(taken: int, rate: float) -> None:
    """Ten, twenty, forty, …, also where a little less or more was taken than that."""
    pace = Pace(stretch_at=NOW, last_taken=taken)
    assert rate_at(pace, RAMP, NOW) == rate
    over = Pace(stretch_at=NOW, stretch_taken=taken, last_taken=3000)
    assert rate_at(over, RAMP, NOW + EVERY) == rate


def test_ramp_restarts_after_interval_without_email() -> None:
    pace = Pace(stretch_at=NOW, stretch_taken=3000, last_taken=3000)
    assert rate_at(pace, RAMP, NOW + 2 * EVERY - timedelta.resolution) == 100
    assert rate_at(pace, RAMP, NOW + 2 * EVERY) == 10
    assert rate_at(Pace(), RAMP, NOW) == 10


@pytest.mark.parametrize("ramp_from", [100, 500])
def test_ramp_never_exceeds_full_rate(ramp_from: float) -> None:
    pace = Pace(stretch_at=NOW, last_taken=10_000)
    assert rate_at(pace, replace(RAMP, ramp_from=ramp_from), NOW) == 100


def test_full_rate_applies_immediately_without_ramp() -> None:
    assert rate_at(Pace(), replace(RAMP, ramp_from=0), NOW) == 100


def taken(pace: Pace, plan: PacePlan) -> Reservation:
    found = take(pace, plan, now=NOW, latest=NOW)
    assert isinstance(found, Reservation)
    return found


def test_ramp_interval_counts_permits_for_next_interval() -> None:
    pace = Pace()
    for _ in range(3):
        pace = replace(taken(pace, RAMP).from_(pace), next_at=NOW)
    assert (pace.stretch_at, pace.stretch_taken, pace.last_taken) == (NOW, 3, 0)
    earlier = replace(pace, stretch_at=NOW - EVERY)
    after = taken(earlier, RAMP).from_(earlier)
    assert (after.stretch_at, after.stretch_taken, after.last_taken) == (NOW, 1, 3)


def test_pace_is_calculated_for_current_day() -> None:
    plan = replace(RAMP, warmup_from=FIRST)
    account = Quota(rate=100, daily=500, left=400)
    pace = Pace(day=FIRST, taken=17, quota=account, quota_at=NOW)
    assert read(pace, plan, NOW).quota == account
    assert (read(pace, plan, NOW).taken, read(pace, plan, NOW).cap) == (17, 200)
    later = read(pace, plan, NOW + timedelta(days=1))
    assert (later.taken, later.cap, later.rate, later.full_rate) == (0, 400, 10, 100)
    assert later.quota is None


def test_exhausted_daily_cap_is_reported_for_any_permit() -> None:
    plan = replace(RAMP, warmup_from=FIRST)
    pace = Pace(day=FIRST, taken=200, next_at=NOW + timedelta(seconds=1))
    assert take(pace, plan, now=NOW, latest=NOW) is NoPermit.DAILY_CAP
    assert take(replace(pace, taken=199), plan, now=NOW, latest=NOW) is NoPermit.BUSY


def test_hour_old_quota_does_not_block_sending() -> None:
    """Its rate holds on: that seldom changes, and never by our own permits."""
    told = Pace(quota=Quota(rate=20, daily=200, left=0), quota_at=NOW)
    hour = timedelta(hours=1)
    late = NOW + hour - timedelta.resolution
    assert take(told, PacePlan(), now=late, latest=late) is NoPermit.DAILY_CAP
    found = take(told, PacePlan(), now=NOW + hour, latest=NOW + hour)
    assert isinstance(found, Reservation)
    assert found.from_(told).quota == told.quota
    assert full_rate(told, PacePlan()) == 18


@st.composite
def paces(draw: st.DrawFn) -> Pace:
    """Any state that workers may find."""
    instants = st.none() | st.integers(-90, 8).map(lambda seconds: NOW + timedelta(seconds=seconds))
    left = draw(st.none() | st.integers(0, 12))
    quota = Quota(rate=50, daily=None if left is None else 100, left=left)
    breaker = tripped(None, "refused", NOW - timedelta(seconds=draw(st.integers(0, 120))))
    return Pace(
        quota=draw(st.none() | st.just(quota)),
        quota_at=draw(st.none() | st.just(NOW)),
        next_at=draw(instants),
        stretch_at=draw(instants),
        stretch_taken=draw(st.integers(0, 3000)),
        last_taken=draw(st.integers(0, 3000)),
        day=draw(st.none() | st.sampled_from([FIRST - timedelta(days=1), FIRST])),
        taken=draw(st.integers(0, 12)),
        breaker=draw(st.none() | st.just(breaker)),
    )


@given(
    pace=paces(),
    rate=st.sampled_from([1, 10, 5000]),
    ramp_from=st.sampled_from([0, 1, 10]),
    warmup=st.sampled_from([None, FIRST]),
    number=st.integers(1, 12),
)
def test_batch_of_permits_equals_permits_taken_individually(
    pace: Pace, rate: float, ramp_from: float, warmup: date | None, number: int
) -> None:
    plan = PacePlan(
        rate=rate, ramp_from=ramp_from, ramp_every=EVERY, warmup_from=warmup, warmup_daily=10
    )
    latest = NOW + timedelta(seconds=5)
    one_by_one: list[Permit] = []
    after = pace
    while len(one_by_one) < number:
        each = take(after, plan, now=NOW, latest=latest)
        if isinstance(each, NoPermit):
            break
        one_by_one += each.permits_from(each.at)
        after = each.from_(after)
    together = take(pace, plan, now=NOW, latest=latest, number=number)
    if isinstance(together, NoPermit):
        assert one_by_one == []
        return
    assert together.permits_from(together.at) == one_by_one
    assert together.from_(pace) == after
