"""`gazette sending`: show, stop and resume digests, immediate email and categories."""

from typing import Annotated

import typer
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.streams import Streams
from gazette.domain.scheduling.instants import moment
from gazette.settings.delivery import GenerateSettings
from gazette.steps.support.words.stops import next_try

from gazette_cli.sending.categories import (
    check_category,
    held_document,
    resume_category,
    row,
    stop_category,
    stopped,
)
from gazette_cli.shared.answers import Yes, confirm, facts, tell
from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.commands import Command, UnaskedChange
from gazette_cli.shared.console import NotPossible, note, printable
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.shared.pace import rate_text, state, stream
from gazette_support.bootstrap.sending import build_sending
from gazette_support.steps.sending import (
    SendingContext,
    held_categories,
    read_streams,
    resume_sending,
    stop_sending,
)

Category = Annotated[
    str | None,
    typer.Option(
        "--category",
        metavar="NAME",
        help="Stop or resume only this category, instead of all email.",
    ),
]

sending = typer.Typer(
    help="Show whether the stage sends email, and stop or resume sending.", no_args_is_help=True
)


@sending.command("status", cls=Command)
def status(stage: StageName = "prod") -> None:
    """Show the state and the rate of digests and immediate email, and the held categories.

    For a stopped stream, the output includes the reason, the time of the stop, and the time of the
    next attempt.
    """
    with refusals_of_tables(stage):
        context = _context(stage)
        readings, categories = read_streams(context=context), held_categories(context=context)
    facts(
        {
            "digest": stream(readings.digest),
            "immediate": stream(readings.immediate),
            "held_categories": [*map(held_document, categories)],
        },
        [*rows(readings), *map(row, categories)],
    )
    if readings.digest.breaker or readings.immediate.breaker:
        note(f"To resume all email, run `gazette sending resume --stage {stage}`.")
    if categories:
        note(f"To resume a category, run `gazette sending resume --category NAME --stage {stage}`.")


@sending.command("stop", cls=Command)
def stop(
    reason: Annotated[
        str,
        typer.Argument(
            metavar="REASON", help="The reason for the stop, shown by `gazette sending status`."
        ),
    ],
    stage: StageName = "prod",
    category: Category = None,
    yes: Yes = False,
) -> None:
    """Stop all email of a stage, or of one category, until someone resumes it. No event is lost."""
    if not reason.strip():
        raise NotPossible("REASON is empty. Describe in a few words why you stop sending.")
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
                f"Stop all email of stage {stage} until someone runs "
                f"`gazette sending resume --stage {stage}`?"
            )
        stop_sending(printable(reason.strip()), context=context)
    tell(f"all email of stage {stage} is stopped until you resume it", **stopped())
    note("For a few seconds, workers may still send emails that they have already prepared.")


@sending.command("resume", cls=UnaskedChange)
def resume(stage: StageName = "prod", category: Category = None) -> None:
    """Resume all email of a stage, or of one category, after a manual or automatic stop."""
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
        f"all email of stage {stage} is resumed; it was stopped at {moment(since)}",
        **stopped(False, since=since),
    )
    note("Waiting email is sent within 15 minutes.")


def rows(readings: Streams[PaceReading]) -> list[tuple[str, str]]:
    """Return the names and values to show, first for digests and then for immediate email."""
    return [*_of("digest", readings.digest), *_of("immediate", readings.immediate)]


def _of(name: str, readings: PaceReading) -> list[tuple[str, str]]:
    rate = (f"{name} rate", rate_text(readings))
    if readings.breaker is None:
        return [(name, state(None)), rate]
    return [
        (name, state(readings.breaker)),
        (f"{name} reason", readings.breaker.why),
        (f"{name} since", moment(readings.breaker.since)),
        (f"{name} next try", next_try(readings.breaker)),
        rate,
    ]


def _context(stage: str) -> SendingContext:
    return build_sending(settings_of(stage, "generate", GenerateSettings))
