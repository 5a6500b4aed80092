"""`gazette batch`: watch and cancel the digests that are due in one slot."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from itertools import islice
from typing import Annotated

import typer
from gazette.bootstrap.support.batches import build_batches, build_digest_rate
from gazette.domain.delivery.run import Run, Status
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_id
from gazette.settings.delivery import GenerateSettings
from gazette.settings.fanout import FanoutSettings
from gazette.steps.support.batches import (
    BatchContext,
    BatchView,
    cancel_batch,
    latest_batches,
    read_batch,
)
from rich.console import Console
from rich.live import Live
from rich.progress import track

from cli.shared.aws_errors import refusals_in_words
from cli.shared.console import NotPossible, note, one_line_errors, say
from cli.shared.deployed import StageName, settings_of
from cli.shared.formatting import BatchProgress, listing, row
from cli.shared.slots import named_slot

_BETWEEN_LOOKS = 2.0
"""Seconds, at least: reading a large batch takes a quarter of the time at most."""

_AT_ONCE, _A_TIME = 16, 500
"""Runs that are cancelled at the same time, and held in memory."""

_ROUNDS = 90
"""How often the batch is read after a cancel, at most: a claimed run ends with its worker."""

batch = typer.Typer(
    help="The digests due in one slot: list, watch and cancel them.", no_args_is_help=True
)
BatchId = Annotated[
    str, typer.Argument(metavar="ID", help="The slot in UTC, such as 2026-11-22T06:10Z.")
]


@batch.command("list")
@one_line_errors()
def list_batches(
    stage: StageName = "prod",
    limit: Annotated[int, typer.Option(min=1, help="How many batches at most.")] = 10,
) -> None:
    """List the latest batches, newest first, with their status and counts."""
    with _refusals(stage):
        found = latest_batches(limit, context=_context(stage))
    console = Console()
    if not console.is_terminal:
        for view in found:
            typer.echo("\t".join(row(view)))
    elif found:
        console.print(listing(found))
    if not found:
        note("There is no batch yet: the first is made when a digest is due.")


@batch.command("show")
@one_line_errors()
def show(
    batch_id: BatchId,
    stage: StageName = "prod",
    once: Annotated[bool, typer.Option("--once", help="Show it once, without refreshing.")] = False,
) -> None:
    """Show the progress of a batch; a terminal refreshes until it is over or you press Ctrl-C."""
    slot = named_slot(batch_id)
    with _refusals(stage):
        context = _context(stage)
        read_rate = build_digest_rate(settings_of(stage, "generate", GenerateSettings))
        sight, took = BatchProgress.first(_known(slot, context), read_rate()), 0.0
        console = Console()
        if not console.is_terminal:
            for line in sight.lines():
                typer.echo("\t".join(line))
            return
        with suppress(KeyboardInterrupt), Live(sight.picture(), console=console) as live:
            while not once and not sight.view.is_over:
                _pause(max(_BETWEEN_LOOKS, 3 * took))
                began = time.monotonic()
                sight = sight.then(read_batch(slot, context=context), read_rate())
                live.update(sight.picture())
                took = time.monotonic() - began


@batch.command("cancel")
@one_line_errors()
def cancel(
    batch_id: BatchId,
    stage: StageName = "prod",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Cancel the digests of a batch that no worker has claimed; their events go with the next."""
    slot = named_slot(batch_id)
    with _refusals(stage):
        context = _context(stage)
        before = _known(slot, context)
        if not yes:
            typer.confirm(_question(before), abort=True)
        after = _cancel(slot, context)
    _report(after)


def _cancel(slot: datetime, context: BatchContext) -> BatchView:
    """Cancel runs, many at a time, until none is pending."""
    with ThreadPoolExecutor(_AT_ONCE) as workers:

        def many_at_a_time(
            stop: Callable[[RunKey], Run | None], keys: Iterable[RunKey]
        ) -> Iterator[Run | None]:
            remaining = iter(keys)
            while some := list(islice(remaining, _A_TIME)):
                yield from workers.map(stop, some)

        for _ in range(_ROUNDS):
            stopped = cancel_batch(
                slot, batches=context.batches, runs=context.runs, each=many_at_a_time
            )
            for _ in track(stopped, "stopping", console=Console(stderr=True)):
                pass
            after = read_batch(slot, context=context)
            if not after.pending:
                break
            _pause(_BETWEEN_LOOKS)
    return after


def _question(before: BatchView) -> str:
    return (
        f"Batch {slot_id(before.batch.slot)}: {before.number(Status.SENT)} are sent, "
        f"{before.to_come} are still to come. Cancel those?"
    )


def _report(after: BatchView) -> None:
    """How many runs were cancelled, and how many had been sent."""
    say(
        f"cancelled {after.number(Status.CANCELLED)}, "
        f"already sent {after.number(Status.SENT)}, "
        f"may have been sent {after.number(Status.UNKNOWN)}, "
        f"ended otherwise {after.number(Status.SKIPPED, Status.FAILED)}"
    )
    if after.not_started:
        note(f"{after.not_started} not started: they will be cancelled when they start.")
    if after.pending:
        note(f"{after.pending} have not ended yet: run the command again in a minute.")


def _refusals(stage: str) -> AbstractContextManager[None]:
    return refusals_in_words(f"the tables of stage {stage}", service="dynamodb")


def _context(stage: str) -> BatchContext:
    return build_batches(settings_of(stage, "fanout", FanoutSettings))


def _known(slot: datetime, context: BatchContext) -> BatchView:
    view = read_batch(slot, context=context)
    if not view.expected and view.batch.cancelled_at is None:
        raise NotPossible(
            f"Batch {slot_id(slot)} is empty: no event waits for a digest then, and none was "
            "started. `gazette batch list` shows the latest batches."
        )
    return view


def _pause(seconds: float) -> None:
    time.sleep(seconds)
