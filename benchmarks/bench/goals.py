"""The speed and cost goals, their measurements, and their verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from statistics import median, quantiles


class Verdict(StrEnum):
    """The verdict on a goal.

    `within noise`: the median misses the goal, but at least a quarter of the rounds meet it.

    `not run`: the goal was not selected, or the run was interrupted before the goal was measured.

    `failed`: the part that measures the goal raised an error, or did not measure the goal.
    """

    MET = "met"
    WITHIN_NOISE = "missed, within noise"
    MISSED = "missed"
    NOT_RUN = "not run"
    FAILED = "failed"


class Noise(StrEnum):
    """The noise that is known of a figure."""

    QUARTILES = "quartiles of the rounds"
    UNKNOWN = "one run: noise unknown"
    NONE = "computed, no noise"


@dataclass(frozen=True, slots=True)
class Goal:
    """A speed or cost goal, measured by `part`.

    `target` is the minimum if `is_floor`, else the maximum.
    """

    name: str
    says: str
    target: float
    unit: str
    part: str
    is_floor: bool = False

    @property
    def wanted(self) -> str:
        """The condition, such as `at most 20 ms`."""
        return f"{'at least' if self.is_floor else 'at most'} {number(self.target)} {self.unit}"


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured figure, and the quartiles of its rounds, which show the noise of this run.

    `low` and `high` are equal to the figure if `noise` is not `QUARTILES`. `peers` contains the
    figures of the peers in the same unit, `how` describes the measurement, and `profile` contains
    the CPU seconds of one run by package.
    """

    figure: float
    low: float
    high: float
    rounds: Sequence[float] = ()
    peers: Mapping[str, float] = field(default_factory=dict)
    how: str = ""
    profile: Mapping[str, float] = field(default_factory=dict)
    noise: Noise = Noise.QUARTILES

    def __post_init__(self) -> None:
        """Raise ValueError if a figure is infinite or not a number."""
        if not all(map(isfinite, (self.figure, self.low, self.high, *self.peers.values()))):
            raise ValueError(f"a figure is not finite: {self}")

    @property
    def noise_text(self) -> str:
        """The noise, such as `50 to 70 (quartiles)`."""
        if self.noise is Noise.QUARTILES:
            return f"{number(self.low)} to {number(self.high)} (quartiles)"
        return str(self.noise)


@dataclass(frozen=True, slots=True)
class Result:
    """A goal and its measurement, which is None if the goal was not run or its part failed.

    `why` is then the reason.
    """

    goal: Goal
    measured: Measured | None
    has_failed: bool = False
    why: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict.

        If the median misses the goal but the better quartile meets it, the goal is within noise.
        """
        if self.measured is None:
            return Verdict.FAILED if self.has_failed else Verdict.NOT_RUN
        best = self.measured.high if self.goal.is_floor else self.measured.low
        if self._meets(self.measured.figure):
            return Verdict.MET
        return Verdict.WITHIN_NOISE if self._meets(best) else Verdict.MISSED

    def _meets(self, figure: float) -> bool:
        return figure >= self.goal.target if self.goal.is_floor else figure <= self.goal.target


def of_rounds(
    values: Sequence[float], *, peers: Mapping[str, Sequence[float]] | None = None, how: str = ""
) -> Measured:
    """Return the median and quartiles of all rounds, and the medians of the peers."""
    low, high = _quartiles(values)
    others = {name: median(each) for name, each in (peers or {}).items()}
    return Measured(median(values), low, high, values, others, how, noise=_noise_of(values))


def ratio(
    one: Sequence[float],
    other: Sequence[float],
    *,
    peers: Mapping[str, Sequence[float]] | None = None,
    how: str = "",
) -> Measured:
    """Return the ratio of the medians, and the quartiles of the ratios per round.

    The figures of `peers` also become ratios to `other`.
    """
    rounds = [mine / theirs for mine, theirs in zip(one, other, strict=True)]
    low, high = _quartiles(rounds)
    others = {name: median(each) / median(other) for name, each in (peers or {}).items()}
    figure = median(one) / median(other)
    return Measured(figure, low, high, rounds, others, how, noise=_noise_of(rounds))


def computed(figure: float, *, peers: Mapping[str, float] | None = None, how: str = "") -> Measured:
    """Return a measurement for a computed figure, which has no noise."""
    return Measured(figure, figure, figure, (), peers or {}, how, noise=Noise.NONE)


def of_one_run(figure: float, *, how: str = "") -> Measured:
    """Return a measurement for the figure of a single run, whose noise is unknown."""
    return of_rounds([figure], how=how)


def number(value: float) -> str:
    """Format a number with three significant digits, such as `5,000`, `33.2` or `0.93`."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _noise_of(rounds: Sequence[float]) -> Noise:
    return Noise.QUARTILES if len(rounds) > 1 else Noise.UNKNOWN


def _quartiles(values: Sequence[float]) -> tuple[float, float]:
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = quantiles(values, n=4, method="inclusive")
    return low, high
