"""Rates and caps are divided between the two streams, without a remainder."""

from datetime import date, datetime, timedelta

import pytest
from gazette.domain.delivery.pace import (
    Pace,
    PacePlan,
    Quota,
    Reservation,
    full_rate,
    rate_at,
    take,
)
from gazette.domain.delivery.streams import WHOLE, Share, Streams, divided
from gazette.domain.model import DAILY
from gazette.domain.scheduling.kinds import immediate_schedule
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW

SECOND = timedelta(seconds=1)
shares = st.integers(1, 99).map(divided)
wholes = st.integers(0, 10**12)


def test_each_run_belongs_to_exactly_one_stream() -> None:
    names = Streams(digest="digest", immediate="immediate")
    for schedule in (DAILY, "weekly", "custom"):
        assert (names.of(schedule), names.other_than(schedule)) == ("digest", "immediate")
    at_once = immediate_schedule("post#post1")
    assert (names.of(at_once), names.other_than(at_once)) == ("immediate", "digest")


@given(divided_=shares, whole=wholes)
def test_stream_shares_add_up_to_total(divided_: Streams[Share], whole: int) -> None:
    parts = (divided_.digest.of(whole), divided_.immediate.of(whole))
    assert sum(parts) == whole
    assert min(parts) >= 0


@given(whole=wholes)
def test_full_share_equals_total(whole: int) -> None:
    assert WHOLE.of(whole) == WHOLE.of_rate(whole) == whole


@pytest.mark.parametrize(("whole", "digests"), [(0, 0), (1, 1), (4, 4), (5, 4), (200, 160)])
def test_odd_permit_is_assigned_to_digests(whole: int, digests: int) -> None:
    assert divided(20).digest.of(whole) == digests


@given(divided_=shares, left=wholes)
def test_remaining_account_quota_is_divided_completely(divided_: Streams[Share], left: int) -> None:
    quota = Quota(rate=14, daily=10**12, left=left)
    parts = [quota.part(share) for share in (divided_.digest, divided_.immediate)]
    assert sum(part.left or 0 for part in parts) == left
    assert {(part.rate, part.daily) for part in parts} == {(14, 10**12)}


def plan(share: Share, rate: float | None = None) -> PacePlan:
    return PacePlan(
        rate=rate, share=share, ramp_from=10, warmup_from=date(2026, 11, 22), warmup_daily=7
    )


@given(
    divided_=shares,
    rate=st.none() | st.floats(0.1, 500),
    quota=st.none() | st.floats(1, 2000).map(lambda rate: Quota(rate=rate)),
    day=st.integers(-3, 40),
)
def test_rate_ramp_and_cap_of_streams_add_up_to_settings(
    divided_: Streams[Share], rate: float | None, quota: Quota | None, day: int
) -> None:
    pace, on = Pace(quota=quota), date(2026, 11, 22) + timedelta(days=day)
    both = [plan(share, rate) for share in (divided_.digest, divided_.immediate)]
    all_ = plan(WHOLE, rate)
    for asked in (full_rate, lambda pace, plan: rate_at(pace, plan, NOW)):
        assert sum(asked(pace, each) for each in both) == pytest.approx(asked(pace, all_))
    caps = [each.cap_on(on) for each in both]
    whole = all_.cap_on(on)
    assert caps == [None, None] if whole is None else sum(cap or 0 for cap in caps) == whole


def permits(plan: PacePlan, seconds: int) -> list[datetime]:
    """All that somebody gets who takes every one."""
    pace, now, found = Pace(), NOW, []
    while now < NOW + seconds * SECOND:
        taking = take(pace, plan, now=now, latest=now + 1000 * SECOND)
        assert isinstance(taking, Reservation)
        pace, now = taking.from_(pace), taking.at
        found.append(now)
    return found


@given(share=st.integers(1, 99), rate=st.sampled_from((1, 7, 14, 30)))
def test_streams_together_stay_within_available_permits(share: int, rate: int) -> None:
    """But for the first of each, which need not wait for one before it."""
    halves = divided(share)
    both = [
        at
        for half in (halves.digest, halves.immediate)
        for at in permits(PacePlan(rate=rate, share=half), 10)
    ]
    for second in range(10):
        begins = NOW + second * SECOND
        assert sum(begins <= at < begins + SECOND for at in both) <= rate + 2
