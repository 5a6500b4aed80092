"""`gazette sending`: show whether digests, immediate email and categories go out; stop, resume."""

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

from cli.sending.categories import (
    check_category,
    held_document,
    resume_category,
    row,
    stop_category,
    stopped,
)
from cli.shared.answers import Yes, confirm, facts, moment, tell
from cli.shared.aws_errors import refusals_of_tables
from cli.shared.commands import Command, UnaskedChange
from cli.shared.console import NotPossible, note, printable
from cli.shared.deployed import StageName, settings_of
from cli.shared.pace import next_try, rate_text, state, stream

Category = Annotated[
    str | None,
    typer.Option("--category", metavar="NAME", help="Only this category, not all email."),
]

sending = typer.Typer(
    help="Show whether email goes out, stop it, and resume it.", no_args_is_help=True
)


@sending.command("status", cls=Command)
def status(stage: StageName = "prod") -> None:
    """Show whether digests and immediate email go out, at which rate, and which categories are
    held.

    For a stream that is stopped: why, since when, and when the next email is tried.
    """
    with refusals_of_tables(stage):
        context = _context(stage)
        found, categories = read_streams(context=context), held_categories(context=context)
    facts(
        {
            "digest": stream(found.digest),
            "immediate": stream(found.immediate),
            "held_categories": [*map(held_document, categories)],
        },
        [*rows(found), *map(row, categories)],
    )
    if found.digest.breaker or found.immediate.breaker:
        note(f"`gazette sending resume --stage {stage}` resumes all email at once.")
    if categories:
        note(f"`gazette sending resume --category NAME --stage {stage}` resumes a category.")


@sending.command("stop", cls=Command)
def stop(
    reason: Annotated[
        str, typer.Argument(metavar="REASON", help="Why; `gazette sending status` shows it.")
    ],
    stage: StageName = "prod",
    category: Category = None,
    yes: Yes = False,
) -> None:
    """Stop all email of the stage, or one category, until somebody resumes it. Nothing is lost."""
    if not reason.strip():
        raise NotPossible("REASON is empty: say in a few words why you stop sending.")
    if category is not None:
        check_category(category)
    with refusals_of_tables(stage):
        context = _context(stage)
        if category is not None:
            why = printable(reason.strip())
            stop_category(category, why, context=context, stage=stage, yes=yes)
            return
        if not yes:
            confirm(
                f"Stop all email of stage {stage} until somebody runs "
                f"`gazette sending resume --stage {stage}`?"
            )
        stop_sending(printable(reason.strip()), context=context)
    tell(f"all email of stage {stage} is stopped until you resume it", **stopped())
    note("Emails that workers already prepared may still go out for some seconds.")


@sending.command("resume", cls=UnaskedChange)
def resume(stage: StageName = "prod", category: Category = None) -> None:
    """Resume all email, or one category, whether it was stopped by hand or automatically."""
    if category is not None:
        check_category(category)
        with refusals_of_tables(stage):
            resume_category(category, stage=stage)
        return
    with refusals_of_tables(stage):
        before = resume_sending(context=_context(stage))
    if before is None:
        tell(f"email of stage {stage} was not stopped", **stopped(False, changed=False))
        return
    since = min(each.breaker.since for each in (before.digest, before.immediate) if each.breaker)
    tell(
        f"all email of stage {stage} is sent again; it was stopped since {moment(since)}",
        **stopped(False, since=since),
    )
    note("Waiting email goes out within 15 minutes.")


def rows(found: Streams[PaceReading]) -> list[tuple[str, str]]:
    """A name and a value each: digests first, then immediate email."""
    return [*_of("digest", found.digest), *_of("immediate", found.immediate)]


def _of(name: str, found: PaceReading) -> list[tuple[str, str]]:
    rate = (f"{name} rate", rate_text(found))
    if found.breaker is None:
        return [(name, state(None)), rate]
    return [
        (name, state(found.breaker)),
        (f"{name} reason", found.breaker.why),
        (f"{name} since", moment(found.breaker.since)),
        (f"{name} next try", next_try(found.breaker)),
        rate,
    ]


def _context(stage: str) -> SendingContext:
    return build_sending(settings_of(stage, "generate", GenerateSettings))
