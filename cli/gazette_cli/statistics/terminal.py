"""The terminal output of a report, as tables, tab-separated lines or JSON."""

from collections.abc import Iterator

from rich.box import SIMPLE
from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from gazette_cli.shared.answers import Document, answer
from gazette_cli.statistics.rows import column, percent, readers_table, rows, table
from gazette_cli.statistics.summary import Answer
from gazette_support.domain.experiment_readers import Compared
from gazette_support.domain.statistics import Dimension, Measure

_IF_ANY = (Measure.REJECTED, Measure.DELAYED)
"""Columns that are omitted if all their values are zero."""


def show(report: Answer, *, more: Document) -> None:
    """Print a report. Tab-separated lines begin with the name of a section. `more` contains fields
    that only the JSON output has.
    """
    answer(
        {
            "title": report.title,
            **more,
            "emails": [*_emails_document(report)],
            "readers": [*_readers_document(report)],
            "verdicts": report.verdicts,
            "notes": report.notes,
        },
        lines=_lines(report),
        picture=lambda: Group(*_picture(report)),
    )


def _picture(report: Answer) -> Iterator[RenderableType]:
    yield Text(report.title, style="bold")
    for number, line in enumerate(report.verdicts):
        yield Text(line, style="" if number else "bold")
    if report.arms:
        yield _readers(report)
    if report.counts:
        yield _emails(report)
    for note in report.notes:
        yield Text(note, style="dim")


def _lines(report: Answer) -> Iterator[tuple[str, ...]]:
    for row in table(report.counts):
        yield ("emails", *row)
    if report.arms:
        for row in readers_table(report.arms, report.findings):
            yield ("readers", *row)


def _emails_document(report: Answer) -> Iterator[Document]:
    """Yield the counts of emails. Untracked measures are null, not zero."""
    for dimension in Dimension:
        for row in rows(report.counts, dimension):
            numbers = {column(cell.measure): cell.number for cell in row.cells}
            yield {"group": dimension.value, "value": row.value, **numbers}


def _readers_document(report: Answer) -> Iterator[Document]:
    for outcome, verdicts in report.findings.items():
        by_arm = {each.arm.number: each for each in verdicts}
        for arm in report.arms:
            verdict = by_arm.get(arm.number)
            yield {
                "outcome": outcome.value,
                "variation": arm.number if arm.of is Compared.VARIATION else None,
                "version": arm.number if arm.of is Compared.VERSION else None,
                "readers": arm.readers,
                "did": arm.did[outcome],
                "low": verdict.low if verdict else None,
                "high": verdict.high if verdict else None,
                "verdict": verdict.words if verdict else None,
            }


def _readers(answer: Answer) -> Table:
    of = answer.arms[0].of.value
    grid = _table(1, of, "readers", *(f"readers who {outcome}" for outcome in answer.findings))
    for arm in answer.arms:
        did = [arm.did[outcome] for outcome in answer.findings]
        cells = (f"{number:,} {percent(number / arm.readers)}" for number in did)
        grid.add_row(str(arm.number), f"{arm.readers:,}", *cells)
    return grid


def _emails(answer: Answer) -> Table:
    measures = [
        measure
        for measure in Measure
        if measure not in _IF_ANY or answer.counts[Dimension.TOTAL, "", measure]
    ]
    grid = _table(2, "", "", *(measure.value for measure in measures))
    for dimension in Dimension:
        name = dimension.value
        for row in rows(answer.counts, dimension):
            cells = (str(cell) for cell in row.cells if cell.measure in measures)
            grid.add_row(name, Text(row.value), *cells)
            name = ""
        grid.add_section()
    return grid


def _table(names: int, *columns: str) -> Table:
    """Create a table without truncation. The first `names` columns are left-aligned."""
    side: JustifyMethod
    grid = Table(box=SIMPLE, padding=0)
    for place, heading in enumerate(columns):
        side = "left" if place < names else "right"
        grid.add_column(heading, justify=side, overflow="fold", no_wrap=not place)
    return grid
