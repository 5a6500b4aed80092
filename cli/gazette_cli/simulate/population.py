"""The readers of a simulation, grouped by the time of their digests."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import exp
from random import Random

from gazette.domain.scheduling.calendar import Recurrence, next_occurrence, slot_of

from gazette_cli.simulate.engine.cohorts import DIGEST, Cohort
from gazette_cli.simulate.engine.draws import apportion, binomial
from gazette_cli.simulate.inputs import Traffic

_TENS = tuple(range(0, 60, 10))
_HOUR = timedelta(hours=1)


@dataclass(slots=True)
class Group:
    """Readers with the same time zone, whose digests are due at the same minute.

    The first event arms a schedule. The schedule becomes idle after an occurrence without waiting
    events (docs/tables.md, rule 23).
    """

    recurrence: Recurrence
    readers: int

    # The due time of the next digest.
    due_at: datetime

    # The number of readers whose schedule is in the due index.
    armed: int = 0

    @property
    def wanted_until(self) -> datetime:
        """The end of the hour that the readers chose."""
        return self.due_at - timedelta(minutes=self.recurrence.minute) + _HOUR


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The schedules of a cohort that are due in a slot."""

    cohort: Cohort

    # Schedules with waiting events.
    digests: int

    # Schedules without waiting events.
    quiet: int

    # The digests whose first event armed the schedule.
    first: int


@dataclass(slots=True)
class Population:
    """All readers of a simulation. Events are independent, and their rate is the same for each
    reader.
    """

    traffic: Traffic
    random: Random
    begin: datetime
    groups: list[Group] = field(default_factory=list)

    def __post_init__(self) -> None:
        traffic = self.traffic
        parts = [
            (zone, minute, weight * share)
            for zone, weight in traffic.zones.items()
            for minute, share in _minutes(traffic.on_the_hour)
        ]
        numbers = apportion(traffic.readers, [weight for _, _, weight in parts])
        just_before = self.begin - timedelta(microseconds=1)
        for (zone, minute, _), readers in zip(parts, numbers, strict=True):
            if readers:
                recurrence = Recurrence(traffic.hour, minute, zone)
                due_at = next_occurrence(recurrence, after=just_before)
                armed = binomial(self.random, readers, self.chance)
                self.groups.append(Group(recurrence, readers, due_at, armed))

    @property
    def chance(self) -> float:
        """The probability that a reader has waiting events one day after the last digest."""
        return 1 - exp(-self.traffic.events * (1 - self.traffic.immediate))

    def due_in(self, slot: datetime) -> Iterator[Occurrences]:
        """Yield the schedules that are due in a slot, and move them to their next occurrence."""
        for group in self.groups:
            if slot_of(group.due_at) != slot:
                continue
            again = binomial(self.random, group.armed, self.chance)
            first = binomial(self.random, group.readers - group.armed, self.chance)
            cohort = Cohort(
                DIGEST,
                (group.due_at - self.begin).total_seconds(),
                (group.wanted_until - self.begin).total_seconds(),
            )
            yield Occurrences(cohort, again + first, group.armed - again, first)
            group.armed = again + first
            group.due_at = next_occurrence(group.recurrence, after=group.due_at)


def _minutes(on_the_hour: float) -> Iterator[tuple[int, float]]:
    """Yield each minute of the hour with its share of readers. Readers who chose only an hour are
    evenly distributed.
    """
    for minute in _TENS:
        share = (1 - on_the_hour) / len(_TENS)
        yield minute, share + (on_the_hour if minute == 0 else 0)
