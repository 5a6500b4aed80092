"""`gazette explain`: why a reader got an email, or none."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from typing import Annotated

import typer
from gazette.bootstrap.support.explain import build_explain
from gazette.domain.identity import USER_ID
from gazette.settings.ingest import IngestSettings
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from cli.explain.document import document
from cli.explain.sections import RUN, Section, sections
from cli.shared.answers import answer
from cli.shared.aws_errors import refusals_of_tables
from cli.shared.console import NotPossible, printable
from cli.shared.deployed import StageName, settings_of
from cli.shared.next_commands import aimed
from cli.shared.suppression_key import suppression_key

_FIRST_YEAR, _LAST_YEAR = 2000, 2999
_SIDE = len(RUN[:4])
"""Columns of a run that say which one it is; the others say what became of it."""


def explain(
    user: Annotated[str, typer.Argument(metavar="USER", help="The user_id that services put.")],
    day: Annotated[
        str | None,
        typer.Argument(
            metavar="DATE",
            help="YYYY-MM-DD in the reader's time zone; without it, now.",
            show_default=False,
        ),
    ] = None,
    stage: StageName = "prod",
) -> None:
    """Explain why a reader got an email, or none: schedules, latest runs, waiting events.

    Changes nothing, and shows no address and no content.
    """
    on = _date(day) if day is not None else None
    if not USER_ID.fullmatch(user):
        raise NotPossible(
            f"USER {printable(user)!r} cannot be a user id: give the user_id that your services "
            "put, 1 to 64 ASCII characters without spaces."
        )
    settings = settings_of(stage, "ingest", IngestSettings)
    key = suppression_key(stage, settings.suppressions_secret)
    with refusals_of_tables(stage):
        found = build_explain(settings, key)(user, on)
    told = [_aimed(section, stage) for section in sections(found)]
    answer(document(found, stage=stage), lines=_lines(told), picture=lambda: Group(*_picture(told)))


def _aimed(section: Section, stage: str) -> Section:
    rows = [tuple(aimed(cell, stage=stage) for cell in row) for row in section.rows]
    return replace(section, rows=rows)


def _date(text: str) -> date:
    try:
        day = datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007  # a date has no zone
    except ValueError as err:
        raise NotPossible(
            f"DATE {text!r} is no date: write it as YYYY-MM-DD, such as 2026-11-21."
        ) from err
    if not _FIRST_YEAR <= day.year <= _LAST_YEAR:
        raise NotPossible(
            f"DATE {text!r} is of no year from {_FIRST_YEAR} to {_LAST_YEAR}: write it as "
            "YYYY-MM-DD, such as 2026-11-21."
        )
    return day


def _lines(found: list[Section]) -> Iterator[tuple[str, ...]]:
    """A line per row, its section first."""
    for section in found:
        for row in section.rows:
            yield (section.name, *row)


def _picture(found: list[Section]) -> Iterator[RenderableType]:
    verdicts, *tables = found
    for (line,) in verdicts.rows:
        yield Text(printable(line), style="bold")
    for section in tables:
        yield ""
        if section.rows:
            yield _runs(section) if section.columns == RUN else _table(section)
        else:
            yield Text(section.nothing, style="dim")


def _table(section: Section) -> Table:
    """Cells that repeat the row above are left empty, from the left."""
    table = Table(*section.columns)
    above: tuple[str, ...] = ()
    for row in section.rows:
        same = 0
        while same < len(row) - 1 and row[: same + 1] == above[: same + 1]:
            same += 1
        table.add_row(*map(_cell, ("",) * same + row[same:]))
        above = row
    return table


def _runs(section: Section) -> Table:
    """Which run, and beside it what became of it: too much for a column each."""
    table = Table("run", "what became of it", show_lines=True)
    for row in section.rows:
        at, at_utc, *which = row[:_SIDE]
        side = "\n".join(map(printable, (at, f"{at_utc} UTC", *which)))
        status, reason, meaning, to_do, *rest = row[_SIDE:]
        told = [f"{status}: {reason}", meaning, to_do]
        told += [
            f"{name}: {cell}"
            for name, cell in zip(RUN[-len(rest) :], rest, strict=True)
            if cell not in {"", "0"}
        ]
        table.add_row(Text(side), Text("\n".join(map(printable, told))))
    return table


def _cell(text: str) -> Text:
    return Text(printable(text))
