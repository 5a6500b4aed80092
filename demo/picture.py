"""The command `python -m demo.picture`, which draws the dashboard from the metrics of a real run.

It draws the graphs in `gazette_cdk.constructs.watching.panels` that have data in this run. AWS's
own metrics are missing, because the embedded engine does not measure them. Metrics that the stage
does not track are missing too. `--again` redraws the last run.
"""

import sys
import textwrap
import time
from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

from demo.engine import ROOT
from demo.recorded import Points, Recorded, read_back, recorded, write_down
from demo.watched import watch
from gazette_cdk.constructs.watching.panels import PANELS, Panel

PICTURE = ROOT / "docs" / "images" / "dashboard.svg"

_EDGE, _GAP, _A_ROW = 16, 14, 3
_WIDTH = 880
_WIDE = (_WIDTH - 2 * _EDGE - (_A_ROW - 1) * _GAP) / _A_ROW
_HIGH = 186
_PLOT_LEFT, _PLOT_TOP, _PLOT_HIGH = 38, 46, 82
_PLOT_WIDE = _WIDE - _PLOT_LEFT - 12
_HEAD, _LINE, _LETTER = 52, 16, 6.1
"""Sizes in pixels: the height of a heading, the height of a line of text, and the width of the
widest letter in a legend.
"""
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
_STYLE = (
    "text{font:11px system-ui,-apple-system,'Segoe UI',Arial,sans-serif;fill:#1f2328}"
    ".q{font-size:17px;font-weight:600}.t{font-size:12px;font-weight:600}"
    ".s{fill:#59636e}.e{text-anchor:end}.m{text-anchor:middle}"
)


def panels_drawn() -> dict[str, list[Panel]]:
    """Return the panels of the picture by question."""
    return {
        question: [
            panel for panel in panels if panel.own and not panel.tracked and not panel.asks_source
        ]
        for question, panels in PANELS.items()
    }


def left_out(question: str) -> list[str]:
    """Return the titles of a question's panels that are not drawn."""
    return [panel.title for panel in PANELS[question] if panel not in panels_drawn()[question]]


def caption(run: Recorded) -> str:
    """Return the sentences about the run and the missing metrics."""
    return (
        f"From a run on {run.day} on the embedded engine: {run.messages:,} messages of {run.hours} "
        f"hours to {run.students} readers became {run.emails:,} emails. Each point is an hour. The "
        f"clock ticks {run.strikes} times, when a digest is due, instead of every ten minutes; "
        "the first tick is left out. The demo causes the faults. AWS's own metrics are missing, "
        "because the engine does not measure them."
    )


