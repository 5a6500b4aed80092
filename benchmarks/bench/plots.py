"""Static SVG plots of the goals, with a bar for Gazette and each peer, and a line at the goal."""

from html import escape

from benchmarks.bench.goals import Result, number

_NAME, _WIDTH, _VALUE = 200, 420, 90
_ROW, _BAR = 30, 16
_MARGIN = 1.1


def plot(result: Result) -> str:
    """Return the plot of one measured goal. A line over our bar shows its quartiles."""
    goal, measured = result.goal, result.measured
    if measured is None:
        return ""
    bars = {"Gazette": measured.figure, **measured.peers}
    scale = _WIDTH / (_MARGIN * max(*bars.values(), goal.target, measured.high))
    height = _ROW * len(bars) + 26
    at = _NAME + goal.target * scale
    said = f"{goal.says}: " + ", ".join(f"{name} {number(value)}" for name, value in bars.items())
    box = f"0 0 {_NAME + _WIDTH + _VALUE} {height}"
    label = f"{escape(said)}; goal {escape(goal.wanted)}"
    parts = [f'<svg role="img" aria-label="{label}" viewBox="{box}">']
    for row, (name, value) in enumerate(bars.items()):
        parts += _bar(row, name, value, scale, measured.high if row == 0 else 0.0)
    middle, low, high = (
        _middle(0),
        *(_NAME + each * scale for each in (measured.low, measured.high)),
    )
    if measured.high > measured.low:
        parts.append(
            f'<path class="noise" d="M{low:.1f} {middle - 5:.1f}v10M{low:.1f} {middle:.1f}'
            f'H{high:.1f}M{high:.1f} {middle - 5:.1f}v10"/>'
        )
    parts += [
        f'<path class="goal" d="M{at:.1f} 0V{height - 20}"/>',
        text(at, height - 5, "middle", goal.wanted, "goal-name"),
        "</svg>",
    ]
    return "\n".join(parts)


def _bar(row: int, name: str, value: float, scale: float, high: float) -> list[str]:
    """Return the bar of a row, with its value to the right of `high`.

    Gazette is in the first row.
    """
    middle, width, kind = _middle(row), max(1.0, value * scale), "peer" if row else "ours"
    return [
        text(_NAME - 10, middle + 5, "end", name),
        f'<path class="{kind}" d="M{_NAME} {middle - _BAR / 2:.1f}h{width:.1f}v{_BAR}H{_NAME}z"/>',
        text(_NAME + max(width, high * scale) + 8, middle + 5, "start", number(value)),
    ]


def text(x: float, y: float, anchor: str, words: str, kind: str = "name") -> str:
    """Return a text in a plot."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{escape(words)}</text>'


def _middle(row: int) -> float:
    return _ROW * row + _ROW / 2
