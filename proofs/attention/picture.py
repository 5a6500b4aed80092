"""The picture of `make attention` for docs: emails by hour, and emails by feature."""

from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from proofs.attention.acts import BUSY
from proofs.attention.report import by_hour, name_of, of_reader
from proofs.attention.verdict import Verdict

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "attention.svg"

DAYS = 7
"""The number of days in the picture."""

_HOURS = DAYS * 24
_NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_WIDTH, _EDGE, _LEFT = 880, 16, 150
_WIDE = _WIDTH - _LEFT - 70
_HIGH, _TOP = 120, 66
_BAR, _STEP = 14, 24
"""Sizes in pixels."""

_STYLE = (
    "text{font:12px system-ui,-apple-system,'Segoe UI',Arial,sans-serif;fill:#1f2328}"
    ".t{font-size:14px;font-weight:600}.s{fill:#59636e}.e{text-anchor:end}.m{text-anchor:middle}"
    ".g{fill:#fff}.r{stroke:#d1d9e0}.b{fill:#0072b2}.a{fill:#d55e00}"
    "@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.s{fill:#9198a1}.g{fill:#0d1117}"
    ".r{stroke:#3d444d}.b{fill:#58a6ff}.a{fill:#f0883e}}"
)


def draw(verdicts: Sequence[Verdict]) -> str:
    """Return an SVG picture of the busy reader's emails, for each set of features.

    The first verdict is the one without features, and the last one has all of them.
    """
    emails = {name_of(each.features): of_reader(each.emails, BUSY) for each in verdicts}
    before, after = of_reader(verdicts[0].emails, BUSY), of_reader(verdicts[-1].emails, BUSY)
    top = _TOP + _HIGH + 70
    bottom = top + len(verdicts) * _STEP + _EDGE
    numbers = {name: len(mine) for name, mine in emails.items()}
    said = "; ".join(f"{name}: {number:,}" for name, number in numbers.items())
    parts = [
        *_by_hour(by_hour(before), by_hour(after)),
        _text(_EDGE, top - 10, "Emails of the busy reader in the week", "t"),
        *_bars(numbers, top),
    ]
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{bottom}" '
        f'viewBox="0 0 {_WIDTH} {bottom}" role="img"><title>Emails of a week by feature</title>'
        f"<desc>{escape(said, quote=False)}</desc><style>{_STYLE}</style>"
        f'<rect class="g" width="100%" height="100%"/>\n{body}\n</svg>\n'
    )


def _by_hour(before: Counter[int], after: Counter[int]) -> Iterator[str]:
    most = max([*before.values(), *after.values(), 1])
    floor = _TOP + _HIGH
    yield _text(_EDGE, 26, "Emails of the busy reader in each hour", "t")
    x = float(_LEFT)
    for kind, words in (("b", "no feature"), ("a", "all features")):
        yield f'<rect class="{kind}" x="{x:g}" y="40" width="10" height="10"/>'
        yield _text(x + 16, 49, words)
        x += 110
    for part in (0, 0.5, 1):
        y = floor - part * _HIGH
        yield f'<path class="r" d="M{_LEFT} {y:g}H{_LEFT + _WIDE}"/>'
        yield _text(_LEFT - 6, y + 4, f"{most * part:g}", "s e")
    for day in range(DAYS):
        at = _LEFT + (day + 0.5) * _WIDE / DAYS
        yield _text(at, floor + 18, _NAMES[day], "s m")
    for kind, counts in (("b", before), ("a", after)):
        yield f'<path class="{kind}" d="{_columns(counts, most, floor)}"/>'


def _columns(counts: Counter[int], most: int, floor: float) -> str:
    """Return the path of a column for each hour."""
    wide = _WIDE / _HOURS
    return "".join(
        f"M{_LEFT + hour * wide:.1f} {floor:g}v{-counts[hour] / most * _HIGH:.1f}"
        f"h{wide:.1f}V{floor:g}z"
        for hour in range(_HOURS)
        if counts[hour]
    )


def _bars(numbers: dict[str, int], top: float) -> Iterator[str]:
    most = max([*numbers.values(), 1])
    for place, (name, number) in enumerate(numbers.items()):
        y = top + place * _STEP
        wide = number / most * _WIDE
        kind = "a" if place == len(numbers) - 1 else "b"
        yield _text(_LEFT - 6, y + 12, name, "e")
        yield f'<rect class="{kind}" x="{_LEFT}" y="{y:g}" width="{wide:.1f}" height="{_BAR}"/>'
        yield _text(_LEFT + wide + 6, y + 12, f"{number:,}")


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:g}"{style}>{escape(words, quote=False)}</text>'
