"""Count what became of emails, slot by slot."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from gazette.domain.delivery.run import Status
from gazette.domain.feedback.experiment_readers import Readers
from gazette.domain.feedback.statistics import Counts, kinds
from gazette.domain.ports.control import Experiments
from gazette.domain.ports.ledgers import Engagements, Runs
from gazette.domain.stored import readable


@dataclass(frozen=True, slots=True)
class Statistics:
    """What became of emails. `readers`: those of the named experiment; empty if none is named."""

    counts: Counts
    readers: Readers


ForEach = Callable[[Callable[[datetime], Statistics], Iterable[datetime]], Iterable[Statistics]]
"""Applies a function to every slot, as `map` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsContext:
    """What `gazette statistics` reads."""

    engagements: Engagements
    experiments: Experiments
    runs: Runs


def digests_sent(slot: datetime, *, runs: Runs) -> int:
    """Return how many digests of a batch were sent, with or without delivery events."""
    return sum(each.status is Status.SENT for each in readable(runs.of_batch(slot)))


def collect_statistics(
    slots: Iterable[datetime],
    *,
    engagements: Engagements,
    experiment: str = "",
    each: ForEach = map,
) -> Statistics:
    """Count the emails that were due in the slots; only those of `experiment`, if it is named.

    Keeps counts and the readers of the experiment in memory, but not the emails. `each` is `map`,
    or a parallel replacement that may change the order.
    """
    found = Statistics(Counter(), Readers())
    for part in each(partial(_of_slot, engagements=engagements, experiment=experiment), slots):
        found.counts.update(part.counts)
        found.readers.merge(part.readers)
    return found


def _of_slot(slot: datetime, *, engagements: Engagements, experiment: str) -> Statistics:
    part = Statistics(Counter(), Readers())
    for email in readable(engagements.of_slot(slot)):
        if experiment in {"", email.variant.experiment}:
            part.counts.update(kinds(email))
        if experiment and email.variant.experiment == experiment:
            part.readers.add(email)
    return part
