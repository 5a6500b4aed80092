"""`gazette statistics`: counts and rates of emails for a batch, week, experiment or rollout."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from gazette.bootstrap.parts.clock import now
from gazette.settings.feedback import FeedbackSettings

from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.completion import recent_slots
from gazette_cli.shared.console import NotPossible, note
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.shared.live import progress
from gazette_cli.statistics.files import check_writable, readers_file, write, write_csv
from gazette_cli.statistics.page import page
from gazette_cli.statistics.periods import Span, of_batch, of_experiment, of_rollout, of_week
from gazette_cli.statistics.rows import readers_table, table
from gazette_cli.statistics.summary import answer
from gazette_cli.statistics.terminal import show
from gazette_support.bootstrap.statistics import build_statistics
from gazette_support.domain.statistics import IMMEDIATE, Dimension, Measure
from gazette_support.steps.statistics import (
    Statistics,
    StatisticsContext,
    collect_statistics,
    digests_sent,
)

_AT_ONCE = 32
"""The number of slots to read in parallel. A week has 1,008 slots with 16 partitions each."""


def statistics(
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch",
            metavar="SLOT",
            help="The slot of a batch in UTC, such as 2026-11-22T06:10Z.",
            autocompletion=recent_slots,
        ),
    ] = None,
    week: Annotated[
        str | None,
        typer.Option("--week", metavar="WEEK", help="An ISO 8601 week in UTC, such as 2026-W47."),
    ] = None,
    experiment: Annotated[
        str | None,
        typer.Option(
            "--experiment",
            metavar="NAME",
            help="The name of an experiment. The report includes its result.",
        ),
    ] = None,
    rollout: Annotated[
        int | None,
        typer.Option(
            "--rollout",
            min=1,
            metavar="VERSION",
            help=(
                "The number of a templates version. The report compares this version with the "
                "version that all other readers got."
            ),
        ),
    ] = None,
    stage: StageName = "prod",
    to_csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Also write the report to a CSV file."),
    ] = None,
    to_html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Also write the report to an HTML page."),
    ] = None,
) -> None:
    """Show the outcomes of the emails in a week, a batch, an experiment or a rollout. The default
    is the current week.

    Outcomes include delivered, bounced, opened, clicked and unsubscribed. The command shows totals,
    and counts by frequency, category, locale, variation and templates version.
    """
    options = {
        "--batch": batch,
        "--week": week,
        "--experiment": experiment,
        "--rollout": rollout,
    }
    if len(names := [name for name, value in options.items() if value is not None]) > 1:
        raise NotPossible(f"{' and '.join(names)} cannot be used together. Specify only one.")
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
        collected = collect_statistics(
            span.slots,
            engagements=context.engagements,
            arm_of=span.arm_of,
            each=_many_at_once,
        )
        unreported = 0 if batch is None else _unreported(span, collected, context)
    report = answer(span, collected)
    show(report, more={"since": span.since, "until": span.until, "unreported": unreported})
    if not report.counts:
        note(
            "There are no delivery events yet. If mail_provider is smtp, publish the delivery "
            "events of your provider. See docs/delivery-events.md."
        )
    if unreported:
        note(f"{unreported} sent digests have no delivery event yet.")
    if to_csv:
        write_csv("--csv", to_csv, table(report.counts))
        if report.arms:
            write_csv("--csv", readers_file(to_csv), readers_table(report.arms, report.findings))
            note(f"The table of readers is in {readers_file(to_csv)}.")
    if to_html:
        write("--html", to_html, page(report, made_at=began))


def _unreported(span: Span, collected: Statistics, context: StatisticsContext) -> int:
    """Return the number of sent digests in a batch that have no delivery event.

    Immediate emails do not belong to a batch.
    """
    sent = collected.counts[Dimension.TOTAL, "", Measure.SENT]
    immediate = collected.counts[Dimension.FREQUENCY, IMMEDIATE, Measure.SENT]
    return max(0, digests_sent(span.since, runs=context.runs) - (sent - immediate))


def _many_at_once(
    read: Callable[[datetime], Statistics], slots: Iterable[datetime]
) -> Iterator[Statistics]:
    """Read slots in parallel, and show a progress bar on a terminal. Ctrl-C stops reading."""
    all_slots = list(slots)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield from progress(pool.map(read, all_slots), "reading", total=len(all_slots))
