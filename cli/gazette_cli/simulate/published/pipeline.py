"""The published pipeline: shard, generation and send events on queues with a limited rate."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import NamedTuple

from gazette.domain.delivery.pace import NoPermit, PacePlan
from gazette.domain.scheduling.calendar import (
    SLOT,
    Recurrence,
    next_occurrence,
    slot_of,
    stagger,
)

from gazette_cli.simulate.engine.draws import apportion, binomial, split
from gazette_cli.simulate.engine.limiter import Row, WorkersLimiter
from gazette_cli.simulate.engine.queues import Queue
from gazette_cli.simulate.engine.service import Service, ServicePlan
from gazette_cli.simulate.engine.timeline import Timeline
from gazette_cli.simulate.inputs import WORLD

BEGIN = datetime(2020, 6, 1, tzinfo=UTC)
SHARDS = 256
_AHEAD = timedelta(hours=6)
_DUE_HOUR = 8
_DAY = 86_400.0
_PARTS = 8
"""The number of different random delays of a shard's generation events."""

SERVICE = ServicePlan(
    each=10,
    least=2,
    most=200,
    latency=0.2,
    timeout=5,
    high=0.6,
    low=0.3,
    aim=0.5,
    boots=180,
    calm=3,
)
"""The assumed service. Its capacity and autoscaling rules are not published."""


