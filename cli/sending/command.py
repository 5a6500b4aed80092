"""`gazette sending`: show whether digests, immediate email and categories go out; stop, resume."""

from contextlib import AbstractContextManager
from typing import Annotated

import typer
from gazette.bootstrap.support.sending import build_sending
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.streams import Streams
from gazette.settings.delivery import GenerateSettings
from gazette.steps.support.sending import (
    SendingContext,
    held_categories,
    read_streams,
    resume_sending,
    stop_sending,
)
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.sending.categories import check_category, resume_category, row, stop_category
from cli.shared.aws_errors import refusals_in_words
from cli.shared.console import NotPossible, note, one_line_errors, printable, say
from cli.shared.deployed import StageName, settings_of
from cli.shared.formatting import moment, next_try, rate_text

Category = Annotated[
    str | None,
    typer.Option("--category", metavar="NAME", help="This category only, not all email."),
]

sending = typer.Typer(
    help="Whether email goes out: show it, stop it, resume it.", no_args_is_help=True
)


@sending.command("status")
@one_line_errors()
def status(stage: StageName = "prod") -> None:
    """Show whether digests and immediate email go out, at which rate, and which categories are
    held.

    For a stream that is stopped: why, since when, and when the next email is tried.
    """
    with _refusals(stage):
        context = _context(stage)
        found, categories = read_streams(context=context), held_categories(context=context)
    _show([*rows(found), *map(row, categories)])
    if found.digest.breaker or found.immediate.breaker:
        note(f"`gazette sending resume --stage {stage}` resumes all email at once.")
    if categories:
        note(f"`gazette sending resume --category NAME --stage {stage}` resumes a category.")


@sending.command("stop")
@one_line_errors()
def stop(
    reason: Annotated[
        str, typer.Argument(metavar="REASON", help="Why; `gazette sending status` shows it.")
    ],
    stage: StageName = "prod",
    category: Category = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Stop all email of the stage, or one category, until somebody resumes it. Nothing is lost."""
    if not reason.strip():
        raise NotPossible("REASON is empty: say in a few words why you stop sending.")
    if category is not None:
        check_category(category)
    with _refusals(stage):
        context = _context(stage)
        if category is not None:
            why = printable(reason.strip())
            stop_category(category, why, context=context, stage=stage, yes=yes)
            return
        if not yes:
            typer.confirm(
                f"Stop all email of stage {stage} until somebody runs "
                f"`gazette sending resume --stage {stage}`?",
                abort=True,
            )
        stop_sending(printable(reason.strip()), context=context)
    say(f"all email of stage {stage} is stopped until you resume it")
    note("Emails that workers already prepared may still go out for some seconds.")


@sending.command("resume")
@one_line_errors()
def resume(stage: StageName = "prod", category: Category = None) -> None:
    """Resume all email, or one category, whether it was stopped by hand or automatically."""
    if category is not None:
        check_category(category)
        with _refusals(stage):
            resume_category(category, stage=stage)
        return
    with _refusals(stage):
        before = resume_sending(context=_context(stage))
    if before is None:
        say(f"email of stage {stage} was not stopped")
        return
    since = min(each.breaker.since for each in (before.digest, before.immediate) if each.breaker)
    say(f"all email of stage {stage} is sent again; it was stopped since {moment(since)}")
    note("Waiting email goes out within 15 minutes.")


def rows(found: Streams[PaceReading]) -> list[tuple[str, str]]:
    """A name and a value each: digests first, then immediate email."""
    return [*_of("digest", found.digest), *_of("immediate", found.immediate)]


def _of(stream: str, found: PaceReading) -> list[tuple[str, str]]:
    rate = (f"{stream} rate", rate_text(found))
    if found.breaker is None:
        return [(stream, "sending"), rate]
    return [
        (stream, "stopped by hand" if found.breaker.by_hand else "stopped automatically"),
        (f"{stream} reason", printable(found.breaker.why)),
        (f"{stream} since", moment(found.breaker.since)),
        (f"{stream} next try", next_try(found.breaker)),
        rate,
    ]


def _show(rows: list[tuple[str, str]]) -> None:
    """Two columns on a terminal; otherwise one line per row, separated by tabs."""
    console = Console()
    if not console.is_terminal:
        for row in rows:
            typer.echo("\t".join(row))
        return
    table = Table.grid(padding=(0, 2))
    for name, value in rows:
        table.add_row(Text(name, style="dim"), Text(value))
    console.print(table)


def _refusals(stage: str) -> AbstractContextManager[None]:
    return refusals_in_words(f"the tables of stage {stage}", service="dynamodb")


def _context(stage: str) -> SendingContext:
    return build_sending(settings_of(stage, "generate", GenerateSettings))
