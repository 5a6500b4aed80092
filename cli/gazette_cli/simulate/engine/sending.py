"""The simulated workers of generate and resend. Each worker is an invocation with up to ten
messages.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Protocol

from gazette.domain.delivery.lifecycle import MAX_REFUSALS
from gazette.domain.delivery.pace import NoPermit, Outlook
from gazette.domain.delivery.retries import pause_after
from gazette.domain.delivery.run import Reason, Run
from gazette.domain.delivery.streams import Streams
from gazette.domain.model import DAILY, RunKey
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.steps.delivery.pacing import Pacing, StreamPacing, no_permit, postponed_until

from gazette_cdk.concurrency import Size
from gazette_cli.cost.assumptions import POLLERS
from gazette_cli.simulate.engine.cohorts import IMMEDIATE, Cohort
from gazette_cli.simulate.engine.limiter import Row, WorkersLimiter
from gazette_cli.simulate.engine.provider import Provider
from gazette_cli.simulate.engine.queues import Queue
from gazette_cli.simulate.engine.service import Service
from gazette_cli.simulate.engine.tally import Tally
from gazette_cli.simulate.engine.timeline import Timeline
from gazette_cli.simulate.engine.times import Times

_KEYS = {
    "digest": RunKey("reader", DAILY, 1),
    IMMEDIATE: RunKey("reader", immediate_schedule("post#p1"), 1),
}
_MINUTE = 60.0


class Waiting(Protocol):
    """The rules for runs that get no permit."""

    def longest(self, known: Outlook) -> timedelta:
        """Return the maximum time that a worker waits for permits."""

    def postponed_until(self, key: RunKey, pacing: Pacing) -> datetime | None:
        """Return the time until which a run is postponed before generate reads it, or None if the
        run is not postponed.
        """

    def again_at(self, run: Run, why: NoPermit, pacing: Pacing) -> datetime | Reason:
        """Return the time of the next attempt, or the reason to skip the run."""


@dataclass(frozen=True, slots=True)
class AsTheStepsSay:
    """The rules that the functions use (`gazette.steps.delivery.pacing`)."""

    def longest(self, known: Outlook) -> timedelta:
        """Return the wait that the outlook of the worker contains."""
        return known.longest_wait

    def postponed_until(self, key: RunKey, pacing: Pacing) -> datetime | None:
        """Call the step `postponed_until`."""
        return postponed_until(key, pacing=pacing)

    def again_at(self, run: Run, why: NoPermit, pacing: Pacing) -> datetime | Reason:
        """Call the step that returns the time of the next attempt."""
        ending = no_permit(run, why, pacing=pacing)
        return ending.delivery.again_at or ending.delivery.run.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The objects that all simulated workers share."""

    timeline: Timeline
    rows: Streams[Row]

    # The queues of runs.
    queue_of: Streams[Queue[Cohort]]

    # The queue of rejected runs.
    resend: Queue[Cohort]

    provider: Provider
    service: Service | None
    tally: Tally
    random: Random
    max_lateness: timedelta
    times: Times = field(default_factory=Times)
    waiting: Waiting = field(default_factory=AsTheStepsSay)

    # The number of messages of an invocation that share a random delay.
    grain: int = 10


@dataclass(slots=True, eq=False)
class Poller:
    """A poller of an event source mapping, which collects messages for one invocation."""

    messages: list[tuple[Cohort, int]] = field(default_factory=list)

    @property
    def number(self) -> int:
        """The number of collected messages."""
        return sum(number for _, number in self.messages)


