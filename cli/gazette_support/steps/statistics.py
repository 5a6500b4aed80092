"""Collect the results of emails by slot, and start the experiments that compare them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from gazette.domain.delivery.run import Status
from gazette.domain.feedback.delivery_events import Engagement
from gazette.domain.feedback.experiment import Experiment, experiment
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.control import Experiments
from gazette.domain.ports.ledgers import Engagements, Runs
from gazette.domain.stored import readable
from gazette.domain.templates.ports import TemplateVersions

from gazette_support.domain.experiment_readers import Readers
from gazette_support.domain.statistics import Counts, kinds


@dataclass(frozen=True, slots=True)
class Statistics:
    """The results of emails."""

    counts: Counts
    readers: Readers
    """The readers whose results are compared, if any."""


ArmOf = Callable[[Engagement], int | None]
"""A function that returns the variation or version of an email, or None if it is not compared."""

ForEach = Callable[[Callable[[datetime], Statistics], Iterable[datetime]], Iterable[Statistics]]
"""A function that calls a function for every slot, like `map`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsContext:
    """The dependencies of `gazette statistics`."""

    engagements: Engagements
    experiments: Experiments
    versions: TemplateVersions
    runs: Runs


def digests_sent(slot: datetime, *, runs: Runs) -> int:
    """Return the number of digests sent in a batch, with or without delivery events."""
    return sum(each.status is Status.SENT for each in readable(runs.of_batch(slot)))


def collect_statistics(
    slots: Iterable[datetime],
    *,
    engagements: Engagements,
    arm_of: ArmOf | None = None,
    each: ForEach = map,
) -> Statistics:
    """Count the emails that were due in the slots. With `arm_of`, count only the compared emails.

    Only counts and the compared readers are kept in memory, not the emails. `each` is `map` or a
    parallel replacement, which may change the order.
    """
    total = Statistics(Counter(), Readers())
    for part in each(partial(_of_slot, engagements=engagements, arm_of=arm_of), slots):
        total.counts.update(part.counts)
        total.readers.merge(part.readers)
    return total


def of_experiment(name: str) -> ArmOf:
    """Return a function that maps each email of an experiment to its variation."""
    return lambda email: email.variant.variation if email.variant.experiment == name else None


def of_versions(*numbers: int) -> ArmOf:
    """Return a function that maps an email to its version, or to None if the version is not
    compared.
    """
    return lambda email: email.templates if email.templates in numbers else None


def _of_slot(slot: datetime, *, engagements: Engagements, arm_of: ArmOf | None) -> Statistics:
    part = Statistics(Counter(), Readers())
    for email in readable(engagements.of_slot(slot)):
        arm = arm_of(email) if arm_of else None
        if arm_of is None or arm is not None:
            part.counts.update(kinds(email))
        if arm is not None:
            part.readers.add(email, arm)
    return part


def start_experiment(
    name: str, weights: Mapping[int, int], *, experiments: Experiments, clock: Clock
) -> Experiment:
    """Replace the running experiment. If the name is unchanged, keep the start time.

    Raises InvalidExperiment.
    """
    running = experiments.running()
    since = running.since if running and running.name == name else clock()
    started = experiment(name, weights, since)
    experiments.start(started)
    return started
