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

_TO_TELL = {*_STOPPABLE, Status.UNKNOWN}
"""Statuses of runs that get the stop; a run that is being sent counts as pending."""

ForEach = Callable[[Callable[[RunKey], Run | None], Iterable[RunKey]], Iterable[Run | None]]
"""Applies a function to every key, as `map` does."""


@dataclass(frozen=True, slots=True)
class BatchView:
    """The state of a batch. `not_started`: schedules in its slot of the due index.

    `counts`: runs by status and reason. A run that is being sent counts as pending.
    """

    batch: Batch
    not_started: int
    counts: Mapping[tuple[Status, Reason], int]
    looked_at: datetime

    def number(self, *statuses: Status) -> int:
        """Return how many runs have one of the statuses."""
        return sum(number for (status, _), number in self.counts.items() if status in statuses)

    def by_reason(self, status: Status) -> Mapping[Reason, int]:
        """Return how many runs have the status, by reason, the most frequent first."""
        found = Counter(
            {why: number for (each, why), number in self.counts.items() if each == status}
        )
        return dict(found.most_common())

    @property
    def expected(self) -> int:
        """All runs, started or not. While fan-out is working, some may count twice.

        A schedule for which nothing waits any more counts until fan-out takes it out of its slot.
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
        """Whether no run is still to be sent. Unknown outcomes may still wait for evidence."""
        return not self.to_come


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchContext:
    """What the commands on batches read and write. `shards`: those in use."""

    batches: Batches
    runs: Runs
    schedules: Schedules
    shards: Collection[int]
    clock: Clock


def latest_batches(number: int, *, context: BatchContext) -> list[BatchView]:
    """The last batches, newest first."""
    return [_view(batch, context) for batch in context.batches.latest(number)]


def read_batch(slot: datetime, *, context: BatchContext) -> BatchView:
    """The batch of a slot, whether anything is due in it or not."""
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
    """Cancel all unclaimed runs of a slot; yields each run as it is stored after that.

    Stores the stop first, which fan-out and every worker check; then cancels the runs, for workers
    that had checked before (rule 11). You can repeat it, also before the slot begins. It may miss a
    run that was written in the last seconds: that run's worker finds the stop, or a repetition
    finds the run. The events of cancelled runs wait for the next digest. A claimed run is sent, and
    records that the stop came too late. `each` is `map`, or a parallel replacement.
    """
    batches.cancel(slot)
    told = (
        run.key
        for run in readable(runs.of_batch(slot))
        if run.status in _TO_TELL or not is_known(run.status)
    )
    yield from filter(None, each(partial(_stop, runs=runs), told))


def _stop(key: RunKey, *, runs: Runs) -> Run | None:
    run = runs.get(key)
    return cancel(run, Reason.BATCH_CANCELLED, runs=runs) if run else None
