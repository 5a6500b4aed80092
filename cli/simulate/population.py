"""Readers by the instant at which their digests are due."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import exp
from random import Random

from gazette.domain.scheduling.calendar import Recurrence, next_occurrence, slot_of

from cli.simulate.engine.cohorts import DIGEST, Cohort
from cli.simulate.engine.draws import apportion, binomial
from cli.simulate.inputs import Traffic

_TENS = tuple(range(0, 60, 10))
_HOUR = timedelta(hours=1)


@dataclass(slots=True)
class Group:
    """Readers of one zone and minute. `armed`: those whose schedule is in the due index.

    `due_at`: their next digest. A schedule is armed by the first event, and idle again after an
    occurrence at which nothing waited (docs/tables.md, rule 23).
    """

    recurrence: Recurrence
    readers: int
    due_at: datetime
    armed: int = 0

    @property
    def wanted_until(self) -> datetime:
        """The end of the hour that the readers chose."""
        return self.due_at - timedelta(minutes=self.recurrence.minute) + _HOUR


@dataclass(frozen=True, slots=True)
class Occurrences:
    """What comes due in one slot: `digests` have something waiting, `quiet` ones do not; `first`:
    of the digests those whose first event armed the schedule.
    """

    cohort: Cohort
    digests: int
    quiet: int
    first: int


@dataclass(slots=True)
class Population:
    """All readers, whose events come independently, at one rate for everybody."""

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
                wanted = Recurrence(traffic.hour, minute, zone)
                due_at = next_occurrence(wanted, after=just_before)
                armed = binomial(self.random, readers, self.chance)
                self.groups.append(Group(wanted, readers, due_at, armed))

    @property
    def chance(self) -> float:
        """Of a reader, that something waits a day after the last digest."""
        return 1 - exp(-self.traffic.events * (1 - self.traffic.immediate))

    def due_in(self, slot: datetime) -> Iterator[Occurrences]:
        """Let a slot come: who is due in it, and what waits. Each moves on to the next day."""
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
    """The minute of readers who chose only the hour is even (`minute_of`)."""
    for minute in _TENS:
        share = (1 - on_the_hour) / len(_TENS)
        yield minute, share + (on_the_hour if minute == 0 else 0)
