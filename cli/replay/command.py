"""`gazette replay`: sent emails rendered again, with other templates and settings."""

import webbrowser
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.replay import build_replay
from gazette.bootstrap.support.templates import build_templates
from gazette.domain.identity import USER_ID
from gazette.settings.delivery import GenerateSettings
from gazette.steps.support.replay import Sample

from cli.replay import answer, sides, summary
from cli.replay.comparing import compare
from cli.replay.comparison import Comparison
from cli.replay.page import page
from cli.replay.page_file import place_of_page, write_page
from cli.replay.sampling import sent_runs
from cli.replay.settings import settings_changed
from cli.shared.answers import give
from cli.shared.console import NotPossible, note, printable, say, wants_json
from cli.shared.deployed import StageName, settings_of
from cli.shared.live import progress
from cli.templates.renderers import SidesOfRuns
from cli.templates.stage import refusals

BREAKS = 1
"""The exit status where an email would fail, or lose something."""

_ROWS = 20
"""Runs in a table on the terminal."""


def replay(
    stage: StageName = "prod",
    days: Annotated[
        int, typer.Option(min=1, max=200, help="Emails that were sent in so many days until now.")
    ] = 7,
    sample: Annotated[
        int, typer.Option(min=1, max=10_000, help="How many emails, always the same ones.")
    ] = 200,
    user: Annotated[
        str | None, typer.Option(metavar="USER", help="Only the emails of this reader.")
    ] = None,
    templates: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Your own templates, in place of those that cdk.json names."
        ),
    ] = None,
    variation: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="Render all with this variation, not each with its own."
        ),
    ] = None,
    version: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION",
            help="After: this version of the templates, its number or `deployed`, not the tree.",
        ),
    ] = None,
    as_sent: Annotated[
        bool,
        typer.Option(
            "--as-sent",
            help="Before: the version that each email was sent with, not that in force.",
        ),
    ] = False,
    to: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="The folder to write the page to.", show_default="build/replay"
        ),
    ] = sides.PROJECT / "build" / "replay",
    open_it: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Render sent emails again and show what a change of templates or settings would have changed.

    Before: the settings with which the stage works now, and for each reader the version of the
    templates that is in force for them. After: the templates of the working tree, and what cdk.json
    says of the stage: ranking, category_weights, sections, max_blocks and full_blocks. It writes a
    page that has the most changed emails side by side. It reads only, and its links lead nowhere.
    Exit code 1: an email would fail, leave out an event, or be too large for all its blocks.
    """
    if version is not None and templates is not None:
        raise NotPossible("--version and --templates exclude each other: leave one of them out.")
    if user is not None and not USER_ID.fullmatch(user):
        raise NotPossible(
            f"--user {printable(user)!r} cannot be a user id: give the user_id that your services "
            "put, 1 to 64 ASCII characters without spaces."
        )
    index = place_of_page(to)
    began = now()
    if version is None:
        tree = sides.templates_of_tree(stage, own=templates, variation=variation)
    else:
        sides.check_version(version)
    settings = settings_of(stage, "generate", GenerateSettings)
    with refusals(stage):
        context = build_templates(settings)
        before = SidesOfRuns(context=context, settings=settings, stage=stage, as_sent=as_sent)
        made: AbstractContextManager[sides.After]
        if version is None:
            made = sides.after_tree(tree, stage, variation, settings)
        else:
            made = nullcontext(
                sides.after_version(version, stage, variation, settings, context=context)
            )
        with made as after:
            reading = build_replay(settings)
            runs = sent_runs(
                reading,
                settings.runs_table,
                since=began - timedelta(days=days),
                sample=sample,
                user=user,
            )
            if user is not None and not (runs.runs or runs.unreadable):
                raise NotPossible(
                    f"No email was sent to {user} in {days} days: `gazette explain {user}` says "
                    "what there is; --days looks further back."
                )
            comparison = compare(
                progress(runs.runs, "rendering", total=len(runs.runs)),
                read=reading.read_email,
                before=before,
                after=after.side,
                link_maker=reading.link_maker,
                locate=sides.locator(after, reading.link_maker),
            )
    notes = [*summary.not_compared(comparison), *summary.reading(runs, days)]
    content = page(
        comparison,
        title=f"What {after.name} would change in the emails of {stage}",
        before=sides.before_in_words(stage, before.in_force, as_sent=as_sent),
        after=after.told,
        settings=settings_changed(comparison.versions or before.without_runs(), after.side),
        notes=notes,
        made_at=began,
    )
    write_page(index, content)
    _tell(comparison, runs, notes, index)
    if open_it and not webbrowser.open(index.absolute().as_uri()):
        note("gazette: there is no browser here: open the page yourself.")
    if any(each.breaks for each in comparison.emails):
        raise typer.Exit(BREAKS)


def _tell(comparison: Comparison, runs: Sample, notes: Sequence[str], index: Path) -> None:
    say(summary.headline(comparison))
    for problem in summary.problems(comparison):
        say(problem, style="red")
    if comparison.changed and not wants_json():
        answer.rows(comparison.changed[:_ROWS]).show()
    say(f"page: {index}")
    give(
        {
            **answer.document(comparison),
            "runs_found": runs.runs_seen,
            "parts_read": runs.read,
            "parts": runs.parts,
            "read_units": runs.read_units,
            "page": str(index),
        }
    )
    for sentence in notes:
        note(sentence)
