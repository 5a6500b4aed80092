"""Draws of cohorts are as exact as one draw for each reader."""

from math import sqrt
from random import Random
from statistics import mean, pvariance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gazette_cli.simulate.engine.draws import apportion, binomial, poisson, split

_OFTEN = 4_000


@pytest.mark.parametrize(("trials", "chance"), [(10, 0.3), (500, 0.02), (10_000, 0.95)])
def test_binomial_draws_have_the_expected_mean_and_variance(trials: int, chance: float) -> None:
    random = Random(5)
    drawn = [binomial(random, trials, chance) for _ in range(_OFTEN)]
    variance = trials * chance * (1 - chance)
    assert abs(mean(drawn) - trials * chance) < 4 * sqrt(variance / _OFTEN)
    assert pvariance(drawn) == pytest.approx(variance, rel=0.12)


@pytest.mark.parametrize("expected", [0.5, 20, 3_000])
def test_poisson_draws_have_the_expected_mean_and_variance(expected: float) -> None:
    random = Random(7)
    drawn = [poisson(random, expected) for _ in range(_OFTEN)]
    assert abs(mean(drawn) - expected) < 4 * sqrt(expected / _OFTEN)
    assert pvariance(drawn) == pytest.approx(expected, rel=0.12)


@given(st.integers(0, 10**7), st.floats(0, 1), st.integers())
def test_successes_do_not_exceed_trials(trials: int, chance: float, seed: int) -> None:
    found = binomial(Random(seed), trials, chance)
    assert 0 <= found <= trials
    assert chance > 0 or found == 0
    assert chance < 1 or found == trials


@given(st.integers(0, 10**6), st.integers(1, 50), st.integers())
def test_apportioned_parts_add_up_to_the_total(number: int, parts: int, seed: int) -> None:
    found = [*split(Random(seed), number, parts)]
    assert (len(found), sum(found)) == (parts, number)
    assert min(found) >= 0


@given(st.integers(0, 10**6), st.lists(st.floats(0.01, 100), min_size=1, max_size=30))
def test_readers_are_apportioned_by_weight(number: int, weights: list[float]) -> None:
    found = apportion(number, weights)
    assert sum(found) == number
    for part, weight in zip(found, weights, strict=True):
        assert abs(part - number * weight / sum(weights)) <= 1.0001