@dataclass(slots=True)
class Workers:
    """The parallel invocations of an event source mapping."""

    name: str
    queue: Queue[Cohort]

    # The number of parallel invocations, their batch size and their batching window.
    size: Size

    around: Surroundings
    idle: deque["Worker"] = field(default_factory=deque)

    # The pollers. The first one gets the next message.
    pollers: deque[Poller] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.idle.extend(Worker(self) for _ in range(self.size.concurrency))
        self.pollers.extend(Poller() for _ in range(POLLERS))
        self.queue.on_visible = self.assign

    def assign(self) -> None:
        """Assign visible messages to idle workers, or collect them during the batching window."""
        while self.idle and self.queue.number_visible:
            if self.queue.number_visible >= self.size.batch or not self.size.window:
                self._start(self.queue.take(self.size.batch))
            else:
                self._collect()

    def _collect(self) -> None:
        """Give one message to a poller. A full poller starts a worker at once, any other one at the
        end of its window.
        """
        timeline, poller = self.around.timeline, self.pollers[0]
        self.pollers.rotate(-1)
        if not poller.messages:
            ends = timeline.now + self.size.window.total_seconds()
            timeline.at(ends, lambda: self._end_window(poller))
        poller.messages += self.queue.take(1)
        if poller.number >= self.size.batch:
            self._release(poller)

    def _end_window(self, poller: Poller) -> None:
        if self.pollers.count(poller) and poller.messages:
            self._release(poller)

    def _release(self, poller: Poller) -> None:
        """Start a worker with the messages of a poller, which another poller replaces."""
        self.pollers.remove(poller)
        self.pollers.append(Poller())
        if self.idle:
            self._start(poller.messages)
            return
        for cohort, number in poller.messages:
            self.queue.put(cohort, number, self.around.timeline.now)

    def _start(self, messages: list[tuple[Cohort, int]]) -> None:
        worker, timeline = self.idle.popleft(), self.around.timeline
        worker.messages = messages
        timeline.at(timeline.now + self.around.times.start, worker.start)


