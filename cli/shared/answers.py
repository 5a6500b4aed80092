"""What a command answers: for people tables and sentences, for programs lines with tabs or JSON.

A command says each thing once, with its values: this module chooses how it is shown. Piped, a row
is a line, its cells separated by tabs. With `--json` it is one document, whose field names are
those of `cli.reference.shapes`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from cli.shared.console import NotPossible, printable, say, wants_json

NOTHING = "-"
"""A cell without a value, where a column may have none."""


class Level(StrEnum):
    """How bad a thing is that a command found, the worst first: one scale for all commands."""

    PROBLEM = "problem"
    """It does not work: email does not go out or is not taken, what becomes of it is lost, or
    messages wait for somebody to act."""

    UNSEEN = "unseen"
    """Nobody could look: it may be well or not."""

    WARNING = "warning"
    """It works, or somebody stopped it on purpose; somebody should look."""

    OK = "ok"

    @property
    def rank(self) -> int:
        """0 for the worst: what lists are sorted by."""
        return [*Level].index(self)


Document = Mapping[str, object]
"""What a program reads: strings, numbers, booleans, instants, None, and lists and mappings."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A value for programs that people see as `text`."""

    value: object
    text: str


@dataclass(frozen=True, slots=True)
class Rows:
    """A list of things of one kind, called `name` in JSON.

    `columns`: the heading of each field, in order; empty where only JSON has the field. `rows`: as
    many values each.
    """

    name: str
    columns: Mapping[str, str]
    rows: Sequence[Sequence[object]]

    @property
    def document(self) -> list[Document]:
        """For programs: an object a row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """For people: the cells of the columns with a heading."""
        shown = [bool(heading) for heading in self.columns.values()]
        return [
            tuple(cell(value) for value, is_shown in zip(row, shown, strict=True) if is_shown)
            for row in self.rows
        ]

    def table(self) -> Table:
        """The columns with a heading, numbers to the right."""
        found = Table()
        for place, heading in enumerate(self.columns.values()):
            if heading:
                values = [_bare(row[place]) for row in self.rows]
                is_number = all(isinstance(each, int | float) for each in values)
                found.add_column(heading, justify="right" if is_number else "left")
        for line in self.lines:
            found.add_row(*map(Text, line))
        return found

    def show(self, **beside: object) -> None:
        """Answer with them, and with what else JSON has `beside` them."""
        picture = self.table() if self.rows else None
        answer({self.name: self.document, **beside}, lines=self.lines, picture=lambda: picture)


def answer(
    document: Document,
    *,
    lines: Iterable[Sequence[str]],
    picture: Callable[[], RenderableType | None],
) -> None:
    """The document with `--json`; a picture on a terminal; where it is piped, lines with tabs."""
    give(document)
    console = Console()
    if wants_json():
        return
    if not console.is_terminal:
        for line in lines:
            typer.echo("\t".join(map(printable, line)))
    elif (drawn := picture()) is not None:
        console.print(drawn)


def facts(document: Document, named: Sequence[tuple[str, str]]) -> None:
    """Answer with names and a value each, in two columns."""
    answer(document, lines=named, picture=lambda: grid(named))


def grid(named: Iterable[tuple[str, str]]) -> Table:
    """Names and a value each, for people."""
    found = Table.grid(padding=(0, 2))
    for name, value in named:
        found.add_row(Text(printable(name), style="dim"), Text(printable(value)))
    return found


def tell(sentence: str, **fields: object) -> None:
    """Answer with one sentence; with `--json` with its `fields`."""
    say(sentence)
    give(fields)


def give(document: Document) -> None:
    """Print the document with `--json`. The text is ASCII: nothing in it steers a terminal."""
    if wants_json():
        typer.echo(json.dumps(plain(document), indent=2))


def give_line(document: Document) -> None:
    """Print one of many documents, a line each (https://jsonlines.org)."""
    typer.echo(json.dumps(plain(document)))


Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
"""The option of a command that asks before it changes something."""


def confirm(question: str) -> None:
    """Ask; No ends the command. A program is not asked: it has to say `--yes`."""
    if wants_json():
        raise NotPossible("--json asks nothing: add --yes to do it without confirmation.")
    typer.confirm(question, abort=True)


def cell(value: object) -> str:
    """A value as people read it, on one line."""
    match value:
        case None:
            return NOTHING
        case datetime():
            return moment(value)
        case Shown():
            return printable(value.text)
        case _:
            return printable(str(value))


def moment(instant: datetime) -> str:
    """An instant, to the second."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _bare(value: object) -> object:
    return value.value if isinstance(value, Shown) else value


def plain(value: object) -> object:
    """A value as JSON has it: an instant as ISO 8601 in UTC, a time span in seconds."""
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Shown():
            return plain(value.value)
        case str() | int() | float() | None:
            return value
        case Mapping():
            return {str(key): plain(each) for key, each in value.items()}
        case Iterable():
            return [plain(each) for each in value]
        case _:
            raise TypeError(f"{type(value).__name__} has no form in JSON")
