"""`gazette explain`: explain why a reader did or did not get an email."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from typing import Annotated

import typer
from gazette.bootstrap.support.explain import build_explain
from gazette.domain.console import remedies
from gazette.domain.identity import USER_ID
from gazette.settings.delivery import GenerateSettings
from gazette.settings.ingest import IngestSettings
from gazette.steps.support.words.sections import RUN, Section, sections
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from gazette_cli.explain.document import document
from gazette_cli.shared.answers import answer
from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.console import NotPossible, printable
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.shared.next_commands import aimed
from gazette_cli.shared.suppression_key import suppression_key

_FIRST_YEAR, _LAST_YEAR = 2000, 2999
_SIDE = len(RUN[:4])
"""The number of columns that identify a run in the table of runs. The remaining columns describe
the outcome.
"""


def explain(
    user: Annotated[
        str, typer.Argument(metavar="USER", help="The user_id of the reader in your events.")
    ],
    day: Annotated[
        str | None,
        typer.Argument(
            metavar="DATE",
            help=(
                "A date in the reader's time zone (YYYY-MM-DD). By default, the command "
                "explains the current state."
            ),
            show_default=False,
        ),
    ] = None,
    stage: StageName = "prod",
) -> None:
    """Explain why a reader did or did not get an email, with schedules, runs and waiting events.

    The command changes nothing, and never shows addresses or content.
    """
    on = _date(day) if day is not None else None
    if not USER_ID.fullmatch(user):
        raise NotPossible(f"USER {printable(user)!r} is not a valid user id. {remedies.USER}")
    settings = settings_of(stage, "ingest", IngestSettings)
    key = suppression_key(stage, settings.suppressions_secret)
    allowed = settings_of(stage, "generate", GenerateSettings).allowed
    with refusals_of_tables(stage):
        explanation = build_explain(settings, key, allowed)(user, on)
    tables = [_aimed(section, stage) for section in sections(explanation)]
    answer(
        document(explanation, stage=stage),
        lines=_lines(tables),
        picture=lambda: Group(*_picture(tables)),
    )


def _aimed(section: Section, stage: str) -> Section:
    rows = [tuple(aimed(cell, stage=stage) for cell in row) for row in section.rows]
    return replace(section, rows=rows)


def _date(text: str) -> date:
    try:
        day = datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007  # a date has no zone
    except ValueError as err:
        raise NotPossible(
            f"DATE {text!r} is not a date. Use the form YYYY-MM-DD, such as 2026-11-21."
        ) from err
    if not _FIRST_YEAR <= day.year <= _LAST_YEAR:
        raise NotPossible(
            f"DATE {text!r} must have a year from {_FIRST_YEAR} to {_LAST_YEAR}. Use the form "
            "YYYY-MM-DD, such as 2026-11-21."
        )
    return day


def _lines(all_sections: list[Section]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each row. The first cell is the name of the section."""
    for section in all_sections:
        for row in section.rows:
            yield (section.name, *row)


def _picture(all_sections: list[Section]) -> Iterator[RenderableType]:
    verdicts, *tables = all_sections
    for (line,) in verdicts.rows:
        yield Text(printable(line), style="bold")
    for section in tables:
        yield ""
        if section.rows:
            yield _runs(section) if section.columns == RUN else _table(section)
        else:
            yield Text(section.nothing, style="dim")


def _table(section: Section) -> Table:
    """Draw a table. Leading cells that repeat the row above are left empty."""
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
    """Draw the table of runs in two columns. One column per value would be too wide."""
    table = Table("run", "outcome", show_lines=True)
    for row in section.rows:
        at, at_utc, *which = row[:_SIDE]
        side = "\n".join(map(printable, (at, f"{at_utc} UTC", *which)))
        status, reason, meaning, to_do, *rest = row[_SIDE:]
        outcome = [f"{status}: {reason}", meaning, to_do]
        outcome += [
            f"{name}: {cell}"
            for name, cell in zip(RUN[-len(rest) :], rest, strict=True)
            if cell not in {"", "0"}
        ]
        table.add_row(Text(side), Text("\n".join(map(printable, outcome))))
    return table


def _cell(text: str) -> Text:
    return Text(printable(text))
