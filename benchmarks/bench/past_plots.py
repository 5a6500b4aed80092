"""Static SVG plots of the figures of several runs, with lines at the goals and bars for noise."""

from collections.abc import Sequence
from html import escape

from benchmarks.bench.goals import Result, number
from benchmarks.bench.history import Measurement
from benchmarks.bench.plots import text

_LEFT, _WIDTH, _RIGHT = 70, 420, 220
_TOP, _HEIGHT, _BOTTOM = 15, 140, 30
_MARGIN = 0.1
_RADIUS, _CAP = 4, 4


def plot_of_runs(result: Result, earlier: Sequence[Measurement]) -> str:
    """Return the plot of the earlier runs, and of this run if it measured the goal.

    The vertical axis does not start at zero, so that small changes are visible.
    """
    goal, measured = result.goal, result.measured
    runs = [each.measured for each in earlier]
    dates = [f"{each.at:%Y-%m-%d}" for each in earlier]
    if measured is not None:
        runs.append(measured)
        dates.append("this run")
    every = [goal.target, *(end for run in runs for end in (run.figure, run.low, run.high))]
    margin = _MARGIN * (max(every) - min(every)) or 1.0
    least, most = min(every) - margin, max(every) + margin

    def down(value: float) -> float:
        return _TOP + _HEIGHT * (most - value) / (most - least)

    figures = ", ".join(number(run.figure) for run in runs)
    label = f"{goal.says}, by run from {dates[0]}: {figures}; goal {goal.wanted}"
    end, floor, at = _LEFT + _WIDTH, _TOP + _HEIGHT, down(goal.target)
    box = f"0 0 {end + _RIGHT} {floor + _BOTTOM}"
    parts = [
        f'<svg role="img" aria-label="{escape(label)}" viewBox="{box}">',
        f'<path class="axis" d="M{_LEFT} {_TOP}V{floor}H{end}"/>',
        text(_LEFT - 8, down(max(every)) + 5, "end", number(max(every))),
        text(_LEFT - 8, down(min(every)) + 5, "end", number(min(every))),
        f'<path class="goal" d="M{_LEFT} {at:.1f}H{end}"/>',
        text(end + 8, at + 5, "start", goal.wanted, "goal-name"),
        text(_LEFT, floor + 20, "start", dates[0]),
        text(end, floor + 20, "end", dates[-1]),
    ]
    step = _WIDTH / len(runs)
    for place, run in enumerate(runs):
        across = _LEFT + step * (place + 0.5)
        if run.high > run.low:
            parts.append(_noise(across, down(run.high), down(run.low)))
        is_ours = measured is not None and place == len(runs) - 1
        kind = "ours" if is_ours else "peer"
        dot = f'cx="{across:.1f}" cy="{down(run.figure):.1f}" r="{_RADIUS}"'
        parts.append(f'<circle class="{kind}" {dot}/>')
    return "\n".join((*parts, "</svg>"))


def _noise(across: float, top: float, bottom: float) -> str:
    left = across - _CAP
    return (
        f'<path class="noise" d="M{left:.1f} {top:.1f}h{2 * _CAP}M{across:.1f} {top:.1f}'
        f'V{bottom:.1f}M{left:.1f} {bottom:.1f}h{2 * _CAP}"/>'
    )
