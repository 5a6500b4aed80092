"""A report in the terminal: tables for people, lines with tabs where it is piped."""

from collections.abc import Iterator

from gazette.domain.feedback.experiment_readers import Compared
from gazette.domain.feedback.statistics import Dimension, Measure
from rich.box import SIMPLE
from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from cli.shared.answers import Document, answer
from cli.statistics.rows import column, percent, readers_table, rows, table
from cli.statistics.summary import Answer

_IF_ANY = (Measure.REJECTED, Measure.DELAYED)
"""Columns that are left out where they are zero in all."""


def show(told: Answer, *, beside: Document) -> None:
    """All of it; where it is piped, a line per row, its section first; `beside`: in JSON alone."""
    answer(
        {
            "title": told.title,
            **beside,
            "emails": [*_emails_document(told)],
            "readers": [*_readers_document(told)],
            "verdicts": told.verdicts,
            "notes": told.notes,
        },
        lines=_lines(told),
        picture=lambda: Group(*_picture(told)),
    )


def _picture(told: Answer) -> Iterator[RenderableType]:
    yield Text(told.title, style="bold")
    for number, line in enumerate(told.verdicts):
        yield Text(line, style="" if number else "bold")
    if told.arms:
        yield _readers(told)
    if told.counts:
        yield _emails(told)
    for note in told.notes:
        yield Text(note, style="dim")


def _lines(told: Answer) -> Iterator[tuple[str, ...]]:
    for row in table(told.counts):
        yield ("emails", *row)
    if told.arms:
        for row in readers_table(told.arms, told.findings):
            yield ("readers", *row)


def _emails_document(told: Answer) -> Iterator[Document]:
    """What is not tracked is null, not zero."""
    for dimension in Dimension:
        for row in rows(told.counts, dimension):
            numbers = {column(cell.measure): cell.number for cell in row.cells}
            yield {"group": dimension.value, "value": row.value, **numbers}


def _readers_document(told: Answer) -> Iterator[Document]:
    for outcome, verdicts in told.findings.items():
        found = {each.arm.number: each for each in verdicts}
        for arm in told.arms:
            verdict = found.get(arm.number)
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
    found = _table(1, of, "readers", *(f"who {outcome}" for outcome in answer.findings))
    for arm in answer.arms:
        did = [arm.did[outcome] for outcome in answer.findings]
        cells = (f"{number:,} {percent(number / arm.readers)}" for number in did)
        found.add_row(str(arm.number), f"{arm.readers:,}", *cells)
    return found


def _emails(answer: Answer) -> Table:
    shown = [
        measure
        for measure in Measure
        if measure not in _IF_ANY or answer.counts[Dimension.TOTAL, "", measure]
    ]
    found = _table(2, "", "", *(measure.value for measure in shown))
    for dimension in Dimension:
        name = dimension.value
        for row in rows(answer.counts, dimension):
            cells = (str(cell) for cell in row.cells if cell.measure in shown)
            found.add_row(name, Text(row.value), *cells)
            name = ""
        found.add_section()
    return found


def _table(names: int, *columns: str) -> Table:
    """Numbers stand to the right of so many columns of names; nothing is cut off."""
    side: JustifyMethod
    found = Table(box=SIMPLE, padding=0)
    for place, heading in enumerate(columns):
        side = "left" if place < names else "right"
        found.add_column(heading, justify=side, overflow="fold", no_wrap=not place)
    return found
