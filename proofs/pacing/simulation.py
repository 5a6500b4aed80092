"""Queues and workers in discrete events."""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count
from math import ceil
from random import Random

from gazette.domain.delivery.pace import NoPermit, PacePlan, Permit, Quota
from gazette.domain.delivery.run import Run
from gazette.domain.delivery.streams import Streams, divided
from gazette.domain.model import RunKey
from gazette.steps.delivery.pacing import (
    Pacing,
    StreamPacing,
    postponed_until,
    wait_for_permit,
    without_permit,
)

from proofs.pacing.limiter import Row, WorkersLimiter
from tests.fake_stores import FakeRateLimiter

BEGIN = datetime(2026, 11, 23, 6, 0, tzinfo=UTC)
_PLENTY = timedelta(minutes=1)
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """How long things take, in seconds, where AWS answers in 10 ms and SES in 100.

    `start`: from a free worker to the first line of the handler. `requeue`: to requeue a run.
    `prepare`: to read and render; `more`: for each further message of the invocation. `send`: to
    claim, send and commit.
    """

    start: float = 0.01
    requeue: float = 0.02
    prepare: float = 0.07
    more: float = 0.015
    send: float = 0.14

    def times(self, factor: float) -> "Times":
        """As long as this, `factor` times."""
        return replace(self, prepare=self.prepare * factor, send=self.send * factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """An event source mapping: its queue, how many workers, and messages of an invocation."""

    queue: str
    workers: int
    batch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Which queue a stream's runs are on, what feeds the workers, and how a worker waits.

    `old`: how long a worker waits for a permit, and between which delays it then requeues, as it
    was before there were two queues; None: as the steps do.
    """

    mappings: tuple[Mapping, ...]
    queue_of: Streams[str]
    old: bool = False


@dataclass(slots=True)
class Found:
    """What was seen. Times in seconds."""

    sent: Counter[str] = field(default_factory=Counter)
    waited: list[float] = field(default_factory=list)
    late: dict[str, list[float]] = field(default_factory=lambda: {"digest": [], "immediate": []})
    requeued: Counter[str] = field(default_factory=Counter)
    unread: int = 0
    billed: float = 0.0
    done_at: list[datetime] = field(default_factory=list)


@dataclass
class Simulation:
    """One run of a design; `work` runs it to its end."""

    design: Design
    plan: PacePlan
    immediate_share: int
    quota: float
    times: Times
    random: Random

    def __post_init__(self) -> None:
        shares = divided(self.immediate_share)
        self.rows = Streams(digest=self._row(shares.digest), immediate=self._row(shares.immediate))
        self.now = BEGIN
        self.order = count()
        self.heap: list[tuple[datetime, int, Callable[[], None]]] = []
        self.visible: dict[str, deque[tuple[RunKey, datetime]]] = {}
        self.delayed: Counter[str] = Counter()
        self.idle: dict[str, deque[int]] = {}
        self.batches = {mapping.queue: mapping.batch for mapping in self.design.mappings}
        self.pacings: dict[tuple[str, int], Pacing] = {}
        self.cached: dict[tuple[str, int], tuple[datetime, int]] = {}
        self.asleep = 0.0
        self.found = Found()
        for mapping in self.design.mappings:
            self.visible[mapping.queue] = deque()
            self.idle[mapping.queue] = deque(range(mapping.workers))
            for number in range(mapping.workers):
                self.pacings[mapping.queue, number] = self._pacing(mapping.queue, number)

    def _row(self, share: object) -> Row:
        quota = Quota(rate=self.quota)
        row = Row(replace(self.plan, share=share))  # type: ignore[arg-type]
        row.pace = replace(row.pace, quota=quota, quota_at=BEGIN)
        return row

    def _pacing(self, queue: str, number: int) -> Pacing:
        def stream(row: Row, name: str) -> StreamPacing:
            return StreamPacing(
                rate_limiter=WorkersLimiter(row),
                breaker=FakeRateLimiter(row.plan),
                waiting=(lambda: self._waiting(queue, number)) if name == "digest" else None,
            )

        return Pacing(
            streams=Streams(
                digest=stream(self.rows.digest, "digest"),
                immediate=stream(self.rows.immediate, "immediate"),
            ),
            clock=lambda: self.now,
            sleep=self._sleep,
            random=self.random.random,
        )

    def _sleep(self, wait: timedelta) -> None:
        self.asleep = wait.total_seconds()

    def _waiting(self, queue: str, number: int) -> int:
        """As SQS says, read at most once a minute."""
        at, known = self.cached.get((queue, number), (BEGIN - _MINUTE, 0))
        if self.now - at >= _MINUTE:
            known = len(self.visible[queue]) + self.delayed[queue]
            self.cached[queue, number] = self.now, known
        return known

    def put(self, key: RunKey, at: datetime) -> None:
        """A message that becomes visible at an instant; from then on its run waits."""
        self._put(key, at, at)

    def _put(self, key: RunKey, at: datetime, since: datetime) -> None:
        queue = self.design.queue_of.of(key.schedule)
        self.delayed[queue] += 1

        def show() -> None:
            self.delayed[queue] -= 1
            self.visible[queue].append((key, since))
            self._assign(queue)

        self._at(at, show)

    def _at(self, at: datetime, act: Callable[[], None]) -> None:
        heappush(self.heap, (at, next(self.order), act))

    def _assign(self, queue: str) -> None:
        while self.visible[queue] and self.idle[queue]:
            worker = self.idle[queue].popleft()
            batch = self.batches[queue]
            taken = [
                self.visible[queue].popleft() for _ in range(min(batch, len(self.visible[queue])))
            ]
            self._at(
                self.now + timedelta(seconds=self.times.start),
                lambda worker=worker, taken=taken: self._start(queue, worker, taken),  # type: ignore[misc]
            )

    def _start(self, queue: str, worker: int, taken: list[tuple[RunKey, datetime]]) -> None:
        pacing = self.pacings[queue, worker]
        read = []
        for key, since in taken:
            again_at = None if self.design.old else postponed_until(key, pacing=pacing)
            if again_at is None:
                read.append((key, since))
            else:
                self.found.unread += 1
                self._requeue(key, again_at, since)
        if not read:
            self._end(queue, worker, self.times.requeue)
            return
        took = self.times.prepare + (len(read) - 1) * self.times.more
        self._at(self.now + timedelta(seconds=took), lambda: self._ask(queue, worker, read, took))

    def _ask(
        self, queue: str, worker: int, read: list[tuple[RunKey, datetime]], took: float
    ) -> None:
        pacing, longest = self.pacings[queue, worker], self.times.requeue
        for key, since in read:
            run = Run(key=key, due_at=BEGIN, check_at=BEGIN)
            self.asleep = 0.0
            permit = self._permit(run, pacing)
            if isinstance(permit, Permit):
                self.found.waited.append(self.asleep)
                longest = max(longest, self.asleep + self.times.send)
                self._sent(key, since, permit.at + timedelta(seconds=self.times.send))
            else:
                self._requeue(key, self._again(run, permit, pacing), since)
        self._end(queue, worker, longest, took)

    def _permit(self, run: Run, pacing: Pacing) -> Permit | NoPermit:
        if not self.design.old:
            return wait_for_permit(run, pacing=pacing, spare=_PLENTY)
        limiter = pacing.streams.of(run.key.schedule).rate_limiter
        permit = limiter.reserve(self.now, self.now + timedelta(seconds=5))
        if isinstance(permit, Permit) and permit.at > self.now:
            self._sleep(permit.at - self.now)
        return permit

    def _again(self, run: Run, why: NoPermit, pacing: Pacing) -> datetime:
        if self.design.old:
            soonest, latest = (10, 60) if run.key.is_immediate else (60, 900)
            return self.now + timedelta(seconds=soonest + (latest - soonest) * self.random.random())
        stream = pacing.streams.of(run.key.schedule)
        ending = without_permit(
            run, why, now=self.now, random=self.random.random(), busy_until=stream.again_at
        )
        assert ending.delivery.again_at
        return ending.delivery.again_at

    def _requeue(self, key: RunKey, again_at: datetime, since: datetime) -> None:
        """SQS delays by whole seconds."""
        name = "immediate" if key.is_immediate else "digest"
        self.found.requeued[name] += 1
        delay = ceil((again_at - self.now).total_seconds()) + self.times.requeue
        self._put(key, self.now + timedelta(seconds=delay), since)

    def _sent(self, key: RunKey, since: datetime, at: datetime) -> None:
        name = "immediate" if key.is_immediate else "digest"
        self.found.sent[name] += 1
        self.found.late[name].append((at - since).total_seconds())
        if name == "digest":
            self.found.done_at.append(at)

    def _end(self, queue: str, worker: int, took: float, before: float = 0.0) -> None:
        self.found.billed += took + before

        def free() -> None:
            self.idle[queue].append(worker)
            self._assign(queue)

        self._at(self.now + timedelta(seconds=took), free)

    def work(self) -> Found:
        """Until nothing is left to do."""
        while self.heap:
            self.now, _, act = heappop(self.heap)
            act()
        return self.found
