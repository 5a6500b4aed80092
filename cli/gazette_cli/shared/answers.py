"""The output of a command: tables and sentences for people, tab-separated lines, or JSON.

A command passes its values once, and this module selects the format. A terminal gets a table. A
pipe gets one line per row, with tab-separated cells. With `--json`, the output is one document,
whose field names are listed in `gazette_cli.reference.shapes`.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated

import typer
from gazette.domain.scheduling.instants import moment
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from gazette_cli.shared.console import NotPossible, printable, say, wants_json

NOTHING = "-"
"""The text of an empty cell."""


Document = Mapping[str, object]
"""JSON output: strings, numbers, booleans, instants, None, and lists and mappings of these values.
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """A value with a text to show to people."""

    # The value in JSON output.
    value: object

    # The text on a terminal and in a pipe.
    text: str


@dataclass(frozen=True, slots=True)
class Rows:
    """A list of items with the same fields."""

    # The name of the list in JSON.
    name: str

    # The heading of each field, in order. A field with an empty heading appears only in JSON
    # output.
    columns: Mapping[str, str]

    # The values of each row, one per column.
    rows: Sequence[Sequence[object]]

    @property
    def document(self) -> list[Document]:
        """The rows as JSON output, with one object per row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    @property
    def lines(self) -> list[tuple[str, ...]]:
        """The cells of each row, in the columns that have a heading."""
        headings = self.columns.values()
        return [
            tuple(cell(value) for value, heading in zip(row, headings, strict=True) if heading)
            for row in self.rows
        ]

    def table(self) -> Table:
        """Draw the columns that have a heading. Numbers are aligned to the right."""
        table = Table()
        for place, heading in enumerate(self.columns.values()):
            if heading:
                values = [_bare(row[place]) for row in self.rows]
                is_number = all(isinstance(each, int | float) for each in values)
                table.add_column(heading, justify="right" if is_number else "left")
        for line in self.lines:
            table.add_row(*map(Text, line))
        return table

    def show(self, **others: object) -> None:
        """Print the rows. The JSON output also includes the fields of `others`."""
        picture = self.table() if self.rows else None
        answer({self.name: self.document, **others}, lines=self.lines, picture=lambda: picture)


def answer(
    document: Document,
    *,
    lines: Iterable[Sequence[str]],
    picture: Callable[[], RenderableType | None],
) -> None:
    """Print a JSON document with `--json`, a picture on a terminal, or lines to a pipe."""
    give(document)
    console = Console()
    if wants_json():
        return
    if not console.is_terminal:
        for line in lines:
            typer.echo("\t".join(map(printable, line)))
    elif (renderable := picture()) is not None:
        console.print(renderable)


def facts(document: Document, named: Sequence[tuple[str, str]]) -> None:
    """Print names and values in two columns."""
    answer(document, lines=named, picture=lambda: grid(named))


def grid(named: Iterable[tuple[str, str]]) -> Table:
    """Draw names and values in two columns."""
    table = Table.grid(padding=(0, 2))
    for name, value in named:
        table.add_row(Text(printable(name), style="dim"), Text(printable(value)))
    return table


def tell(sentence: str, **fields: object) -> None:
    """Print a sentence or, with `--json`, the fields as a JSON object."""
    say(sentence)
    give(fields)


def give(document: Document) -> None:
    """Print the document if `--json` is specified. The output is ASCII without control
    characters.
    """
    if wants_json():
        typer.echo(json.dumps(plain(document), indent=2))


def give_line(document: Document) -> None:
    """Print a document on one line, as in JSON Lines (https://jsonlines.org)."""
    typer.echo(json.dumps(plain(document)))


Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
"""The option `--yes` of a command that asks for confirmation before it makes a change."""


def confirm(question: str) -> None:
    """Ask for confirmation, and end the command if the answer is no.

    Raises NotPossible with `--json`, because a program cannot confirm.
    """
    if wants_json():
        raise NotPossible(
            "--json cannot ask for confirmation. Add --yes to run without confirmation."
        )
    typer.confirm(question, abort=True)


def cell(value: object) -> str:
    """Format a value for people on one line."""
    match value:
        case None:
            return NOTHING
        case datetime():
            return moment(value)
        case Shown():
            return printable(value.text)
        case _:
            return printable(str(value))


def _bare(value: object) -> object:
    return value.value if isinstance(value, Shown) else value


def plain(value: object) -> object:
    """Convert a value to JSON types: instants to ISO 8601 in UTC, durations to seconds."""
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
            raise TypeError(f"{type(value).__name__} cannot be converted to JSON")
