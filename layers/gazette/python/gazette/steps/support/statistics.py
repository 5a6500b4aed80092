"""Count what became of emails, slot by slot."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from gazette.domain.feedback.experiment_readers import Readers
from gazette.domain.feedback.statistics import Counts, kinds
from gazette.domain.ports.ledgers import Engagements
from gazette.domain.stored import readable


@dataclass(frozen=True, slots=True)
class Report:
    """What became of emails; `readers` are those of an experiment, empty where none was named."""

    counts: Counts
    readers: Readers


ForEach = Callable[[Callable[[datetime], Report], Iterable[datetime]], Iterable[Report]]
"""Applies a function to every slot, as `map` does."""


def report(
    slots: Iterable[datetime],
    *,
    engagements: Engagements,
    experiment: str = "",
    each: ForEach = map,
) -> Report:
    """Of all emails that were due in the slots; of one experiment, where it is named.

    Holds counts, and the readers of the experiment, but not the emails. `each` is `map`, or does
    as it does, many at a time and in any order.
    """
    found = Report(Counter(), Readers())
    for part in each(partial(_of_slot, engagements=engagements, experiment=experiment), slots):
        found.counts.update(part.counts)
        found.readers.merge(part.readers)
    return found


def _of_slot(slot: datetime, *, engagements: Engagements, experiment: str) -> Report:
    part = Report(Counter(), Readers())
    for email in readable(engagements.of_slot(slot)):
        if experiment in {"", email.variant.experiment}:
            part.counts.update(kinds(email))
        if experiment and email.variant.experiment == experiment:
            part.readers.add(email)
    return part
