"""The circuit breaker: how long it stays open, what doubles that, and who may probe."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from gazette.domain.delivery.circuit_breaker import (
    FIRST_STEP,
    LONGEST_STEP,
    OpenBreaker,
    opened_by_hand,
    tripped,
)
from gazette.domain.delivery.pace import NoPermit, Pace, PacePlan, Reservation, read, take
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
PLAN = PacePlan(rate=10)


def asked(pace: Pace, now: datetime) -> Reservation | NoPermit:
    return take(pace, PLAN, now=now, latest=now + 5 * SECOND)


def breaker_open(breaker: OpenBreaker | None = None) -> Pace:
    return Pace(breaker=breaker or tripped(None, "paused", NOW))


def probed(pace: Pace, now: datetime) -> Pace:
    found = asked(pace, now)
    assert isinstance(found, Reservation)
    assert found.is_probe
    return found.from_(pace)


def test_first_rejection_opens_breaker_for_a_minute() -> None:
    breaker = tripped(None, "paused", NOW)
    assert breaker == OpenBreaker(why="paused", since=NOW, until=NOW + MINUTE, step=MINUTE)
    assert asked(breaker_open(), NOW) is NoPermit.BREAKER_OPEN
    assert asked(breaker_open(), NOW + MINUTE - timedelta.resolution) is NoPermit.BREAKER_OPEN


def test_half_open_breaker_allows_single_probe() -> None:
    pace = probed(breaker_open(), NOW + 7 * MINUTE)
    assert asked(pace, NOW + 7 * MINUTE) is NoPermit.BREAKER_OPEN
    assert asked(pace, NOW + 8 * MINUTE - timedelta.resolution) is NoPermit.BREAKER_OPEN


def test_lost_probe_is_replaced_after_another_step() -> None:
    pace = breaker_open()
    for nth in range(1, 5):
        pace = probed(pace, NOW + nth * MINUTE)
    assert pace.breaker
    assert (pace.breaker.step, pace.breaker.since) == (MINUTE, NOW)


def test_rejected_probe_doubles_open_time_up_to_30_minutes() -> None:
    pace, now, steps = breaker_open(), NOW, []
    for _ in range(7):
        assert pace.breaker
        now = pace.breaker.until
        pace = probed(pace, now)
        breaker = tripped(pace.breaker, "still paused", now)
        assert (breaker.until, breaker.since, breaker.why) == (
            now + breaker.step,
            NOW,
            "still paused",
        )
        steps.append(breaker.step // MINUTE)
        pace = replace(pace, breaker=breaker)
    assert steps == [2, 4, 8, 16, 30, 30, 30]


def test_rejection_of_earlier_permit_does_not_change_open_breaker() -> None:
    breaker = tripped(None, "paused", NOW)
    for second in range(60):
        assert tripped(breaker, "paused too", NOW + second * SECOND) is breaker


def test_only_first_rejection_during_probe_counts() -> None:
    breaker = tripped(None, "paused", NOW).probed(NOW + MINUTE)
    once = tripped(breaker, "paused", NOW + MINUTE + SECOND)
    assert once.step == 2 * MINUTE
    assert tripped(once, "paused", NOW + MINUTE + 2 * SECOND) is once


def test_rejection_after_open_time_counts_as_failed_probe() -> None:
    late = tripped(tripped(None, "paused", NOW), "paused", NOW + 3 * MINUTE)
    assert (late.step, late.until) == (2 * MINUTE, NOW + 5 * MINUTE)


def test_manually_opened_breaker_allows_no_probe() -> None:
    breaker = opened_by_hand("wrong template", NOW)
    assert breaker.by_hand
    assert asked(breaker_open(breaker), datetime(2099, 1, 1, tzinfo=UTC)) is NoPermit.BREAKER_OPEN
    assert tripped(breaker, "paused", NOW + MINUTE) is breaker


def test_open_breaker_takes_precedence_over_daily_cap() -> None:
    """What is told decides whether a digest is requeued or skipped."""
    plan = PacePlan(rate=10, warmup_from=date(2026, 11, 22), warmup_daily=1)
    used_up = Pace(day=date(2026, 11, 22), taken=1)
    assert take(used_up, plan, now=NOW, latest=NOW) is NoPermit.DAILY_CAP
    pace = replace(used_up, breaker=tripped(None, "paused", NOW))
    assert take(pace, plan, now=NOW, latest=NOW) is NoPermit.BREAKER_OPEN
    later = NOW + 2 * MINUTE
    assert take(pace, plan, now=later, latest=later) is NoPermit.DAILY_CAP


def test_late_permit_is_not_used_for_probe() -> None:
    pace = replace(breaker_open(), next_at=NOW + 2 * MINUTE + 8 * SECOND)
    assert asked(pace, NOW + 2 * MINUTE) is NoPermit.BUSY


def test_long_breaker_reason_is_truncated() -> None:
    assert len(tripped(None, "x" * 5000, NOW).why) == 200
    assert len(opened_by_hand("x" * 5000, NOW).why) == 200
    again = tripped(tripped(None, "paused", NOW), "x" * 5000, NOW + 2 * MINUTE)
    assert len(again.why) == 200


def test_pace_report_shows_open_breaker() -> None:
    assert read(Pace(), PLAN, NOW).breaker is None
    assert read(breaker_open(), PLAN, NOW).breaker == breaker_open().breaker


@given(
    st.lists(
        st.tuples(st.integers(0, 200), st.sampled_from(("ask", "refused", "lost"))), max_size=60
    )
)
def test_breaker_allows_at_most_one_probe_per_step(said: list[tuple[int, str]]) -> None:
    """And a step is never shorter than the first, nor longer than the longest."""
    pace, now = breaker_open(), NOW
    probes: list[datetime] = []
    for seconds, what in said:
        now += seconds * SECOND
        if what == "refused":
            pace = replace(pace, breaker=tripped(pace.breaker, "paused", now))
        else:
            found = asked(pace, now)
            if isinstance(found, Reservation):
                probes.append(now)
                pace = found.from_(pace)
        assert pace.breaker
        assert FIRST_STEP <= pace.breaker.step <= LONGEST_STEP
    assert all(later - earlier >= FIRST_STEP for earlier, later in pairwise(probes))


@pytest.mark.parametrize("step", [MINUTE, 30 * MINUTE])
def test_rejection_never_shortens_open_time_of_breaker(step: timedelta) -> None:
    breaker = OpenBreaker(why="paused", since=NOW, until=NOW + step, step=step, is_probed=True)
    assert tripped(breaker, "paused", NOW - 5 * SECOND).until >= breaker.until
