"""Line plots as SVG, without scripts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

WIDTH, HEIGHT, LEFT, BOTTOM = 880, 220, 64, 26
_MOST_POINTS = 720
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a plot."""

    name: str

    # The number that determines the colour of the line.
    number: int

    # The attribute `d` of the SVG path.
    d: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A tick of an axis."""

    place: float
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A line plot with two axes."""

    title: str

    # The name of the vertical axis.
    unit: str

    # The text alternative.
    says: str

    lines: tuple[Line, ...]

    # The ticks of the horizontal axis.
    across: tuple[Mark, ...]

    # The ticks of the vertical axis.
    up: tuple[Mark, ...]


def plot(
    title: str,
    unit: str,
    values: Mapping[str, Sequence[float]],
    *,
    minutes: int,
    most: float = 0,
) -> Plot:
    """Plot values by minute. If several minutes share a point, the point shows the largest
    value. The vertical axis has room for `most`, so that plots can share a scale.
    """
    every = max(1, ceil(minutes / _MOST_POINTS))
    thinned = {
        name: [max(line[at : at + every]) for at in range(0, len(line), every)]
        for name, line in values.items()
        if line
    }
    top = _rounded(max((most, *(max(line) for line in thinned.values()))))
    lines = tuple(
        Line(name, number, _path(line, top, minutes / every))
        for number, (name, line) in enumerate(thinned.items())
    )
    peaks = "; ".join(f"{name} at most {ceil(max(line)):,}" for name, line in thinned.items())
    return Plot(
        title=title,
        unit=unit,
        says=f"{title}, {unit}: {peaks}",
        lines=lines,
        across=tuple(_hours(minutes)),
        up=tuple(Mark(_up(part * top / 2, top), f"{part * top / 2:,.10g}") for part in range(3)),
    )


def _path(line: Sequence[float], top: float, points: float) -> str:
    wide = WIDTH - LEFT
    coordinates = (
        f"{LEFT + at * wide / points:.1f} {_up(value, top):.1f}" for at, value in enumerate(line)
    )
    return "M" + "L".join(coordinates)


def _up(value: float, top: float) -> float:
    return (HEIGHT - BOTTOM) * (1 - value / top) + 8


def _hours(minutes: int) -> list[Mark]:
    hours = minutes / 60
    every = next(step for step in (1, 2, 3, 4, 6, 12, 24, 48, 96, 1e9) if hours / step <= 10)
    marks = []
    at = 0.0
    while at <= hours:
        label = f"{at % 24:02.0f}:00"
        marks.append(Mark(LEFT + at / hours * (WIDTH - LEFT), label))
        at += every
    return marks


def _rounded(most: float) -> float:
    if most <= 0:
        return 1
    power = 10.0 ** floor(log10(most))
    return next(step * power for step in _STEPS if step * power >= most)
