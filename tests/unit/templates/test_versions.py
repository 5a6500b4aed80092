"""Which version a reader gets."""

from math import sqrt

import pytest
from gazette.domain.templates.versions import (
    DEPLOYED,
    NOTHING_PUSHED,
    Candidate,
    InForce,
    Version,
    version_for,
)
from hypothesis import given
from hypothesis import strategies as st

from gazette_support.domain.templates.changes import (
    InvalidRollout,
    pushed,
    rolled_back,
    rolled_out,
    taken_back,
)
from tests.builders import NOW

SIX, SEVEN = Version(6, "6" * 64), Version(7, "7" * 64)

READERS = [f"reader-{number}" for number in range(20_000)]

percents = st.integers(0, 99)
users = st.text(min_size=1, max_size=20)
numbers = st.integers(7, 10_000)


def with_candidate(percent: int, number: int = 7) -> InForce:
    return InForce(SIX, Candidate(Version(number, "7" * 64), percent))


@given(numbers, st.integers(1, 99))
def test_candidate_reaches_its_share_of_the_readers(number: int, percent: int) -> None:
    """Within six standard deviations of a binomial share, for any number and percent."""
    in_force = with_candidate(percent, number)
    got = sum(version_for(each, in_force).number == number for each in READERS[:5_000])
    expected = 5_000 * percent / 100
    assert abs(got - expected) <= 6 * sqrt(expected * (1 - percent / 100)) + 1


@given(users, percents, percents, numbers)
def test_higher_percentage_keeps_existing_candidate_readers(
    user: str, one: int, other: int, number: int
) -> None:
    low, high = sorted((one, other))
    if version_for(user, with_candidate(low, number)).number == number:
        assert version_for(user, with_candidate(high, number)).number == number


@given(users, percents)
def test_version_of_a_reader_is_stable(user: str, percent: int) -> None:
    assert version_for(user, with_candidate(percent)) == version_for(user, with_candidate(percent))


def test_successive_candidates_reach_different_readers() -> None:
    first = {each for each in READERS if version_for(each, with_candidate(10, 7)).number == 7}
    second = {each for each in READERS if version_for(each, with_candidate(10, 8)).number == 8}
    assert len(first & second) < 0.2 * len(first)


def test_candidate_at_zero_percent_reaches_no_reader() -> None:
    assert {version_for(each, with_candidate(0)) for each in READERS} == {SIX}


def test_assignment_of_readers_is_stable_across_releases() -> None:
    """What is hashed must not change: a share that is dealt anew is mixed with the old one."""
    got = [number for number in range(40) if version_for(f"u{number}", with_candidate(20)) != SIX]
    assert got == [5, 6, 17, 24, 28, 33, 34]


@given(users)
def test_without_a_candidate_every_reader_gets_the_current_version(user: str) -> None:
    assert version_for(user, InForce(SIX)) == SIX
    assert version_for(user, NOTHING_PUSHED) == DEPLOYED


@pytest.mark.parametrize(
    ("number", "checksum"), [(0, "a" * 64), (7, ""), (7, "A" * 64), (7, "a" * 63), (-1, "a" * 64)]
)
def test_version_has_a_number_and_a_checksum_or_neither(number: int, checksum: str) -> None:
    with pytest.raises(ValueError, match="checksum"):
        Version(number, checksum)


@pytest.mark.parametrize("percent", [-1, 100, 101])
def test_candidate_share_is_below_100_percent(percent: int) -> None:
    with pytest.raises(ValueError, match="%"):
        Candidate(SEVEN, percent)


@pytest.mark.parametrize("percent", [-1, 0, 101])
def test_push_with_an_invalid_percentage_is_rejected(percent: int) -> None:
    with pytest.raises(InvalidRollout, match="percent"):
        pushed(NOTHING_PUSHED, SEVEN, percent, at=NOW, by="ann")


def test_fully_rolled_out_candidate_becomes_the_current_version() -> None:
    candidate, _ = pushed(InForce(SIX), SEVEN, 30, at=NOW, by="ann")
    assert (candidate.current, candidate.candidate) == (SIX, Candidate(SEVEN, 30))
    after, _ = rolled_out(candidate, 100, at=NOW, by="ann")
    assert (after.current, after.candidate, after.revision) == (SEVEN, None, 2)


def test_withdrawn_candidate_leaves_the_current_version() -> None:
    candidate, _ = pushed(InForce(SIX), SEVEN, 30, at=NOW, by="ann")
    after, _ = taken_back(candidate, at=NOW, by="ann")
    assert (after.current, after.candidate) == (SIX, None)


def test_rollback_also_withdraws_the_candidate() -> None:
    candidate, _ = pushed(InForce(SIX), SEVEN, 30, at=NOW, by="ann")
    after, _ = rolled_back(candidate, SIX, at=NOW, by="ann")
    assert (after.current, after.candidate) == (SIX, None)


def test_change_without_effect_is_rejected_with_a_reason() -> None:
    with pytest.raises(InvalidRollout, match="version 6 is already in force for all readers"):
        rolled_back(InForce(SIX), SIX, at=NOW, by="ann")
    with pytest.raises(InvalidRollout, match="no candidate"):
        taken_back(InForce(SIX), at=NOW, by="ann")
    with pytest.raises(InvalidRollout, match="no candidate"):
        rolled_out(InForce(SIX), 5, at=NOW, by="ann")
