"""All differences that an experiment may show, on one scale. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, log10

from gazette.domain.feedback.statistics import Measure

from cli.statistics.comparisons import Findings, Verdict

_TICKS = 4
"""At most so many on each side of no difference."""

_MARGIN = 4.0
"""Percent of the width beside the outermost ticks: half of a label."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A label of the scale, in percentage points, and its place in percent of the width."""

    label: str
    place: float


@dataclass(frozen=True, slots=True)
class Interval:
    """One difference: places in percent of the width. `is_shown`: it is not by chance."""

    outcome: Measure
    which: str
    words: str
    low: float
    high: float
    is_shown: bool


@dataclass(frozen=True, slots=True)
class Forest:
    """Every interval of every outcome, and the scale that all of them have."""

    ticks: tuple[Tick, ...]
    intervals: tuple[Interval, ...]


def forest(findings: Findings) -> Forest | None:
    """None where there is nothing to compare."""
    verdicts = [verdict for some in findings.values() for verdict in some]
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
    """`-end` to `end` as percent of the width."""
    return 50 + (50 - _MARGIN) * value / end


def _step(widest: float) -> float:
    """The least of 1, 2 and 5 times a power of ten of which a few reach `widest`."""
    if not widest:
        return 1.0
    power = 10.0 ** floor(log10(widest / _TICKS))
    return next(
        power * factor for factor in (1, 2, 5, 10) if widest <= power * factor * _TICKS * (1 + 1e-9)
    )


def _label(points: float, step: float) -> str:
    digits = max(0, -floor(log10(step)))
    return "0" if not points else f"{points:+.{digits}f}".replace("-", "\u2212")
