"""`gazette statistics`: counts and shares for emails of a batch, week, experiment or rollout."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.statistics import build_statistics
from gazette.domain.feedback.statistics import IMMEDIATE, Dimension, Measure
from gazette.settings.feedback import FeedbackSettings
from gazette.steps.support.statistics import (
    Statistics,
    StatisticsContext,
    collect_statistics,
    digests_sent,
)

from cli.shared.aws_errors import refusals_of_tables
from cli.shared.completion import recent_slots
from cli.shared.console import NotPossible, note
from cli.shared.deployed import StageName, settings_of
from cli.shared.live import progress
from cli.statistics.files import check_writable, readers_file, write, write_csv
from cli.statistics.page import page
from cli.statistics.periods import Span, of_batch, of_experiment, of_rollout, of_week
from cli.statistics.rows import readers_table, table
from cli.statistics.summary import answer
from cli.statistics.terminal import show

_AT_ONCE = 32
"""Slots that are read at the same time. A week has 1,008, each in sixteen partitions."""


def statistics(
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="SLOT",
            help="A slot in UTC: 2026-11-22T06:10Z.",
            autocompletion=recent_slots,
        ),
    ] = None,
    week: Annotated[
        str | None, typer.Option("--week", metavar="WEEK", help="A week in UTC: 2026-W47.")
    ] = None,
    experiment: Annotated[
        str | None,
        typer.Option("--experiment", metavar="NAME", help="An experiment, and what it shows."),
    ] = None,
    rollout: Annotated[
        int | None,
        typer.Option(
            "--rollout",
            min=1,
            metavar="VERSION",
            help="A version of the templates beside the one that other readers had meanwhile.",
        ),
    ] = None,
    stage: StageName = "prod",
    to_csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Also write them to this CSV file.")
    ] = None,
    to_html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Also write them to this HTML page."),
    ] = None,
) -> None:
    """Show what became of the emails of a week (this one by default), a batch, an experiment or a
    rollout.

    Sent, delivered, bounced, complained of, opened, clicked, and left by: in total, and by
    frequency, category, locale, variation and version of the templates.
    """
    given = {
        "--batch": batch,
        "--week": week,
        "--experiment": experiment,
        "--rollout": rollout,
    }
    if len(names := [name for name, value in given.items() if value is not None]) > 1:
        raise NotPossible(f"{' and '.join(names)} are separate statistics: give one of them.")
    for option, file in (("--csv", to_csv), ("--html", to_html)):
        check_writable(option, file)
    began = now()
    span = of_week(week, now=began) if batch is None else of_batch(batch)
    settings = settings_of(stage, "feedback", FeedbackSettings)
    with refusals_of_tables(stage):
        context = build_statistics(settings, connections=_AT_ONCE)
        if experiment is not None:
            span = of_experiment(experiment, context.experiments.periods(), now=began)
        if rollout is not None:
            span = of_rollout(rollout, context.versions.changes(), now=began)
        found = collect_statistics(
            span.slots,
            engagements=context.engagements,
            arm_of=span.arm_of,
            each=_many_at_once,
        )
        unreported = 0 if batch is None else _unreported(span, found, context)
    told = answer(span, found)
    show(told, beside={"since": span.since, "until": span.until, "unreported": unreported})
    if not told.counts:
        note("Nothing was reported of any. Where mail_provider is smtp, nothing ever is.")
    if unreported:
        note(f"Digests that were sent, and of which nothing was reported yet: {unreported}.")
    if to_csv:
        write_csv("--csv", to_csv, table(told.counts))
        if told.arms:
            write_csv("--csv", readers_file(to_csv), readers_table(told.arms, told.findings))
            note(f"What readers did is in {readers_file(to_csv)}.")
    if to_html:
        write("--html", to_html, page(told, made_at=began))


def _unreported(span: Span, found: Statistics, context: StatisticsContext) -> int:
    """Digests of a batch that were sent and have no row. Immediate emails are in no batch."""
    sent = found.counts[Dimension.TOTAL, "", Measure.SENT]
    immediate = found.counts[Dimension.FREQUENCY, IMMEDIATE, Measure.SENT]
    return max(0, digests_sent(span.since, runs=context.runs) - (sent - immediate))


def _many_at_once(
    read: Callable[[datetime], Statistics], slots: Iterable[datetime]
) -> Iterator[Statistics]:
    """Reads many slots at once, with a progress bar on a terminal. Ctrl-C reads no more."""
    wanted = list(slots)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield from progress(pool.map(read, wanted), "reading", total=len(wanted))
