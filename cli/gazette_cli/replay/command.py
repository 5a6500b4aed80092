"""`gazette replay`: render sent emails again to see the effect of a change."""

import webbrowser
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from gazette.bootstrap.parts.clock import now
from gazette.domain.identity import USER_ID
from gazette.settings.delivery import GenerateSettings

from gazette_cli.replay import answer, sides, summary
from gazette_cli.replay.comparing import compare
from gazette_cli.replay.comparison import Comparison
from gazette_cli.replay.page import page
from gazette_cli.replay.page_file import place_of_page, write_page
from gazette_cli.replay.sampling import sent_runs
from gazette_cli.replay.settings import settings_changed
from gazette_cli.shared.answers import give
from gazette_cli.shared.console import NotPossible, note, printable, say, wants_json
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.shared.live import progress
from gazette_cli.templates.renderers import SidesOfRuns
from gazette_cli.templates.stage import refusals
from gazette_support.bootstrap.replay import build_replay
from gazette_support.bootstrap.templates import build_templates
from gazette_support.steps.replay import Sample

BREAKS = 1
"""The exit status if an email would fail or lose content."""

_ROWS = 20
"""The maximum number of changed emails to list on the terminal."""


def replay(
    stage: StageName = "prod",
    days: Annotated[
        int,
        typer.Option(
            min=1, max=200, help="The number of past days from which emails are replayed."
        ),
    ] = 7,
    sample: Annotated[
        int,
        typer.Option(
            min=1,
            max=10_000,
            help="The number of emails to replay. Repeated replays use the same sample.",
        ),
    ] = 200,
    user: Annotated[
        str | None, typer.Option(metavar="USER", help="Replay only the emails of this reader.")
    ] = None,
    templates: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The folder with your own templates. The default is the setting `templates`.",
        ),
    ] = None,
    variation: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help=(
                "The variation to use for all emails. By default, each email keeps its own "
                "variation."
            ),
        ),
    ] = None,
    version: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION",
            help=(
                "The version to render after the change: a number, or `deployed`. The default is "
                "the templates of the working tree."
            ),
        ),
    ] = None,
    as_sent: Annotated[
        bool,
        typer.Option(
            "--as-sent",
            help=(
                "For the email before the change, use the version with which the email was sent, "
                "instead of the version in force."
            ),
        ),
    ] = False,
    to: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="The folder to write the page to.", show_default="build/replay"
        ),
    ] = Path("build/replay"),
    open_it: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Render sent emails again, and show the effect of changed templates or settings.

    Each email is rendered twice: with the deployed settings and the templates in force for the
    reader, and with the templates of the working tree. The second email uses the digest settings in
    cdk.json or gazette.toml: `ranking`, `category_weights`, `sections`, `max_blocks` and
    `full_blocks`. The command writes a page that shows the most changed emails side by side. The
    stage does not change, and links are placeholders. The exit code is 1 if an email would fail,
    omit an event, or be too large to show all its blocks.
    """
    if version is not None and templates is not None:
        raise NotPossible("--version and --templates cannot be used together.")
    if user is not None and not USER_ID.fullmatch(user):
        raise NotPossible(
            f"--user {printable(user)!r} is not a valid user id. Specify the user_id of your "
            "events, which has 1 to 64 ASCII characters without spaces."
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
        changed: AbstractContextManager[sides.After]
        if version is None:
            changed = sides.after_tree(tree, stage, variation, settings)
        else:
            changed = nullcontext(
                sides.after_version(version, stage, variation, settings, context=context)
            )
        with changed as after:
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
                    f"No email was sent to {user} in {days} days. Specify a larger number of "
                    f"--days. To see the reader's emails, run `gazette explain {user}`."
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
        title=f"Effect of {after.name} on the emails of {stage}",
        before=sides.before_in_words(stage, before.in_force, as_sent=as_sent),
        after=after.description,
        settings=settings_changed(comparison.versions or before.without_runs(), after.side),
        notes=notes,
        made_at=began,
    )
    write_page(index, content)
    _tell(comparison, runs, notes, index)
    if open_it and not webbrowser.open(index.absolute().as_uri()):
        note("gazette: no browser is available. Open the page yourself.")
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
