"""`gazette replay`: sent emails rendered again, with the templates and settings of this tree."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer
from gazette.adapters.rendering.renderer import JinjaRenderer
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.replay import Replay, build_replay
from gazette.bootstrap.support.templates import build_templates
from gazette.domain.identity import USER_ID
from gazette.domain.model import Event
from gazette.domain.replay import SentEmail
from gazette.settings.delivery import GenerateSettings
from gazette.steps.support.replay import Sample, Side, runs_of_reader, show_alone, take_sample

from cli.find.scan import SEGMENTS, size_of
from cli.replay import summary
from cli.replay.comparison import Comparison, compare
from cli.replay.sides import of_a_version, of_the_tree
from cli.shared.answers import give
from cli.shared.console import NotPossible, note, printable, say, wants_json
from cli.shared.deployed import StageName, settings_of
from cli.shared.live import progress
from cli.templates.building import Templates, located
from cli.templates.renderers import SidesOfRuns
from cli.templates.stage import refusals

BREAKS = 1
"""The exit status where an email would fail, or lose something."""

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
) -> None:
    """Render sent emails again and say what a change of templates or settings would have changed.

    Before: the settings with which the stage works now, and for each reader the version of the
    templates that is in force for them. After: the templates of the working tree, and what cdk.json
    says of the stage: ranking, category_weights, sections, max_blocks and full_blocks. It only
    reads, and its links lead nowhere. Exit code 1: an email would fail, leave out an event, or be
    too large for all its blocks.
    """
    if version is not None and templates is not None:
        raise NotPossible("--version and --templates exclude each other: leave one of them out.")
    if user is not None and not USER_ID.fullmatch(user):
        raise NotPossible(
            f"--user {printable(user)!r} cannot be a user id: give the user_id that your services "
            "put, 1 to 64 ASCII characters without spaces."
        )
    settings = settings_of(stage, "generate", GenerateSettings)
    with refusals(stage):
        context = build_templates(settings)
        before = SidesOfRuns(context=context, settings=settings, stage=stage, as_sent=as_sent)
        if version is None:
            made = of_the_tree(stage, templates, variation, settings)
        else:
            made = of_a_version(version, variation, settings, context=context, stage=stage)
        with made as (after, tree):
            reading = build_replay(settings)
            runs = _runs(reading, settings.runs_table, days=days, sample=sample, user=user)
            comparison = compare(
                progress(runs.runs, "rendering", total=len(runs.runs)),
                read=reading.read_email,
                before=before,
                after=after,
                link_maker=reading.link_maker,
                locate=_locator(tree, after, reading) if tree else lambda *_: "",
            )
    _tell(comparison, runs, days)
    if any(each.breaks for each in comparison.emails):
        raise typer.Exit(BREAKS)


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
