"""`gazette replay`: sent emails rendered again, with the templates and settings of this tree."""

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.replay import Replay, build_replay
from gazette.domain.identity import USER_ID
from gazette.domain.model import Event
from gazette.domain.replay import SentEmail
from gazette.settings.delivery import GenerateSettings
from gazette.steps.support.replay import Sample, Side, runs_of_reader, show_alone, take_sample

from cli.find.scan import SEGMENTS, size_of
from cli.replay import summary
from cli.replay.comparison import Comparison, compare
from cli.shared.answers import give
from cli.shared.aws_errors import refusals_of_tables
from cli.shared.console import NotPossible, note, printable, say, wants_json
from cli.shared.deployed import StageName, settings_of
from cli.shared.live import progress
from cli.templates.building import Templates, built, check_variation, located, templates_of
from cli.templates.deployed import read_layer

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
) -> None:
    """Render sent emails again and say what a change of templates or settings would have changed.

    Before: the templates and settings with which the stage works now. After: the templates of the
    working tree, and what cdk.json says of the stage: ranking, category_weights, sections,
    max_blocks and full_blocks. It only reads, and its links lead nowhere. Exit code 1: an email
    would fail, leave out an event, or be too large for all its blocks.
    """
    if user is not None and not USER_ID.fullmatch(user):
        raise NotPossible(
            f"--user {printable(user)!r} cannot be a user id: give the user_id that your services "
            "put, 1 to 64 ASCII characters without spaces."
        )
    settings = settings_of(stage, "generate", GenerateSettings)
    with (
        _both_sides(stage, templates, variation, settings) as (before, after, tree),
        refusals_of_tables(stage),
    ):
        reading = build_replay(settings)
        runs = _runs(reading, settings.runs_table, days=days, sample=sample, user=user)
        comparison = compare(
            progress(runs.runs, "rendering", total=len(runs.runs)),
            read=reading.read_email,
            before=before,
            after=after,
            link_maker=reading.link_maker,
            locate=_locator(tree, after, reading),
        )
    _tell(comparison, runs, days)
    if any(each.breaks for each in comparison.emails):
        raise typer.Exit(BREAKS)


@contextmanager
def _both_sides(
    stage: str, own: Path | None, variation: int | None, settings: GenerateSettings
) -> Iterator[tuple[Side, Side, Templates]]:
    """What the stage has, what the working tree has, and the folders of the latter."""
    tree = templates_of(stage, _PROJECT)
    if own is not None:
        tree = replace(tree, overlay=own)
    if variation is not None:
        check_variation(tree, variation)
    with built(tree) as folder, tempfile.TemporaryDirectory() as deployed:
        before = Side(
            renderer=_renderer(read_layer(stage).write_templates(Path(deployed)), settings),
            max_blocks=settings.max_blocks,
            arrangement=settings.arrangement,
        )
        after = Side(
            renderer=_renderer(folder, settings),
            max_blocks=tree.max_blocks,
            arrangement=tree.arrangement,
            variation=variation,
        )
        yield before, after, tree


def _renderer(folder: Path, settings: GenerateSettings) -> JinjaRenderer:
    """As for sending; SES removes the marks of links that it does not count: they are no change."""
    return JinjaRenderer(folder).for_sending(
        tracks_clicks=bool(settings.track_clicks), measured=nullcontext
    )


def _runs(reading: Replay, table: str, *, days: int, sample: int, user: str | None) -> Sample:
    since = now() - timedelta(days=days)
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


def _locator(
    tree: Templates, after: Side, reading: Replay
) -> Callable[[SentEmail, list[Event]], str]:
    def locate(email: SentEmail, events: list[Event]) -> str:
        def show(renderer: JinjaRenderer) -> None:
            side = replace(after, renderer=renderer)
            show_alone(email, events, side, link_maker=reading.link_maker)

        return located(tree, show)

    return locate


def _tell(comparison: Comparison, runs: Sample, days: int) -> None:
    say(summary.headline(comparison))
    for problem in summary.problems(comparison):
        say(problem, style="red")
    if comparison.changed and not wants_json():
        summary.rows(comparison.changed[:_ROWS]).show()
    give(
        {
            **summary.document(comparison),
            "runs_found": runs.found,
            "parts_read": runs.read,
            "parts": runs.parts,
            "read_units": runs.read_units,
        }
    )
    for sentence in summary.not_compared(comparison):
        note(sentence)
    if runs.unreadable:
        note(f"{runs.unreadable} runs cannot be read by this version.")
    if runs.parts:
        note(
            f"Read {runs.read} of {runs.parts} parts of the table of runs, {runs.read_units:,.1f} "
            f"read units, and found {runs.found} sent emails of {days} days."
        )
