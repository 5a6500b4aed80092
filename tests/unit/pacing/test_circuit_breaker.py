"""The brake: how long it holds, what doubles it, and who may try."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from gazette.domain.delivery.circuit_breaker import (
    FIRST_STEP,
    LONGEST_STEP,
    Brake,
    pulled,
    pulled_by_hand,
)
from gazette.domain.delivery.pace import NoTurn, Pace, PacePlan, Taking, read, take
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
PLAN = PacePlan(rate=10)


def asked(pace: Pace, now: datetime) -> Taking | NoTurn:
    return take(pace, PLAN, now=now, latest=now + 5 * SECOND)


def braked(brake: Brake | None = None) -> Pace:
    return Pace(brake=brake or pulled(None, "paused", NOW))


def tried(pace: Pace, now: datetime) -> Pace:
    found = asked(pace, now)
    assert isinstance(found, Taking)
    assert found.is_probe
    return found.from_(pace)


def test_the_first_refusal_stops_all_for_a_minute() -> None:
    brake = pulled(None, "paused", NOW)
    assert brake == Brake(why="paused", since=NOW, until=NOW + MINUTE, step=MINUTE)
    assert asked(braked(), NOW) is NoTurn.BRAKED
    assert asked(braked(), NOW + MINUTE - timedelta.resolution) is NoTurn.BRAKED


def test_when_its_time_is_over_one_tries_and_all_others_stay_out_for_another_step() -> None:
    pace = tried(braked(), NOW + 7 * MINUTE)
    assert asked(pace, NOW + 7 * MINUTE) is NoTurn.BRAKED
    assert asked(pace, NOW + 8 * MINUTE - timedelta.resolution) is NoTurn.BRAKED


def test_where_the_one_that_tries_is_lost_the_next_tries_after_another_step() -> None:
    pace = braked()
    for nth in range(1, 5):
        pace = tried(pace, NOW + nth * MINUTE)
    assert pace.brake
    assert (pace.brake.step, pace.brake.since) == (MINUTE, NOW)


def test_each_refusal_of_one_that_tries_doubles_the_step_up_to_half_an_hour() -> None:
    pace, now, steps = braked(), NOW, []
    for _ in range(7):
        assert pace.brake
        now = pace.brake.until
        pace = tried(pace, now)
        brake = pulled(pace.brake, "still paused", now)
        assert (brake.until, brake.since, brake.why) == (now + brake.step, NOW, "still paused")
        steps.append(brake.step // MINUTE)
        pace = replace(pace, brake=brake)
    assert steps == [2, 4, 8, 16, 30, 30, 30]


def test_what_others_are_refused_who_had_their_turn_before_changes_nothing() -> None:
    brake = pulled(None, "paused", NOW)
    for second in range(60):
        assert pulled(brake, "paused too", NOW + second * SECOND) is brake


def test_of_those_who_are_refused_while_one_tries_only_the_first_counts() -> None:
    brake = pulled(None, "paused", NOW).tried(NOW + MINUTE)
    once = pulled(brake, "paused", NOW + MINUTE + SECOND)
    assert once.step == 2 * MINUTE
    assert pulled(once, "paused", NOW + MINUTE + 2 * SECOND) is once


def test_a_refusal_after_its_time_counts_as_if_it_had_tried() -> None:
    late = pulled(pulled(None, "paused", NOW), "paused", NOW + 3 * MINUTE)
    assert (late.step, late.until) == (2 * MINUTE, NOW + 5 * MINUTE)


def test_nobody_tries_while_it_was_pulled_by_hand() -> None:
    brake = pulled_by_hand("wrong template", NOW)
    assert brake.by_hand
    assert asked(braked(brake), datetime(2099, 1, 1, tzinfo=UTC)) is NoTurn.BRAKED
    assert pulled(brake, "paused", NOW + MINUTE) is brake


def test_what_is_only_braked_is_told_also_where_the_day_is_used_up() -> None:
    """What is told decides whether a digest is put off or skipped."""
    plan = PacePlan(rate=10, warmup_from=date(2026, 11, 22), warmup_daily=1)
    used_up = Pace(day=date(2026, 11, 22), taken=1)
    assert take(used_up, plan, now=NOW, latest=NOW) is NoTurn.DAILY_CAP
    pace = replace(used_up, brake=pulled(None, "paused", NOW))
    assert take(pace, plan, now=NOW, latest=NOW) is NoTurn.BRAKED
    later = NOW + 2 * MINUTE
    assert take(pace, plan, now=later, latest=later) is NoTurn.DAILY_CAP


def test_a_turn_that_is_too_late_is_not_spent_on_trying() -> None:
    pace = replace(braked(), next_at=NOW + 3 * MINUTE)
    assert asked(pace, NOW + 2 * MINUTE) is NoTurn.BUSY


def test_a_reason_is_cut_so_that_the_row_stays_small() -> None:
    assert len(pulled(None, "x" * 5000, NOW).why) == 200
    assert len(pulled_by_hand("x" * 5000, NOW).why) == 200
    again = pulled(pulled(None, "paused", NOW), "x" * 5000, NOW + 2 * MINUTE)
    assert len(again.why) == 200


def test_people_see_it() -> None:
    assert read(Pace(), PLAN, NOW).brake is None
    assert read(braked(), PLAN, NOW).brake == braked().brake


@given(
    st.lists(
        st.tuples(st.integers(0, 200), st.sampled_from(("ask", "refused", "lost"))), max_size=60
    )
)
def test_whatever_happens_no_step_has_two_that_try(said: list[tuple[int, str]]) -> None:
    """And a step is never shorter than the first, nor longer than the longest."""
    pace, now = braked(), NOW
    probes: list[datetime] = []
    for seconds, what in said:
        now += seconds * SECOND
        if what == "refused":
            pace = replace(pace, brake=pulled(pace.brake, "paused", now))
        else:
            found = asked(pace, now)
            if isinstance(found, Taking):
                probes.append(now)
                pace = found.from_(pace)
        assert pace.brake
        assert FIRST_STEP <= pace.brake.step <= LONGEST_STEP
    assert all(later - earlier >= FIRST_STEP for earlier, later in pairwise(probes))


@pytest.mark.parametrize("step", [MINUTE, 30 * MINUTE])
def test_a_brake_never_lets_go_earlier_for_another_refusal(step: timedelta) -> None:
    brake = Brake(why="paused", since=NOW, until=NOW + step, step=step, is_tried=True)
    assert pulled(brake, "paused", NOW - 5 * SECOND).until >= brake.until
