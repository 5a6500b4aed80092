"""The HTML page of a report, with tables and inline SVG plots."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from gazette.domain.scheduling.instants import moment

from gazette_cli.shared.pages.look import Tile, page_templates
from gazette_cli.statistics.conclusions import conclusion
from gazette_cli.statistics.forest import forest
from gazette_cli.statistics.rows import UNTRACKED, Cell, Row, percent, rows
from gazette_cli.statistics.summary import Answer
from gazette_support.domain.statistics import Counts, Dimension, Measure, is_tracked

_MOST_BARS = 20
_ALWAYS = (Measure.SENT, Measure.DELIVERED)
_TILES = (
    Measure.SENT,
    Measure.DELIVERED,
    Measure.OPENED,
    Measure.CLICKED,
    Measure.UNSUBSCRIBED,
    Measure.COMPLAINED,
)


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a plot."""

    name: str
    text: str

    # The length in percent of the width.
    length: float


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar chart of shares."""

    title: str
    bars: tuple[Bar, ...]


def page(answer: Answer, *, made_at: datetime) -> str:
    """Return the page as HTML. It has no external resources and no scripts."""
    templates = page_templates(Path(__file__).parent)
    templates.filters["percent"] = percent
    counts = answer.counts
    measures = [measure for measure in Measure if _is_shown(counts, measure)]
    zero = [each for each in Measure if each not in measures and is_tracked(counts, each)]
    return templates.get_template("page.html").render(
        title=answer.title,
        conclusion=conclusion(answer),
        answer=answer,
        made_at=moment(made_at),
        tiles=[*_tiles(answer)] if counts else [],
        forest=forest(answer.findings),
        measures=[measure.value for measure in measures],
        groups=[
            (each.value, [*_cut(rows(counts, each), measures)]) for each in Dimension if counts
        ],
        zero=[measure.value for measure in zero] if counts else [],
        bars=[*_bars(counts)] if counts else [],
        notes=[_without_dash(note) for note in answer.notes],
    )


def _is_shown(counts: Counts, measure: Measure) -> bool:
    """Return True if a measure has a column. Measures that are zero are listed in one sentence
    instead.
    """
    return measure in _ALWAYS or (
        is_tracked(counts, measure) and counts[Dimension.TOTAL, "", measure] > 0
    )


def _cut(all_rows: Sequence[Row], measures: Sequence[Measure]) -> Iterator[Row]:
    for row in all_rows:
        yield replace(row, cells=tuple(cell for cell in row.cells if cell.measure in measures))


def _tiles(answer: Answer) -> Iterator[Tile]:
    """Yield the key figures. Untracked measures are omitted."""
    if answer.arms:
        among = f"in {len(answer.arms)} {answer.arms[0].of}s"
        yield Tile("readers", f"{sum(arm.readers for arm in answer.arms):,}", among)
    (total,) = rows(answer.counts, Dimension.TOTAL)
    cells = {cell.measure: cell for cell in total.cells}
    for measure in _TILES:
        number, share = cells[measure].number, cells[measure].rate
        if number is None:
            continue
        if measure is Measure.SENT:
            yield Tile("emails sent", f"{number:,}")
        elif share is not None:
            yield Tile(measure.value, percent(share), f"{number:,} emails")


def _without_dash(note: str) -> str:
    """Remove the explanation of the dash. Only the terminal output contains dashes."""
    plain = note.removeprefix(f"{UNTRACKED}: ")
    return plain[0].upper() + plain[1:]


def _bars(counts: Counts) -> Iterator[Bars]:
    """Yield a chart of all outcomes, and then one chart of the deciding outcome for each dimension.

    The scale of the first chart is the number of sent emails. All other charts share one scale.
    """
    (total,) = rows(counts, Dimension.TOTAL)
    cells = [cell for cell in total.cells if cell.rate]
    yield Bars(
        "Outcomes of all emails",
        tuple(Bar(each.measure, _number_and_share(each), 100 * (each.rate or 0)) for each in cells),
    )
    did = next(
        measure
        for measure in (Measure.CLICKED, Measure.OPENED, Measure.UNSUBSCRIBED)
        if is_tracked(counts, measure)
    )
    compared = {
        dimension: largest
        for dimension in Dimension
        if dimension is not Dimension.TOTAL
        and len(largest := rows(counts, dimension)[:_MOST_BARS]) > 1
    }
    longest = max((_share(row, did) for group in compared.values() for row in group), default=0)
    for dimension, group in compared.items():
        title = (
            f"Emails {did}, as a percentage of the emails delivered or unconfirmed, by {dimension}"
        )
        shares = ((row.value, _share(row, did)) for row in group)
        yield Bars(
            title,
            tuple(Bar(name, percent(each), 100 * each / (longest or 1)) for name, each in shares),
        )


def _number_and_share(cell: Cell) -> str:
    return str(cell).replace(" ", " · ")


def _share(row: Row, measure: Measure) -> float:
    return next(cell.rate or 0.0 for cell in row.cells if cell.measure is measure)
