"""The service behind: what every digest asks while it is made, and its autoscaler."""

from collections import Counter
from dataclasses import dataclass, field
from math import ceil

_MINUTE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePlan:
    """A service with a number of equal instances, from `least` to `most`.

    `each`: requests a second of one instance. `latency`: seconds of an answer while it keeps up;
    `timeout`: after how many seconds whoever asks gives up. The autoscaler looks every minute:
    above `high` of what the instances can do in that minute it adds as many as bring it to `aim`,
    ready after `boots` seconds; below `low` for `calm` minutes it takes as many away.
    """

    each: float = 50.0
    least: int = 2
    most: int = 1000
    latency: float = 0.05
    timeout: float = 2.0
    high: float = 0.7
    low: float = 0.3
    aim: float = 0.5
    boots: float = 120.0
    calm: int = 5


@dataclass(slots=True)
class Service:
    """What it is asked, and what its autoscaler does.

    `requests`: by minute. `failed`: those that timed out. `ups`, `downs`: acts of the autoscaler.
    `overloaded`: seconds in which more was asked than it could answer. `by_minute`: instances.
    """

    plan: ServicePlan
    instances: int = 0
    booting: list[tuple[float, int]] = field(default_factory=list)
    second: int = 0
    asked: int = 0
    backlog: float = 0.0
    in_minute: int = 0
    quiet: int = 0
    requests: Counter[int] = field(default_factory=Counter)
    peak: int = 0
    failed: int = 0
    total: int = 0
    ups: int = 0
    downs: int = 0
    overloaded: int = 0
    by_minute: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.instances = self.instances or self.plan.least

    def ask(self, number: int, now: float) -> float:
        """Ask so often; returns the seconds until the last answer, at most the time-out."""
        self.advance(now)
        self.asked += number
        self.total += number
        capacity = self.instances * self.plan.each
        answered = capacity * (now - self.second)
        before = max(0.0, self.backlog + self.asked - 1 - answered)
        wait = self.plan.latency + before / capacity
        if wait > self.plan.timeout:
            self.failed += number
            return self.plan.timeout
        return wait

    def advance(self, now: float) -> None:
        """Let the seconds pass until now."""
        while self.second + 1 <= now:
            self._pass_a_second()

    def _pass_a_second(self) -> None:
        capacity = self.instances * self.plan.each
        self.peak = max(self.peak, self.asked)
        self.in_minute += self.asked
        self.requests[self.second // _MINUTE] += self.asked
        kept = capacity * self.plan.timeout
        self.backlog = min(max(0.0, self.backlog + self.asked - capacity), kept)
        self.overloaded += self.backlog > 0
        self.asked = 0
        self.second += 1
        while self.booting and self.booting[0][0] <= self.second:
            self.instances += self.booting.pop(0)[1]
        if self.second % _MINUTE == 0:
            self._scale()

    def _scale(self) -> None:
        plan = self.plan
        used = self.in_minute / _MINUTE
        self.by_minute[self.second // _MINUTE - 1] = self.instances
        self.in_minute = 0
        coming = self.instances + sum(number for _, number in self.booting)
        wanted = min(plan.most, max(plan.least, ceil(used / (plan.aim * plan.each))))
        share = used / (coming * plan.each)
        self.quiet = self.quiet + 1 if share < plan.low else 0
        if share > plan.high and wanted > coming:
            self.booting.append((self.second + plan.boots, wanted - coming))
            self.ups += 1
        elif self.quiet >= plan.calm and wanted < self.instances and not self.booting:
            self.instances = wanted
            self.downs += 1
            self.quiet = 0
