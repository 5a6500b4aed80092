"""A simulation of fan-out. Each tick queues one message per shard, and workers read the due
schedules.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

from gazette.domain.scheduling.calendar import stagger

from gazette_cli.simulate.engine.cohorts import Cohort
from gazette_cli.simulate.engine.draws import split
from gazette_cli.simulate.engine.timeline import Timeline

_PIECE = 60.0
"""The length in seconds of a piece of a shard's work. Fan-out queues the runs of a piece together
when the piece ends.
"""

_DELAYS = 1000
"""The maximum number of different random delays in a piece of a cohort. If the piece has more
readers, several readers share a delay.
"""

Due = Sequence[tuple[Cohort, int, int]]
"""The cohorts that are due in a slot. Each cohort has the number of readers with events, and the
number of readers without events.
"""


@dataclass(slots=True)
class _Job:
    """The remaining work of a shard's message."""

    due: deque[tuple[Cohort, int, int]]


@dataclass(slots=True)
class Fanout:
    """The fan-out function."""

    timeline: Timeline
    random: Random
    shards: int

    # The number of parallel workers. Each worker processes the message of a shard.
    workers: int

    # The seconds that a due schedule takes.
    schedule: float

    spread: timedelta

    # Queues runs. The arguments are a cohort, the number of runs, and the delay in seconds.
    queue: Callable[[Cohort, int, float], None]

    # The waiting messages, with the time of each tick.
    jobs: deque[tuple[float, _Job]] = field(default_factory=deque)

    # The number of idle workers.
    idle: int = 0

    # The working time in seconds.
    busy: float = 0.0

    # The longest time from a tick until its last schedule was read, in seconds.
    behind: float = 0.0

    # The number of shards' batches.
    batches: int = 0

    def __post_init__(self) -> None:
        self.idle = self.workers

    def tick(self, due: Due) -> None:
        """Queue one message per shard. Each message has a share of the readers."""
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
            due_here = deque((cohort, some, none) for cohort, some, none in mine if some or none)
            if due_here:
                self.batches += 1
                self.jobs.append((self.timeline.now, _Job(due_here)))
        self._assign()

    def _assign(self) -> None:
        while self.idle and self.jobs:
            self.idle -= 1
            since, job = self.jobs.popleft()
            self._go_on(since, job)

    def _go_on(self, since: float, job: _Job) -> None:
        """Process a piece of work, then queue its runs."""
        capacity, piece = max(1, int(_PIECE / self.schedule)), []
        while capacity and job.due:
            cohort, some, none = job.due.popleft()
            now = min(some + none, capacity)
            here = _part(some, none, now)
            if now < some + none:
                job.due.appendleft((cohort, some - here, none - (now - here)))
            capacity -= now
            piece.append((cohort, here, now))
        duration = sum(number for _, _, number in piece) * self.schedule
        self.busy += duration
        self.timeline.at(self.timeline.now + duration, lambda: self._done(since, job, piece))

    def _done(self, since: float, job: _Job, piece: Sequence[tuple[Cohort, int, int]]) -> None:
        for cohort, number, _ in piece:
            self._queue(cohort, number)
        if job.due:
            self._go_on(since, job)
            return
        self.behind = max(self.behind, self.timeline.now - since)
        self.idle += 1
        self._assign()

    def _queue(self, cohort: Cohort, number: int) -> None:
        """Queue runs with random delays. If there are many runs, distribute the delays evenly.

        An additional random delay of up to a second represents the duration of the piece.
        """
        if number < _DELAYS:
            shares, numbers = [1] * number, [self.random.random() for _ in range(number)]
        else:
            shares = [*split(self.random, number, _DELAYS)]
            numbers = [(place + self.random.random()) / _DELAYS for place in range(_DELAYS)]
        for some, random in zip(shares, numbers, strict=True):
            if some:
                delay = stagger(self.spread, random=random)
                self.queue(cohort, some, delay.total_seconds() + self.random.random())


def _part(some: int, none: int, number: int) -> int:
    """Return the number of readers with waiting events in a piece, in proportion to all remaining
    readers of the cohort.
    """
    return min(some, max(number - none, round(number * some / (some + none))))
