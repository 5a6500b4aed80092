"""What an experiment shows, in numbers and in words."""

import subprocess
import sys
from math import hypot, sqrt
from statistics import NormalDist

import pytest

from gazette_cli.statistics.comparisons import Verdict, compare
from gazette_support.domain.experiment_readers import Arm
from gazette_support.domain.statistics import ACTS, Measure

CLICKED, UNSUBSCRIBED = Measure.CLICKED, Measure.UNSUBSCRIBED
COMPLAINED, OPENED = Measure.COMPLAINED, Measure.OPENED


def an_arm(variation: int, readers: int = 1000, **did: int) -> Arm:
    return Arm(variation, readers, {act: did.get(act.value, 0) for act in ACTS})


def a_verdict(low: float, high: float) -> Verdict:
    return Verdict(CLICKED, an_arm(1), an_arm(2), low, high)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.012, 0.034, "1.2 to 3.4 percentage points more readers clicked"),
        (-0.034, -0.012, "1.2 to 3.4 percentage points fewer readers clicked"),
        (-0.005, 0.019, "no significant difference (-0.5 to 1.9 percentage points)"),
        (0.0, 0.019, "no significant difference (0.0 to 1.9 percentage points)"),
        (0.00031, 0.019, "0.03 to 1.90 percentage points more readers clicked"),
        (0.0000021, 0.00012, "0.0002 to 0.0120 percentage points more readers clicked"),
        (0.0, 0.0, "no significant difference (0.0 to 0.0 percentage points)"),
    ],
)
def test_verdict_is_described_in_words(low: float, high: float, words: str) -> None:
    assert a_verdict(low, high).words == f"variation 2 compared with 1: {words}"


def wilson(did: int, readers: int) -> tuple[float, float]:
    """The bounds of a share, 95 percent sure. E. B. Wilson, JASA 22 (1927)."""
    z = NormalDist().inv_cdf(0.975)
    share = did / readers
    middle = 2 * did + z**2
    half = z * sqrt(4 * did * (1 - share) + z**2)
    return (middle - half) / (2 * (readers + z**2)), (middle + half) / (2 * (readers + z**2))


def test_interval_is_newcombes_hybrid_score_interval() -> None:
    """Method 10 of R. G. Newcombe, Statistics in Medicine 17 (1998), pages 873 to 890."""
    (found,) = compare([an_arm(1, 80, clicked=48), an_arm(2, 70, clicked=56)])[CLICKED]
    (low1, high1), (low2, high2) = wilson(48, 80), wilson(56, 70)
    difference = 56 / 70 - 48 / 80
    assert found.low == pytest.approx(difference - hypot(56 / 70 - low2, high1 - 48 / 80))
    assert found.high == pytest.approx(difference + hypot(high2 - 56 / 70, 48 / 80 - low1))


def test_several_variations_are_compared_with_the_lowest_more_strictly() -> None:
    arms = [an_arm(2, clicked=50), an_arm(3, clicked=60), an_arm(5, clicked=70)]
    found = compare(arms)[CLICKED]
    assert [(each.base.number, each.arm.number) for each in found] == [(2, 3), (2, 5)]
    alone = compare(arms[:2])[CLICKED][0]
    assert found[0].low < alone.low < alone.high < found[0].high
    # Imported here: it takes seconds, and each process of the tests imports this module.
    from statsmodels.stats.proportion import confint_proportions_2indep

    low, high = confint_proportions_2indep(60, 1000, 50, 1000, method="newcomb", alpha=0.025)
    assert (found[0].low, found[0].high) == (low, high)


def test_clicks_decide_if_tracked_and_otherwise_unsubscribes() -> None:
    assert list(compare([an_arm(1), an_arm(2)])) == [UNSUBSCRIBED, COMPLAINED]
    assert list(compare([an_arm(1), an_arm(2, clicked=1)])) == [CLICKED, UNSUBSCRIBED, COMPLAINED]
    assert list(compare([an_arm(1, opened=1)])) == [UNSUBSCRIBED, COMPLAINED, OPENED]


def test_experiment_without_actions_shows_no_difference() -> None:
    (found,) = compare([an_arm(1, 1), an_arm(2, 1)])[UNSUBSCRIBED]
    assert not found.is_shown


def test_single_variation_has_no_comparison() -> None:
    assert compare([an_arm(1, clicked=3)])[CLICKED] == []
    assert compare([]) == {}


def test_statistics_library_is_loaded_only_for_experiments() -> None:
    program = (
        "import sys, gazette_cli.main; print({'numpy', 'scipy', 'statsmodels'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert result.stdout == "set()\n"