def draw(run: Recorded) -> str:
    """Return the picture as SVG, with a row of graphs for each question."""
    body, top = [], 8.0
    for question, panels in panels_drawn().items():
        missing = f"Not in this picture: {', '.join(left_out(question))}"
        body.append(_text(_EDGE, top + 20, question, "q"))
        body.append(_text(_EDGE, top + 38, missing, "s"))
        top += _HEAD
        for number, panel in enumerate(panels):
            left = _EDGE + number % _A_ROW * (_WIDE + _GAP)
            body.append(_graph(panel, run, left, top + number // _A_ROW * (_HIGH + _GAP)))
        top += ceil(len(panels) / _A_ROW) * (_HIGH + _GAP)
    for line in textwrap.wrap(caption(run), 132):
        top += _LINE
        body.append(_text(_EDGE, top, line, "s"))
    top += _EDGE
    content = "\n".join(body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{top:g}" '
        f'viewBox="0 0 {_WIDTH} {top:g}" role="img"><title>The dashboard of a stage</title>'
        f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#fff"/>\n'
        f"{content}\n</svg>\n"
    )


def _graph(panel: Panel, run: Recorded, left: float, top: float) -> str:
    lines = {
        name if len(statistics) == 1 else f"{name} {statistic}": _points(run, name, statistic)
        for name, statistics in panel.own
        for statistic in statistics
    }
    most = _round_up(max((value for each in lines.values() for _, value in each), default=0))
    x, y = left + _PLOT_LEFT, top + _PLOT_TOP
    frame = f'x="{left:.1f}" y="{top:g}" width="{_WIDE:.1f}" height="{_HIGH}" rx="4"'
    parts = [f'<rect {frame} fill="none" stroke="#d1d9e0"/>']
    for number, words in enumerate(textwrap.wrap(panel.title, 36)):
        parts.append(_text(left + 10, top + 18 + number * 15, words, "t"))
    for part in (0, 0.5, 1):
        at = y + _PLOT_HIGH * (1 - part)
        parts.append(_rule(x, at, x + _PLOT_WIDE, at))
        parts.append(_text(x - 5, at + 4, f"{most * part:,g}", "s e"))
    for hour in range(0, run.hours, 6):
        at = x + hour / run.hours * _PLOT_WIDE
        parts.append(_rule(at, y + _PLOT_HIGH, at, y + _PLOT_HIGH + 3))
        parts.append(_text(at, y + _PLOT_HIGH + 15, f"{hour % 24}:00", "s m"))
    for number, points in enumerate(lines.values()):
        parts.append(_line(points, _COLOURS[number], run.hours, x, y, most))
    return "".join(parts + _legend(lines, left, y + _PLOT_HIGH + 33))


def _points(run: Recorded, name: str, statistic: str) -> Points:
    """Return the points of a line. If a count is missing in an hour with a tick, it is 0."""
    points = dict(run.points[f"{name} {statistic}"])
    ticks = [hour for hour, _ in run.points["ticks_done Sum"]]
    if points and statistic == "Sum":
        points = dict.fromkeys(ticks, 0) | points
    return sorted(points.items())


def _line(points: Points, colour: str, hours: int, x: float, y: float, most: float) -> str:
    """Return an SVG line through the middle of each hour, with a dot for each point."""
    at = [
        (
            x + (hour + 0.5) / hours * _PLOT_WIDE,
            y + _PLOT_HIGH * (1 - value / most),
        )
        for hour, value in points
    ]
    path = " ".join(f"{each_x:.1f},{each_y:.1f}" for each_x, each_y in at)
    dots = "".join(
        f'<circle cx="{each_x:.1f}" cy="{each_y:.1f}" r="1.8"/>' for each_x, each_y in at
    )
    return (
        f'<g fill="{colour}"><polyline points="{path}" fill="none" stroke="{colour}" '
        f'stroke-width="1.5"/>{dots}</g>'
    )


def _legend(lines: dict[str, Points], left: float, top: float) -> list[str]:
    """Return the legend in as many lines as needed. Metrics without data are marked `none`."""
    parts, x = [], left + 10
    for number, (name, points) in enumerate(lines.items()):
        words = name if points else f"{name}: none"
        wide = 16 + len(words) * _LETTER
        if x + wide > left + _WIDE - 4:
            x, top = left + 10, top + _LINE
        parts.append(
            f'<rect x="{x:.1f}" y="{top - 6:g}" width="10" height="3" fill="{_COLOURS[number]}"/>'
        )
        parts.append(_text(x + 14, top, words))
        x += wide + 8
    return parts


def _round_up(most: float) -> float:
    """Return the next number that is 1, 2, 4, 6 or 8 times a power of ten, so that its half is also
    short.
    """
    if most <= 0:
        return 1
    power = 10.0 ** floor(log10(most))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= most)


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:g}"{style}>{escape(words, quote=False)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f} {y1:g}L{x2:.1f} {y2:g}" stroke="#d1d9e0"/>'


def main(arguments: Sequence[str]) -> None:
    """Run the stage for the hours, record the measurement, and draw the dashboard."""
    began = time.monotonic()
    if "--again" not in arguments:
        folder = ROOT / "build" / "watched"
        watched = watch(folder, lambda line: print(f"{time.monotonic() - began:6.1f} s  {line}"))
        write_down(recorded(watched))
    run = read_back()
    PICTURE.write_text(draw(run))
    print(caption(run))


if __name__ == "__main__":
    main(sys.argv[1:])
