"""The forest plot of an experiment, which shows all differences on one scale. No I/O."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, log10

from gazette_cli.statistics.comparisons import Findings, Verdict
from gazette_support.domain.statistics import Measure

_TICKS = 4
"""The maximum number of ticks on each side of zero."""

_MARGIN = 4.0
"""The space outside the outermost ticks, in percent of the width. Half a label fits into this
space.
"""


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick of the scale."""

    # The value in percentage points.
    label: str

    # The position in percent of the width.
    place: float


@dataclass(frozen=True, slots=True)
class Interval:
    """The confidence interval of a difference."""

    outcome: Measure
    which: str
    words: str

    # The bounds in percent of the width.
    low: float
    high: float

    # True if the difference is significant.
    is_shown: bool


@dataclass(frozen=True, slots=True)
class Forest:
    """All intervals and their common scale."""

    ticks: tuple[Tick, ...]
    intervals: tuple[Interval, ...]


def forest(findings: Findings) -> Forest | None:
    """Draw the intervals, or return None if the findings contain no verdicts."""
    verdicts = [verdict for verdicts in findings.values() for verdict in verdicts]
    if not verdicts:
        return None
    widest = max(abs(bound) for each in verdicts for bound in (each.low, each.high)) * 100
    step = _step(widest)
    count = max(1, ceil(round(widest / step, 9)))
    ticks = tuple(
        Tick(_label(number * step, step), _place(number, count))
        for number in range(-count, count + 1)
    )
    return Forest(ticks, tuple(_intervals(verdicts, count * step / 100)))


def _intervals(verdicts: list[Verdict], end: float) -> Iterator[Interval]:
    for each in verdicts:
        which, _, words = each.words.partition(": ")
        low, high = (_place(bound, end) for bound in (each.low, each.high))
        yield Interval(each.outcome, which, words, low, high, each.is_shown)


def _place(value: float, end: float) -> float:
    """Convert a value from `-end` to `end` to a position in percent of the width."""
    return 50 + (50 - _MARGIN) * value / end


def _step(widest: float) -> float:
    """Return the smallest step that is 1, 2 or 5 times a power of ten and needs at most `_TICKS`
    ticks.
    """
    if not widest:
        return 1.0
    power = 10.0 ** floor(log10(widest / _TICKS))
    return next(
        power * factor for factor in (1, 2, 5, 10) if widest <= power * factor * _TICKS * (1 + 1e-9)
    )


def _label(points: float, step: float) -> str:
    digits = max(0, -floor(log10(step)))
    return "0" if not points else f"{points:+.{digits}f}".replace("-", "\u2212")