class _Event(NamedTuple):
    """An event of the pipeline."""

    # The kind, `shard`, `generate` or `send`.
    kind: str

    # The end of the chosen hour, in seconds.
    until: float

    # The number of generation events of a shard.
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A design of the published pipeline."""

    name: str

    # The maximum events per second of a queue.
    rate: float

    # The share of generation events that result in a digest.
    share: float

    # The maximum random delay of a generation event.
    spread: timedelta = timedelta(0)

    # True if send events have a separate queue.
    own_send: bool = False

    # True if shard events have a separate queue.
    own_shards: bool = False


@dataclass(slots=True)
class Seen:
    """The counts after the first day. The first day is excluded because it begins with empty
    queues.
    """

    # Events by kind.
    events: Counter[str] = field(default_factory=Counter)

    # Digests sent, and digests sent in time.
    digests: int = 0
    in_time: int = 0

    # The waiting events at the end of each day, including those that waiting shards will create.
    waiting: list[int] = field(default_factory=list)

    # The idle time of generation, in seconds.
    idle: float = 0.0

    service: Service = field(default_factory=lambda: Service(SERVICE))


@dataclass(slots=True)
class Pipeline:
    """A simulation of one design."""

    design: Design

    # Digests per day.
    digests: int

    days: int = 2

    # The length of a time step in seconds.
    step: float = 10.0

    seed: int = 1

    # The requests to the service in the current step.
    asking: int = 0
    seen: Seen = field(default_factory=Seen)
    timeline: Timeline = field(default_factory=lambda: Timeline(BEGIN))
    random: Random = field(init=False)

    # The next generation time of each bucket. It changes once a day, and takes long to find.
    begins: dict[Recurrence, datetime] = field(default_factory=dict)
    queues: dict[str, Queue[_Event]] = field(init=False)
    limiters: dict[str, WorkersLimiter] = field(init=False)

    def __post_init__(self) -> None:
        design = self.design
        self.random = Random(self.seed)
        names = ["main", *["send"] * design.own_send, *["shard"] * design.own_shards]
        self.queues = {name: Queue(self.timeline, self.step) for name in names}
        plan = PacePlan(rate=design.rate)
        self.limiters = {name: WorkersLimiter(Row(plan)) for name in names}

    def run(self) -> Seen:
        """Simulate the days."""
        groups = self._groups()
        end = self.days * _DAY
        self._every(SLOT.total_seconds(), end, lambda: self._tick(groups))
        self._every(self.step, end, self._work)
        for day in range(1, self.days + 1):
            self.timeline.at(day * _DAY - self.step / 2, self._look)
        self.timeline.run(until=end)
        return self.seen

    def _every(self, seconds: float, end: float, act: Callable[[], None]) -> None:
        def again() -> None:
            act()
            if self.timeline.now + seconds < end:
                self.timeline.at(self.timeline.now + seconds, again)

        self.timeline.at(0, again)

    def _look(self) -> None:
        """Record the counts at the end of each day. Discard the counts of the first day."""
        waiting = sum(
            number * (event.size or 1)
            for queue in self.queues.values()
            for event, number in queue.contents()
        )
        if not self.seen.waiting:
            instances = self.seen.service.instances
            service = Service(SERVICE, instances, second=int(self.timeline.now))
            self.seen = Seen(service=service)
        self.seen.waiting.append(waiting)

    def _groups(self) -> list[tuple[Recurrence, int]]:
        """Divide the readers of each time zone into six buckets, and add the generation time of
        each bucket.
        """
        attempts = round(self.digests / self.design.share)
        zones = apportion(attempts, list(WORLD.values()))
        hour = _DUE_HOUR - int(_AHEAD / timedelta(hours=1))
        return [
            (Recurrence(hour, bucket * 10, zone), readers)
            for zone, number in zip(WORLD, zones, strict=True)
            for bucket, readers in enumerate(split(self.random, number, 6))
        ]

    def _tick(self, groups: list[tuple[Recurrence, int]]) -> None:
        """Queue one shard event for each part of the readers who are due."""
        now = self.timeline.instant
        for recurrence, readers in groups:
            begins = self.begins.get(recurrence)
            if begins is None or begins < now:
                begins = next_occurrence(recurrence, after=now - timedelta(microseconds=1))
                self.begins[recurrence] = begins
            if slot_of(begins) != slot_of(now):
                continue
            hour = begins - timedelta(minutes=recurrence.minute)
            until = self.timeline.seconds(hour + _AHEAD + timedelta(hours=1))
            for size in split(self.random, readers, SHARDS):
                self._put("shard", _Event("shard", until, size), 1)

    def _put(self, name: str, event: _Event, number: int, delay: float = 0) -> None:
        queue = self.queues.get(name) or self.queues["main"]
        queue.put(event, number, self.timeline.now + delay)

    def _work(self) -> None:
        """Process all events that get a permit in this step, for each queue."""
        span = timedelta(seconds=self.step)
        for name, queue in self.queues.items():
            self.seen.idle += self.step if name == "main" and not queue.number_visible else 0
            while queue.number_visible:
                now = self.timeline.instant
                permits = self.limiters[name].reserve_some(
                    queue.number_visible, now, now + span - timedelta(microseconds=1)
                )
                if isinstance(permits, NoPermit):
                    break
                for event, number in queue.take(permits.number):
                    self._process(event, number)
        self._ask()

    def _process(self, event: _Event, number: int) -> None:
        self.seen.events[event.kind] += number
        if event.kind == "shard":
            for _ in range(number):
                self._generate_later(event)
        elif event.kind == "generate":
            digests = binomial(self.random, number, self.design.share)
            if digests:
                self.asking += digests
                self._put("send", _Event("send", event.until), digests)
        else:
            self.seen.digests += number
            self.seen.in_time += number if self.timeline.now <= event.until else 0

    def _generate_later(self, shard: _Event) -> None:
        parts = min(shard.size, _PARTS if self.design.spread else 1)
        for some in split(self.random, shard.size, parts) if parts else ():
            delay = stagger(self.design.spread, random=self.random.random())
            if some:
                generate = _Event("generate", shard.until)
                self._put("generate", generate, some, delay.total_seconds())

    def _ask(self) -> None:
        """Send the requests of a step to the service, evenly distributed over time."""
        seconds = max(1, int(self.step))
        for second, some in enumerate(apportion(self.asking, [1.0] * seconds)):
            self.seen.service.ask(some, self.timeline.now + second)
        self.asking = 0
