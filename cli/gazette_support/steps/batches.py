"""View and cancel the batch of a slot."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from gazette.domain.delivery.batch import Batch
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.model import RunKey
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Batches, Runs, Schedules
from gazette.domain.stored import is_known, readable
from gazette.steps.runs import cancel

_STOPPABLE = {Status.PENDING, Status.RETRYING}

_TO_STOP = {*_STOPPABLE, Status.UNKNOWN}
"""The statuses of runs that are cancelled with their batch.

A run that is being sent counts as pending.
"""

ForEach = Callable[[Callable[[RunKey], Run | None], Iterable[RunKey]], Iterable[Run | None]]
"""A function that calls a function for every key, like `map`."""


@dataclass(frozen=True, slots=True)
class BatchView:
    """The state of a batch. A run that is being sent counts as pending."""

    batch: Batch
    not_started: int
    """Schedules that are still in the batch's slot of the due index."""

    counts: Mapping[tuple[Status, Reason], int]
    """The number of runs by status and reason."""

    looked_at: datetime

    def number(self, *statuses: Status) -> int:
        """Return the number of runs with one of the given statuses."""
        return sum(number for (status, _), number in self.counts.items() if status in statuses)

    def by_reason(self, status: Status) -> Mapping[Reason, int]:
        """Return the number of runs with the status by reason, most frequent first."""
        counts = Counter(
            {why: number for (each, why), number in self.counts.items() if each == status}
        )
        return dict(counts.most_common())

    @property
    def expected(self) -> int:
        """The number of all runs, started or not. During fan-out, some runs may be counted twice.

        A schedule without waiting events counts until fan-out takes it out of the slot.
        """
        return self.not_started + sum(self.counts.values())

    @property
    def ended(self) -> int:
        """The number of runs with a final status."""
        return self.number(*(status for status in Status if status.is_final))

    @property
    def pending(self) -> int:
        """The number of started runs that have not been sent yet, including retries."""
        return self.number(*_STOPPABLE)

    @property
    def to_come(self) -> int:
        """The number of runs that have not been sent yet, started or not."""
        return self.not_started + self.pending

    @property
    def is_over(self) -> bool:
        """Return True if all runs have been sent or have ended.

        Runs with an unknown outcome may still be waiting for evidence.
        """
        return not self.to_come


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchContext:
    """The dependencies of the batch commands."""

    batches: Batches
    runs: Runs
    schedules: Schedules
    shards: Collection[int]
    """The shards that are in use."""

    clock: Clock


def latest_batches(number: int, *, context: BatchContext) -> list[BatchView]:
    """Return the latest batches, newest first."""
    return [_view(batch, context) for batch in context.batches.latest(number)]


def read_batch(slot: datetime, *, context: BatchContext) -> BatchView:
    """Return the batch of a slot, even if the slot has no due schedules."""
    return _view(context.batches.get(slot), context)


def _view(batch: Batch, context: BatchContext) -> BatchView:
    return view_batch(
        batch,
        schedules=context.schedules,
        runs=context.runs,
        shards=context.shards,
        clock=context.clock,
    )


def view_batch(
    batch: Batch,
    *,
    schedules: Schedules,
    runs: Runs,
    shards: Collection[int],
    clock: Clock,
) -> BatchView:
    """Count the runs of a batch, and the due schedules in its slot. Eventually consistent."""
    return BatchView(
        batch=batch,
        not_started=sum(schedules.count_due(batch.slot, shard) for shard in shards),
        counts=Counter((each.status, each.reason) for each in readable(runs.of_batch(batch.slot))),
        looked_at=clock(),
    )


def cancel_batch(
    slot: datetime, *, batches: Batches, runs: Runs, each: ForEach = map
) -> Iterator[Run]:
    """Cancel all unclaimed runs of a slot. Yield each run as stored afterwards.

    The stop is stored first, and checked by fan-out and every worker. Then the runs are cancelled,
    for workers that had already checked (rule 11). Safe to repeat, also before the slot begins. A
    run that was written in the last seconds may be missed. Its worker finds the stop, or a
    repetition of this function finds the run. The events of cancelled runs wait for the next
    digest. A run that is already claimed is sent, and records that the stop came too late. `each`
    is `map` or a parallel replacement.
    """
    batches.cancel(slot)
    keys = (
        run.key
        for run in readable(runs.of_batch(slot))
        if run.status in _TO_STOP or not is_known(run.status)
    )
    yield from filter(None, each(partial(_stop, runs=runs), keys))


def _stop(key: RunKey, *, runs: Runs) -> Run | None:
    run = runs.get(key)
    return cancel(run, Reason.BATCH_CANCELLED, runs=runs) if run else None
