"""A report in the terminal: tables for people, lines with tabs where it is piped."""

import typer
from gazette.domain.feedback.statistics import Dimension, Measure
from rich.box import SIMPLE
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from cli.shared.console import say
from cli.statistics.rows import percent, readers_table, rows, table
from cli.statistics.summary import Answer

_IF_ANY = (Measure.REJECTED, Measure.DELAYED)
"""Columns that are left out where they are zero in all."""


def show(answer: Answer) -> None:
    """All of it; where it is piped, a line per row, its section first."""
    console = Console()
    if not console.is_terminal:
        _lines(answer)
        return
    say(answer.title, style="bold")
    for number, line in enumerate(answer.verdicts):
        say(line, style="" if number else "bold")
    if answer.arms:
        console.print(_readers(answer))
    if answer.counts:
        console.print(_emails(answer))
    for note in answer.notes:
        console.print(note, style="dim", highlight=False)


def _lines(answer: Answer) -> None:
    for row in table(answer.counts):
        typer.echo("\t".join(("emails", *row)))
    if answer.arms:
        for row in readers_table(answer.arms, answer.findings):
            typer.echo("\t".join(("readers", *row)))


def _readers(answer: Answer) -> Table:
    found = _table(1, "variation", "readers", *(f"who {outcome}" for outcome in answer.findings))
    for arm in answer.arms:
        did = [arm.did[outcome] for outcome in answer.findings]
        cells = (f"{number:,} {percent(number / arm.readers)}" for number in did)
        found.add_row(str(arm.variation), f"{arm.readers:,}", *cells)
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
    for place, column in enumerate(columns):
        side = "left" if place < names else "right"
        found.add_column(column, justify=side, overflow="fold", no_wrap=not place)
    return found
