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
"""The statuses of runs that get the stop. A run that is being sent counts as pending."""

ForEach = Callable[[Callable[[RunKey], Run | None], Iterable[RunKey]], Iterable[Run | None]]
"""A function that applies a function to every key, like `map`."""


@dataclass(frozen=True, slots=True)
class BatchView:
    """The state of a batch. A run that is being sent counts as pending."""

    batch: Batch
    not_started: int
    """Schedules in its slot of the due index."""

    counts: Mapping[tuple[Status, Reason], int]
    """Runs by status and reason."""

    looked_at: datetime

    def number(self, *statuses: Status) -> int:
        """Return the number of runs with one of the statuses."""
        return sum(number for (status, _), number in self.counts.items() if status in statuses)

    def by_reason(self, status: Status) -> Mapping[Reason, int]:
        """Return the number of runs with the status, by reason, the most frequent first."""
        counts = Counter(
            {why: number for (each, why), number in self.counts.items() if each == status}
        )
        return dict(counts.most_common())

    @property
    def expected(self) -> int:
        """The number of all runs, started or not. While fan-out is working, some may count twice.

        A schedule without waiting events counts until fan-out takes it out of its slot.
        """
        return self.not_started + sum(self.counts.values())

    @property
    def ended(self) -> int:
        """The number of runs with a final status."""
        return self.number(*(status for status in Status if status.is_final))

    @property
    def pending(self) -> int:
        """The number of started runs that are still to be sent, first tries and retries."""
        return self.number(*_STOPPABLE)

    @property
    def to_come(self) -> int:
        """The number of runs that are still to be sent, started or not."""
        return self.not_started + self.pending

    @property
    def is_over(self) -> bool:
        """Return True if no run is still to be sent.

        Unknown outcomes may still wait for evidence.
        """
        return not self.to_come


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchContext:
    """The dependencies of the commands on batches."""

    batches: Batches
    runs: Runs
    schedules: Schedules
    shards: Collection[int]
    """The shards in use."""

    clock: Clock


def latest_batches(number: int, *, context: BatchContext) -> list[BatchView]:
    """Return the last batches, newest first."""
    return [_view(batch, context) for batch in context.batches.latest(number)]


def read_batch(slot: datetime, *, context: BatchContext) -> BatchView:
    """Return the batch of a slot, even if no schedule is due in it."""
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
    """Count the runs of a batch, and the schedules due in its slot. Eventually consistent."""
    return BatchView(
        batch=batch,
        not_started=sum(schedules.count_due(batch.slot, shard) for shard in shards),
        counts=Counter((each.status, each.reason) for each in readable(runs.of_batch(batch.slot))),
        looked_at=clock(),
    )


def cancel_batch(
    slot: datetime, *, batches: Batches, runs: Runs, each: ForEach = map
) -> Iterator[Run]:
    """Cancel all unclaimed runs of a slot; yield each run as it is stored after that.

    Stores the stop first, which fan-out and every worker check; then cancels the runs, for workers
    that had checked before (rule 11). It can be repeated, also before the slot begins. It may miss
    a run that was written in the last seconds; that run's worker finds the stop, or a repetition
    finds the run. The events of cancelled runs wait for the next digest. A claimed run is sent, and
    records that the stop came too late. `each` is `map`, or a parallel replacement.
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
