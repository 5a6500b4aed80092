"""`gazette replay`: sent emails rendered again, with the templates and settings of this tree."""

import webbrowser
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

import typer
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.replay import Replay, build_replay
from gazette.domain.identity import USER_ID
from gazette.settings.delivery import GenerateSettings
from gazette.steps.support.replay import Sample, runs_of_reader, take_sample

from cli.find.scan import SEGMENTS, size_of
from cli.replay import summary
from cli.replay.comparison import Comparison, compare
from cli.replay.page import page
from cli.replay.sides import both_sides, locator, settings_changed, templates_to_deploy
from cli.shared.answers import give
from cli.shared.aws_errors import refusals_of_tables
from cli.shared.console import NotPossible, note, printable, say, wants_json
from cli.shared.deployed import StageName, settings_of
from cli.shared.live import progress

BREAKS = 1
"""The exit status where an email would fail, or lose something."""

_PROJECT = Path(__file__).parents[2]
_PART, _PARTS = 1_000_000, 2**19
"""Bytes of a part of the table, and the most parts: DynamoDB allows a million segments.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html"""

_MOST_PARTS = 1_000
"""Parts that are read at most: of a megabyte each, they take some 125,000 read units."""

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
    to: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER", help="The folder to write the page to.", show_default="build/replay"
        ),
    ] = _PROJECT / "build" / "replay",
    open_it: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Render sent emails again and show what a change of templates or settings would have changed.

    Before: the templates and settings with which the stage works now. After: the templates of the
    working tree, and what cdk.json says of the stage: ranking, category_weights, sections,
    max_blocks and full_blocks. It writes a page that has the most changed emails side by side. It
    reads only, and its links lead nowhere. Exit code 1: an email would fail, leave out an event, or
    be too large for all its blocks.
    """
    if user is not None and not USER_ID.fullmatch(user):
        raise NotPossible(
            f"--user {printable(user)!r} cannot be a user id: give the user_id that your services "
            "put, 1 to 64 ASCII characters without spaces."
        )
    index = _place_of_page(to)
    began = now()
    tree = templates_to_deploy(stage, _PROJECT, own=templates, variation=variation)
    settings = settings_of(stage, "generate", GenerateSettings)
    with (
        both_sides(stage, tree, settings, variation=variation) as (before, after),
        refusals_of_tables(stage),
    ):
        reading = build_replay(settings)
        runs = _runs(
            reading,
            settings.runs_table,
            since=began - timedelta(days=days),
            sample=sample,
            user=user,
        )
        comparison = compare(
            progress(runs.runs, "rendering", total=len(runs.runs)),
            read=reading.read_email,
            before=before,
            after=after,
            link_maker=reading.link_maker,
            locate=locator(tree, after, reading.link_maker),
        )
    notes = [*summary.not_compared(comparison), *summary.reading(runs, days)]
    content = page(
        comparison,
        title=f"What this working tree changes in the emails of {stage}",
        settings=settings_changed(before, after),
        notes=notes,
        made_at=began,
    )
    _write(index, content)
    _tell(comparison, runs, notes, index)
    if open_it and not webbrowser.open(index.absolute().as_uri()):
        note("gazette: there is no browser here: open the page yourself.")
    if any(each.breaks for each in comparison.emails):
        raise typer.Exit(BREAKS)


def _place_of_page(folder: Path) -> Path:
    """Where the page goes, in a folder that takes files: seen before minutes of reading.

    Raises NotPossible.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as err:
        raise _unwritable(folder, err) from err
    return folder / "index.html"


def _write(index: Path, content: str) -> None:
    try:
        index.write_text(content, encoding="utf-8", newline="")
    except OSError as err:
        raise _unwritable(index.parent, err) from err


def _unwritable(folder: Path, err: OSError) -> NotPossible:
    return NotPossible(f"--to {folder} cannot be written ({err.strerror}): name another folder.")


def _runs(reading: Replay, table: str, *, since: datetime, sample: int, user: str | None) -> Sample:
    if user is not None:
        return runs_of_reader(user, sample, since=since, runs=reading.runs)
    parts, size = SEGMENTS, size_of(table).size
    while parts < _PARTS and parts * _PART < size:
        parts *= 2
    with ThreadPoolExecutor(SEGMENTS) as pool:
        return take_sample(
            sample,
            since=since,
            parts=parts,
            most_parts=_MOST_PARTS,
            sent=reading.sent,
            each=pool.map,
        )


def _tell(comparison: Comparison, runs: Sample, notes: Sequence[str], index: Path) -> None:
    say(summary.headline(comparison))
    for problem in summary.problems(comparison):
        say(problem, style="red")
    if comparison.changed and not wants_json():
        summary.rows(comparison.changed[:_ROWS]).show()
    say(f"page: {index}")
    give(
        {
            **summary.document(comparison),
            "runs_found": runs.found,
            "parts_read": runs.read,
            "parts": runs.parts,
            "read_units": runs.read_units,
            "page": str(index),
        }
    )
    for sentence in notes:
        note(sentence)
