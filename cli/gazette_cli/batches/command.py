"""`gazette batch`: list, watch and cancel batches. A batch is the set of digests that are due in
one slot.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import islice
from typing import Annotated

import typer
from gazette.domain.delivery.run import Run, Status
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_id
from gazette.settings.delivery import GenerateSettings
from gazette.settings.fanout import FanoutSettings

from gazette_cli.batches.views import BatchProgress, listing
from gazette_cli.shared.answers import Yes, confirm, tell
from gazette_cli.shared.aws_errors import refusals_of_tables
from gazette_cli.shared.commands import Command
from gazette_cli.shared.completion import recent_slots
from gazette_cli.shared.console import NotPossible, note
from gazette_cli.shared.deployed import StageName, settings_of
from gazette_cli.shared.live import progress, watch
from gazette_cli.shared.slots import named_slot
from gazette_support.bootstrap.batches import build_batches, build_digest_rate
from gazette_support.steps.batches import (
    BatchContext,
    BatchView,
    cancel_batch,
    latest_batches,
    read_batch,
)

_BETWEEN_LOOKS = 2.0
"""The interval in seconds between two reads of a batch."""

_AT_ONCE, _A_TIME = 16, 500
"""The number of runs that are cancelled in parallel, and the number of runs that are loaded at a
time.
"""

_ROUNDS = 90
"""The maximum number of times that `cancel` reads a batch to find pending runs."""

batch = typer.Typer(
    help=(
        "List, watch and cancel batches. A batch is the set of digests that are due in one "
        "ten-minute slot."
    ),
    no_args_is_help=True,
)
BatchId = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="The slot of the batch in UTC, such as 2026-11-22T06:10Z.",
        autocompletion=recent_slots,
    ),
]


@batch.command("list", cls=Command)
def list_batches(
    stage: StageName = "prod",
    limit: Annotated[int, typer.Option(min=1, help="The maximum number of batches to list.")] = 10,
) -> None:
    """List the latest batches, newest first, with their states and counts."""
    with refusals_of_tables(stage):
        views = latest_batches(limit, context=_context(stage))
    listing(views).show()
    if not views:
        note("No batches yet. The first batch appears when a digest is due.")


@batch.command("show", cls=Command)
def show(
    batch_id: BatchId,
    stage: StageName = "prod",
    once: Annotated[
        bool, typer.Option("--once", help="Show the progress once, without refreshing.")
    ] = False,
) -> None:
    """Show the progress of a batch. On a terminal, the output refreshes until the batch is over or
    you press Ctrl-C."""
    slot = named_slot(batch_id)
    with refusals_of_tables(stage):
        context = _context(stage)
        read_rate = build_digest_rate(settings_of(stage, "generate", GenerateSettings))
        first = BatchProgress.first(_known(slot, context), read_rate())

        def refresh(before: BatchProgress) -> BatchProgress:
            return before.then(read_batch(slot, context=context), read_rate())

        watch(first, refresh, is_last=lambda latest: once or latest.view.is_over)


@batch.command("cancel", cls=Command)
def cancel(
    batch_id: BatchId,
    stage: StageName = "prod",
    yes: Yes = False,
) -> None:
    """Cancel the digests of a batch that no worker has claimed. Each reader's next digest includes
    the events of the cancelled digest.
    """
    slot = named_slot(batch_id)
    with refusals_of_tables(stage):
        context = _context(stage)
        before = _known(slot, context)
        if not yes:
            confirm(_question(before))
        after = _cancel(slot, context)
    _report(after)


def _cancel(slot: datetime, context: BatchContext) -> BatchView:
    """Cancel all pending runs of a batch in parallel."""
    with ThreadPoolExecutor(_AT_ONCE) as workers:

        def many_at_a_time(
            stop: Callable[[RunKey], Run | None], keys: Iterable[RunKey]
        ) -> Iterator[Run | None]:
            remaining = iter(keys)
            while chunk := list(islice(remaining, _A_TIME)):
                yield from workers.map(stop, chunk)

        for _ in range(_ROUNDS):
            stopped = cancel_batch(
                slot, batches=context.batches, runs=context.runs, each=many_at_a_time
            )
            for _ in progress(stopped, "stopping"):
                pass
            after = read_batch(slot, context=context)
            if not after.pending:
                break
            _pause(_BETWEEN_LOOKS)
    return after


def _question(before: BatchView) -> str:
    return (
        f"Batch {slot_id(before.batch.slot)}: {before.number(Status.SENT)} digests have been "
        f"sent, and {before.to_come} are pending. Cancel the pending digests?"
    )


def _report(after: BatchView) -> None:
    """Print the number of runs that were cancelled, and the number that had already ended."""
    cancelled, sent = after.number(Status.CANCELLED), after.number(Status.SENT)
    unknown, otherwise = after.number(Status.UNKNOWN), after.number(Status.SKIPPED, Status.FAILED)
    tell(
        f"{cancelled} cancelled, {sent} already sent, {unknown} possibly sent, "
        f"{otherwise} skipped or failed",
        batch=slot_id(after.batch.slot),
        cancelled=cancelled,
        sent=sent,
        unknown=unknown,
        ended_otherwise=otherwise,
        not_started=after.not_started,
        pending=after.pending,
    )
    if after.not_started:
        note(
            f"{after.not_started} digests have not started yet. They are cancelled when they start."
        )
    if after.pending:
        note(f"{after.pending} digests have not ended yet. Run the command again in a minute.")


def _context(stage: str) -> BatchContext:
    return build_batches(settings_of(stage, "fanout", FanoutSettings))


def _known(slot: datetime, context: BatchContext) -> BatchView:
    view = read_batch(slot, context=context)
    if not view.expected and view.batch.cancelled_at is None:
        raise NotPossible(
            f"Batch {slot_id(slot)} is empty: no digest was started, and no event is waiting. To "
            "see the latest batches, run `gazette batch list`."
        )
    return view


def _pause(seconds: float) -> None:
    time.sleep(seconds)
