"""Fan-out: a message for each shard at each tick, and workers that take the due schedules."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

from gazette.domain.scheduling.calendar import stagger

from cli.simulate.engine.cohorts import Cohort
from cli.simulate.engine.draws import split
from cli.simulate.engine.timeline import Timeline

_PIECE = 60.0
"""Seconds of a shard's work after which what it has found so far is queued, all at once."""

_DELAYS = 1000
"""Random delays of a piece of one cohort; with more readers than that, equal parts share one."""

Due = Sequence[tuple[Cohort, int, int]]
"""Cohorts that are due in one slot: how many have something waiting, and how many do not."""


@dataclass(slots=True)
class _Job:
    """What is left of a shard's message."""

    due: deque[tuple[Cohort, int, int]]


@dataclass(slots=True)
class Fanout:
    """`workers` take a shard's message at a time, and `schedule` seconds for each due schedule.

    `queue` gets the runs: a cohort, how many, and the delay in seconds. `busy`: seconds of work.
    `behind`: the longest time from a tick until its last schedule was taken.
    """

    timeline: Timeline
    random: Random
    shards: int
    workers: int
    schedule: float
    spread: timedelta
    queue: Callable[[Cohort, int, float], None]
    jobs: deque[tuple[float, _Job]] = field(default_factory=deque)
    idle: int = 0
    busy: float = 0.0
    behind: float = 0.0
    batches: int = 0

    def __post_init__(self) -> None:
        self.idle = self.workers

    def tick(self, due: Due) -> None:
        """Queue a message for each shard, with its part of the readers."""
        parts = [
            zip(
                split(self.random, some, self.shards),
                split(self.random, none, self.shards),
                strict=True,
            )
            for _, some, none in due
        ]
        for _ in range(self.shards):
            mine = [(cohort, *next(part)) for (cohort, _, _), part in zip(due, parts, strict=True)]
            found = deque((cohort, some, none) for cohort, some, none in mine if some or none)
            if found:
                self.batches += 1
                self.jobs.append((self.timeline.now, _Job(found)))
        self._assign()

    def _assign(self) -> None:
        while self.idle and self.jobs:
            self.idle -= 1
            since, job = self.jobs.popleft()
            self._go_on(since, job)

    def _go_on(self, since: float, job: _Job) -> None:
        """Work for a piece of time, then queue what was found in it."""
        left, found = max(1, int(_PIECE / self.schedule)), []
        while left and job.due:
            cohort, some, none = job.due.popleft()
            now = min(some + none, left)
            here = _part(some, none, now)
            if now < some + none:
                job.due.appendleft((cohort, some - here, none - (now - here)))
            left -= now
            found.append((cohort, here, now))
        took = sum(number for _, _, number in found) * self.schedule
        self.busy += took
        self.timeline.at(self.timeline.now + took, lambda: self._done(since, job, found))

    def _done(self, since: float, job: _Job, found: Sequence[tuple[Cohort, int, int]]) -> None:
        for cohort, number, _ in found:
            self._queue(cohort, number)
        if job.due:
            self._go_on(since, job)
            return
        self.behind = max(self.behind, self.timeline.now - since)
        self.idle += 1
        self._assign()

    def _queue(self, cohort: Cohort, number: int) -> None:
        """Stagger them: each by a delay of its own, or evenly where there are many.

        They were found throughout the piece: so they are not in step to the second.
        """
        if number < _DELAYS:
            shares, drawn = [1] * number, [self.random.random() for _ in range(number)]
        else:
            shares = [*split(self.random, number, _DELAYS)]
            drawn = [(place + self.random.random()) / _DELAYS for place in range(_DELAYS)]
        for some, random in zip(shares, drawn, strict=True):
            if some:
                delay = stagger(self.spread, random=random)
                self.queue(cohort, some, delay.total_seconds() + self.random.random())


def _part(some: int, none: int, number: int) -> int:
    """How many of `number` readers have something waiting, of those of whom `some` have."""
    return min(some, max(number - none, round(number * some / (some + none))))
