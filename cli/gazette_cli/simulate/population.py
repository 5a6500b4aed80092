"""The readers of a simulation, grouped by the time of their digests."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from math import ceil, exp
from random import Random

from gazette.domain.delivery.run import Run
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import Recurrence, next_occurrence, slot_of
from gazette.domain.scheduling.growing import wait_after
from gazette.domain.scheduling.kinds import immediate_schedule

from gazette_cli.simulate.engine.cohorts import DIGEST, Cohort
from gazette_cli.simulate.engine.draws import apportion, binomial
from gazette_cli.simulate.inputs import Traffic

_TENS = tuple(range(0, 60, 10))
_HOUR = timedelta(hours=1)
_THREAD = immediate_schedule("post#p1")
_BEGIN = datetime(2000, 1, 1, tzinfo=UTC)


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

    # The readers of `armed` whose last digest was skipped because of its low score, by the numbers
    # of skipped digests and of waiting events.
    skips: Counter[tuple[int, int]] = field(default_factory=Counter)

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

    # Schedules with waiting events whose digest is skipped because of its low score.
    skips: int = 0


@dataclass(slots=True)
class Population:
    """All readers of a simulation. Events are independent, and their rate is the same for each
    reader.
    """

    traffic: Traffic
    random: Random
    begin: datetime

    # The minimum score of a digest and the longest wait in days, or None.
    worth: tuple[float, int] | None = None

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
    def rate(self) -> float:
        """The average number of unseen events that a reader gets for each digest."""
        return self.traffic.unseen * (1 - self.traffic.immediate)

    @property
    def chance(self) -> float:
        """The probability that a reader has waiting events one day after the last digest.

        A digest whose events were all seen is not sent. It counts as one without waiting events.
        """
        return 1 - exp(-self.rate)

    def due_in(self, slot: datetime) -> Iterator[Occurrences]:
        """Yield the schedules that are due in a slot, and move them to their next occurrence."""
        for group in self.groups:
            if slot_of(group.due_at) != slot:
                continue
            backlog = group.skips.total()
            again = binomial(self.random, group.armed - backlog, self.chance)
            first = binomial(self.random, group.readers - group.armed, self.chance)
            quiet = group.armed - backlog - again
            skips = self._hold(group, again + first)
            cohort = Cohort(
                DIGEST,
                (group.due_at - self.begin).total_seconds(),
                (group.wanted_until - self.begin).total_seconds(),
            )
            waiting = backlog + again + first
            yield Occurrences(cohort, waiting - skips, quiet, first, skips)
            group.armed = waiting
            group.due_at = next_occurrence(group.recurrence, after=group.due_at)

    def _hold(self, group: Group, new: int) -> int:
        """Skip digests with a low score, and return their number.

        `new` readers have events, and had none at the last digest. An event occurs on the day
        before its first digest, so its age reaches N days between the digests N and N + 1.
        """
        if self.worth is None:
            return 0
        least, days = self.worth
        needed = ceil(least / self.traffic.score)
        skips: Counter[tuple[int, int]] = Counter()
        for (skipped, waiting), readers in group.skips.items():
            if skipped < days:
                for more, some in self._with_few(readers, needed - waiting):
                    skips[skipped + 1, waiting + more] += some
        for waiting, some in self._with_few(new, needed, least=1):
            skips[1, waiting] += some
        group.skips = +skips
        return group.skips.total()

    def _with_few(self, readers: int, below: int, *, least: int = 0) -> Iterator[tuple[int, int]]:
        """Yield the numbers of events below a limit, with the number of readers who got them.

        Each reader gets at least `least` events, which is 0 or 1.
        """
        chance = exp(-self.rate)
        remaining = 1.0 - (chance if least else 0.0)
        for number in range(below):
            if number >= least and remaining > 0:
                some = binomial(self.random, readers, min(1.0, chance / remaining))
                yield number, some
                readers, remaining = readers - some, remaining - chance
            chance *= self.rate / (number + 1)


def due_of_burst(number: int, collapse: timedelta) -> list[timedelta]:
    """Return the times at which the emails about a burst of events have collected their events.

    The events of a burst concern one entity and are distributed evenly over an hour. The times are
    relative to the first event.
    """
    runs: list[Run] = []
    for event in range(number):
        at = _BEGIN + event * _HOUR / number
        if runs and at <= runs[-1].due_at:
            continue
        wait = wait_after(_THREAD, runs, at)
        due_at = max(at + collapse, wait.until)
        key = RunKey("reader", _THREAD, len(runs))
        runs.append(Run(key, due_at=due_at, check_at=due_at, step=wait.step))
    return [run.due_at - _BEGIN for run in runs]


def _minutes(on_the_hour: float) -> Iterator[tuple[int, float]]:
    """Yield each minute of the hour with its share of readers. Readers who chose only an hour are
    evenly distributed.
    """
    for minute in _TENS:
        share = (1 - on_the_hour) / len(_TENS)
        yield minute, share + (on_the_hour if minute == 0 else 0)
