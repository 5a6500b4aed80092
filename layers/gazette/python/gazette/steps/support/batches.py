"""Watch the runs of a slot as one batch, and stop them."""

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
"""What is being sent this moment counts as pending."""

ForEach = Callable[[Callable[[RunKey], Run | None], Iterable[RunKey]], Iterable[Run | None]]
"""Applies a function to every key, as `map` does."""


@dataclass(frozen=True, slots=True)
class BatchView:
    """How a batch stands. `not_started`: schedules that fan-out has still to come to.

    `counts` are runs by status and reason; what is being sent this moment counts as pending.
    """

    batch: Batch
    not_started: int
    counts: Mapping[tuple[Status, Reason], int]
    looked_at: datetime

    def number(self, *statuses: Status) -> int:
        """How many runs have one of the statuses."""
        return sum(number for (status, _), number in self.counts.items() if status in statuses)

    def by_reason(self, status: Status) -> Mapping[Reason, int]:
        """How many runs have the status, by reason, the most frequent first."""
        found = Counter(
            {why: number for (each, why), number in self.counts.items() if each == status}
        )
        return dict(found.most_common())

    @property
    def expected(self) -> int:
        """All there are, and those to come. While fan-out is at it, some may count twice."""
        return self.not_started + sum(self.counts.values())

    @property
    def ended(self) -> int:
        """How many have a final status."""
        return self.number(*(status for status in Status if status.is_final))

    @property
    def pending(self) -> int:
        """How many were started and are still to be sent, again or for the first time."""
        return self.number(*_STOPPABLE)

    @property
    def to_come(self) -> int:
        """How many are still to be sent, started or not."""
        return self.not_started + self.pending

    @property
    def is_over(self) -> bool:
        """Whether nothing moves any more by itself: what is unknown waits for evidence."""
        return not self.to_come


def view_batch(
    batch: Batch,
    *,
    schedules: Schedules,
    runs: Runs,
    shards: Collection[int],
    clock: Clock,
) -> BatchView:
    """Count the runs of a batch, and what is due in its slot. Eventually consistent."""
    return BatchView(
        batch=batch,
        not_started=sum(schedules.count_due(batch.slot, shard) for shard in shards),
        counts=Counter((each.status, each.reason) for each in readable(runs.of_batch(batch.slot))),
        looked_at=clock(),
    )


def cancel_batch(
    slot: datetime, *, batches: Batches, runs: Runs, each: ForEach = map
) -> Iterator[Run]:
    """Stop all runs of a slot that nobody has claimed; yields each as it then stands.

    First the stop, which fan-out and every worker look at; then the runs themselves, for workers
    that had looked before (rule 11). Safe to repeat, also before the slot has come: a run that
    was written in the last seconds may be missed, and its worker finds the stop, or the next
    repetition the run. The events of all these wait for the next digest. What a worker has
    claimed goes out, and says that the stop came too late. `each` is `map`, or does as it does,
    many at a time.
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