@dataclass(slots=True, eq=False)
class Worker:
    """A worker process, with its own copy of the pace row."""

    workers: Workers

    # The messages of the current invocation.
    messages: list[tuple[Cohort, int]] = field(default_factory=list)

    pacing: Pacing = field(init=False)
    limiters: Streams[WorkersLimiter] = field(init=False)

    # The time at which the depth of the queue was last read, and the depth.
    asked_at: float = -_MINUTE
    waiting: int = 0

    # The time that the current invocation took to read and render.
    took: float = 0.0

    def __post_init__(self) -> None:
        around = self.workers.around
        rows = around.rows
        self.limiters = Streams(
            digest=WorkersLimiter(rows.digest), immediate=WorkersLimiter(rows.immediate)
        )
        self.pacing = Pacing(
            streams=Streams(
                digest=self._stream(self.limiters.digest, self._waiting),
                immediate=self._stream(self.limiters.immediate, None),
            ),
            clock=lambda: around.timeline.instant,
            sleep=_never,
            random=around.random.random,
        )

    @staticmethod
    def _stream(limiter: WorkersLimiter, waiting: Callable[[], int] | None) -> StreamPacing:
        # The provider rejects single emails, so a circuit breaker never opens here.
        return StreamPacing(rate_limiter=limiter, breaker=None, waiting=waiting)  # type: ignore[arg-type]

    def _waiting(self) -> int:
        """Return the number of waiting digests. The number is read at most once per minute."""
        now = self.workers.around.timeline.now
        if now - self.asked_at >= _MINUTE:
            self.waiting = self.workers.around.queue_of.digest.waiting
            self.asked_at = now
        return self.waiting

    def start(self) -> None:
        """Requeue postponed runs, and read the other runs."""
        around = self.workers.around
        read = [
            (cohort, number)
            for cohort, number in self.messages
            if cohort.refusals or not self._is_postponed(cohort, number)
        ]
        self.messages = read
        if not read:
            self._end(around.times.requeue)
            return
        number = sum(number for _, number in read)
        self.took = around.times.prepare + (number - 1) * around.times.more
        if around.service:
            digests = sum(number for cohort, number in read if cohort.stream != IMMEDIATE)
            if digests:
                self.took += around.service.ask(digests, around.timeline.now)
        around.timeline.at(around.timeline.now + self.took, self.send)

    def _is_postponed(self, cohort: Cohort, number: int) -> bool:
        around, key = self.workers.around, _KEYS[cohort.stream]
        again_at = around.waiting.postponed_until(key, self.pacing)
        if again_at is None:
            return False
        around.tally.unread += number
        while number > 0:
            self._requeue(cohort, min(number, around.grain), again_at)
            number -= around.grain
            again_at = again_at if number <= 0 else self._again(key) or again_at
        return True

    def _again(self, key: RunKey) -> datetime | None:
        return self.workers.around.waiting.postponed_until(key, self.pacing)

    def send(self) -> None:
        """Send runs that get a permit, and requeue the other runs."""
        around = self.workers.around
        longest = max(self._send(cohort, number) for cohort, number in self.messages)
        around.tally.sending[self.workers.name] += longest > 0
        self._end(max(longest, around.times.requeue), self.took)

    def _send(self, cohort: Cohort, number: int) -> float:
        """Send emails, and return the duration in seconds."""
        around, timeline = self.workers.around, self.workers.around.timeline
        now, longest = timeline.instant, 0.0
        run = Run(
            key=_KEYS[cohort.stream],
            due_at=timeline.begin + timedelta(seconds=cohort.due),
            check_at=now,
            refusals=cohort.refusals,
        )
        if run.is_too_late(now, around.max_lateness):
            around.tally.skipped[Reason.TOO_LATE] += number
            return longest
        limiter = self.limiters.of(run.key.schedule)
        while number:
            patience = around.waiting.longest(limiter.outlook(now))
            permits = limiter.reserve_some(number, now, now + patience)
            if isinstance(permits, NoPermit):
                self._without_permit(cohort, number, run, permits)
                break
            wait = timeline.seconds(permits.last_at) - timeline.now
            around.tally.waited = max(around.tally.waited, wait)
            self._hand_over(cohort, permits.number, timeline.now + wait + around.times.send)
            longest = max(longest, wait + around.times.send)
            number -= permits.number
        return longest

    def _hand_over(self, cohort: Cohort, number: int, at: float) -> None:
        around = self.workers.around
        some = around.provider.accepts(number, at)
        if some:
            around.tally.emails(cohort, some, at)
        for _ in range(number - some):
            around.tally.refused += 1
            refused = cohort._replace(refusals=cohort.refusals + 1)
            if refused.refusals >= MAX_REFUSALS:
                around.tally.skipped["failed"] += 1
                continue
            pause = pause_after(refused.refusals, random=around.random.random())
            around.resend.put(refused, 1, at + pause.total_seconds())

    def _without_permit(self, cohort: Cohort, number: int, run: Run, why: NoPermit) -> None:
        around = self.workers.around
        while number > 0:
            some = min(number, around.grain)
            number -= some
            again_at = around.waiting.again_at(run, why, self.pacing)
            if isinstance(again_at, Reason):
                around.tally.skipped[again_at] += some
            else:
                self._requeue(cohort, some, again_at)

    def _requeue(self, cohort: Cohort, number: int, again_at: datetime) -> None:
        """Requeue runs with a delay."""
        around = self.workers.around
        around.tally.requeued[cohort.stream] += number
        queue = (
            around.resend if cohort.refusals else around.queue_of.of(_KEYS[cohort.stream].schedule)
        )
        delay = max(0.0, (again_at - around.timeline.instant).total_seconds())
        queue.put(cohort, number, around.timeline.now + delay + around.times.requeue)

    def _end(self, took: float, before: float = 0.0) -> None:
        workers, around = self.workers, self.workers.around
        around.tally.billed[workers.name] += took + before
        around.tally.invocations[workers.name] += 1
        around.timeline.at(around.timeline.now + took, self._free)

    def _free(self) -> None:
        self.workers.idle.append(self)
        self.workers.assign()


def _never(_: timedelta) -> None:
    """Do nothing, because the timeline simulates waits."""
