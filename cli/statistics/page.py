"""A report as one page that needs nothing else: tables, and plots as SVG within it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gazette.domain.feedback.statistics import Counts, Dimension, Measure, is_tracked
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cli.shared.answers import moment
from cli.statistics.comparisons import Verdict
from cli.statistics.rows import Row, percent, rows
from cli.statistics.summary import Answer

_MOST_BARS = 20


@dataclass(frozen=True, slots=True)
class Bar:
    """`length` is percent of the width of the plot."""

    name: str
    text: str
    length: float


@dataclass(frozen=True, slots=True)
class Bars:
    """A plot of shares; the longest bar is as wide as the plot."""

    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Interval:
    """Places in percent of the width, of which the middle stands for no difference."""

    text: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Intervals:
    """A plot of the differences in one outcome."""

    title: str
    intervals: tuple[Interval, ...]


def page(answer: Answer, *, made_at: datetime) -> str:
    """The page as HTML. It loads nothing and runs nothing, and its own policy forbids both."""
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["percent"] = percent
    counts = answer.counts
    return templates.get_template("page.html").render(
        answer=answer,
        made_at=moment(made_at),
        measures=[measure.value for measure in Measure],
        tables=[(each.value, rows(counts, each)) for each in Dimension if counts],
        bars=[*_bars(counts)] if counts else [],
        intervals=[
            _intervals(outcome, verdicts)
            for outcome, verdicts in answer.findings.items()
            if verdicts
        ],
    )


def _bars(counts: Counts) -> Iterator[Bars]:
    """From sent to left; then what readers did with emails, by all that tells those apart."""
    (total,) = rows(counts, Dimension.TOTAL)
    told = [cell for cell in total.cells if cell.rate]
    yield Bars(
        "What became of all emails",
        tuple(Bar(each.measure, str(each), 100 * (each.rate or 0)) for each in told),
    )
    did = next(
        measure
        for measure in (Measure.CLICKED, Measure.OPENED, Measure.UNSUBSCRIBED)
        if is_tracked(counts, measure)
    )
    for dimension in Dimension:
        found = rows(counts, dimension)[:_MOST_BARS]
        if dimension is not Dimension.TOTAL and len(found) > 1:
            title = f"Share {did} of the emails delivered or unconfirmed, by {dimension}"
            yield _bars_of(title, found, did)


def _bars_of(title: str, found: Sequence[Row], measure: Measure) -> Bars:
    shares = {
        row.value: next(cell.rate or 0.0 for cell in row.cells if cell.measure is measure)
        for row in found
    }
    longest = max(shares.values()) or 1
    return Bars(
        title,
        tuple(Bar(name, percent(share), 100 * share / longest) for name, share in shares.items()),
    )


def _intervals(outcome: Measure, verdicts: Sequence[Verdict]) -> Intervals:
    widest = max(abs(bound) for each in verdicts for bound in (each.low, each.high)) or 1
    return Intervals(
        f"Readers who {outcome}: the difference between variations",
        tuple(
            Interval(each.words, 50 + 48 * each.low / widest, 50 + 48 * each.high / widest)
            for each in verdicts
        ),
    )
