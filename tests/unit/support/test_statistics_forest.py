"""The scale of all intervals: it holds each of them, has few labels, and round ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gazette_cli.statistics.comparisons import Verdict
from gazette_cli.statistics.forest import forest
from gazette_support.domain.experiment_readers import Arm
from gazette_support.domain.statistics import Measure

BOUND = st.floats(-1, 1, allow_nan=False).map(lambda bound: round(bound, 6))


def verdict(low: float, high: float, outcome: Measure = Measure.CLICKED) -> Verdict:
    """Variation 2 against 1."""
    base, other = (Arm(number, 100, dict.fromkeys(Measure, 1)) for number in (1, 2))
    return Verdict(outcome, base, other, low, high)


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.064, 0.224, "−30 −20 −10 0 +10 +20 +30"),
        (-0.019, 0.019, "−2.0 −1.5 −1.0 −0.5 0 +0.5 +1.0 +1.5 +2.0"),
        (-1, 1, "−100 −50 0 +50 +100"),
        (0, 0.00001, "−0.0010 −0.0005 0 +0.0005 +0.0010"),
        (0, 0, "−1 0 +1"),
        (-0.04, 0.01, "−4 −3 −2 −1 0 +1 +2 +3 +4"),
    ],
)
def test_axis_has_few_round_labels(low: float, high: float, labels: str) -> None:
    found = forest({Measure.CLICKED: [verdict(low, high)]})
    assert found is not None
    assert " ".join(tick.label for tick in found.ticks) == labels


@given(st.lists(st.tuples(BOUND, BOUND).map(sorted), min_size=1, max_size=6))
def test_every_interval_is_within_the_scale_and_on_the_correct_side(
    bounds: list[list[float]],
) -> None:
    verdicts = [verdict(low, high) for low, high in bounds]
    found = forest({Measure.CLICKED: verdicts[:1], Measure.UNSUBSCRIBED: verdicts[1:]})
    assert found is not None
    places = [tick.place for tick in found.ticks]
    assert places == sorted(places)
    assert len(places) <= 9
    for (low, high), interval in zip(bounds, found.intervals, strict=True):
        assert places[0] - 1e-6 <= interval.low <= interval.high <= places[-1] + 1e-6
        assert (interval.low < 50, interval.high > 50) == (low < 0, high > 0)


def test_equal_differences_are_drawn_alike_for_any_outcome() -> None:
    found = forest(
        {
            Measure.CLICKED: [verdict(0.1, 0.2)],
            Measure.COMPLAINED: [verdict(0.1, 0.2, Measure.COMPLAINED), verdict(-0.01, 0.01)],
        }
    )
    assert found is not None
    first, second, third = found.intervals
    assert (first.low, first.high, first.is_shown) == (second.low, second.high, True)
    assert not third.is_shown


def test_empty_comparison_has_no_scale() -> None:
    assert forest({Measure.CLICKED: []}) is None
