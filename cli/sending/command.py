"""`gazette brake`: whether a stream, or a category, is stopped, and why; stop them, let them go."""

from contextlib import AbstractContextManager
from typing import Annotated

import typer
from gazette.bootstrap.support import BrakeDesk, build_brake
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.streams import Streams
from gazette.settings import GenerateSettings
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.sending.categories import pull_category, refuse_what_is_no_category, release_category, row
from cli.shared.aws_errors import refusals_in_words
from cli.shared.console import NotPossible, note, one_line_errors, printable, say
from cli.shared.deployed import StageName, settings_of
from cli.shared.formatting import moment, next_try, rate_text

_COMMANDS = ("pull", "release")

Category = Annotated[
    str | None,
    typer.Option("--category", metavar="NAME", help="Of this category alone, not of all email."),
]

brake = typer.Typer(
    help="Whether digests, email at once or a category are stopped, and why; stop, and let go.",
    invoke_without_command=True,
)


@brake.callback()
@one_line_errors()
def show(context: typer.Context, stage: StageName = "prod") -> None:
    """Show of each stream how fast it goes, whether its brake is on, why, since when, and when it
    is tried next; and of which categories nothing is sent."""
    if context.invoked_subcommand:
        context.default_map = {command: {"stage": stage} for command in _COMMANDS}
        return
    with _refusals(stage):
        desk = _desk(stage)
        found, categories = desk.look(), desk.categories()
    _show([*rows(found), *map(row, categories)])
    if found.digest.brake or found.immediate.brake:
        note(f"`gazette brake release --stage {stage}` lets all email go at once.")
    if categories:
        note(f"`gazette brake release --category NAME --stage {stage}` lets a category go.")


@brake.command("pull")
@one_line_errors()
def pull(
    reason: Annotated[str, typer.Argument(metavar="REASON", help="Why: others will read it.")],
    stage: StageName = "prod",
    category: Category = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Stop all email of the stage, or one category, until somebody releases it; nothing is lost."""
    if not reason.strip():
        raise NotPossible("REASON is empty: say in a few words why, others will read it.")
    if category is not None:
        refuse_what_is_no_category(category)
    with _refusals(stage):
        desk = _desk(stage)
        if category is not None:
            why = printable(reason.strip())
            pull_category(desk, category, why, stage=stage, yes=yes)
            return
        if not yes:
            typer.confirm(
                f"Stop all email of stage {stage} until somebody runs "
                f"`gazette brake release --stage {stage}`?",
                abort=True,
            )
        desk.pull(printable(reason.strip()))
    say(f"the brake of stage {stage} is on: nothing is sent until it is released")
    note("What has its turn already still goes, for some seconds.")


@brake.command("release")
@one_line_errors()
def release(stage: StageName = "prod", category: Category = None) -> None:
    """Let all email go, of both streams, or one category, whoever pulled the brake."""
    if category is not None:
        refuse_what_is_no_category(category)
        with _refusals(stage):
            release_category(category, stage=stage)
        return
    with _refusals(stage):
        desk = _desk(stage)
        found = desk.look()
        on = [each.brake for each in (found.digest, found.immediate) if each.brake]
        if on:
            desk.release()
    if not on:
        say(f"the brake of stage {stage} was off")
        return
    since = min(each.since for each in on)
    say(f"the brake of stage {stage} is off; it was on since {moment(since)}")
    note("What was put off comes back within a quarter of an hour.")


def rows(found: Streams[PaceReading]) -> list[tuple[str, str]]:
    """A name and a value each, of one stream and then of the other."""
    return [*_of("digest", found.digest), *_of("immediate", found.immediate)]


def _of(stream: str, found: PaceReading) -> list[tuple[str, str]]:
    pace = (f"{stream} pace", rate_text(found))
    if found.brake is None:
        return [(f"{stream} brake", "off"), pace]
    return [
        (f"{stream} brake", "on, by hand" if found.brake.by_hand else "on"),
        (f"{stream} why", printable(found.brake.why)),
        (f"{stream} since", moment(found.brake.since)),
        (f"{stream} tried", next_try(found.brake)),
        pace,
    ]


def _show(said: list[tuple[str, str]]) -> None:
    """Two columns for people; where it is piped, a line each, with a tab between."""
    console = Console()
    if not console.is_terminal:
        for row in said:
            typer.echo("\t".join(row))
        return
    table = Table.grid(padding=(0, 2))
    for name, value in said:
        table.add_row(Text(name, style="dim"), Text(value))
    console.print(table)


def _refusals(stage: str) -> AbstractContextManager[None]:
    return refusals_in_words(f"the tables of stage {stage}", service="dynamodb")


def _desk(stage: str) -> BrakeDesk:
    return build_brake(settings_of(stage, "generate", GenerateSettings))
