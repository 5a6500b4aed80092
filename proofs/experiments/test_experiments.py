"""A known effect is found, and no effect is found where there is none, at the stated rates.

Experiments use the real code: `variant_of` assigns, the step counts, and the command gives the
verdict. The seeds are always the same. `make experiments` has ten times as many.
"""

from dataclasses import replace

import pytest
from scipy.stats import binom

from proofs.experiments.rates import is_shown_by_emails, power, rates, share
from proofs.experiments.town import Town

EXPERIMENTS = 120
NONE, LIFTED = Town(readers=160, days=5), Town(readers=160, days=5, lift=0.1)


def at_most(probability: float) -> int:
    """Return the upper bound that one of a thousand such simulations exceeds."""
    return int(binom.ppf(0.999, EXPERIMENTS, probability))


def at_least(probability: float) -> int:
    """Return the lower bound that one of a thousand such simulations falls below."""
    return int(binom.ppf(0.001, EXPERIMENTS, probability))


@pytest.mark.parametrize("variations", [2, 3])
def test_where_there_is_no_effect_no_difference_is_shown_as_often_as_is_said(
    variations: int,
) -> None:
    found = rates(replace(NONE, variations=variations), EXPERIMENTS)
    assert found.shown <= at_most(0.05)
    assert found.covered >= at_least(0.95)


def test_an_effect_is_found_as_often_as_its_size_and_the_readers_allow() -> None:
    expected = power(LIFTED)
    found = rates(LIFTED, EXPERIMENTS)
    assert 0.7 < expected < 0.95
    assert found.shown >= at_least(expected)
    assert found.covered >= at_least(0.95)


def test_to_count_emails_would_show_differences_that_are_none() -> None:
    assert share(NONE, EXPERIMENTS, is_shown_by_emails) > 0.1
