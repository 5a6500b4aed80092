"""A simulation of the service that every digest queries, including the service's autoscaler."""

from collections import Counter
from dataclasses import dataclass, field
from math import ceil

_MINUTE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePlan:
    """The capacity and the autoscaling rules of a service.

    The autoscaler checks the utilization of the instances every minute.
    """

    # The requests per second that an instance can answer.
    each: float = 50.0

    # The minimum and the maximum number of instances.
    least: int = 2
    most: int = 1000

    # The response time without overload, in seconds.
    latency: float = 0.05

    # The timeout of the client, in seconds.
    timeout: float = 2.0

    # The utilization above which the autoscaler adds instances.
    high: float = 0.7

    # The utilization below which the autoscaler removes instances.
    low: float = 0.3

    # The utilization that the autoscaler aims for.
    aim: float = 0.5

    # The start time of an instance, in seconds.
    boots: float = 120.0

    # The minutes of low utilization before the autoscaler removes instances.
    calm: int = 5


@dataclass(slots=True)
class Service:
    """The state of a simulated service."""

    plan: ServicePlan
    instances: int = 0

    # The times at which new instances are ready, and the number of instances at each time.
    booting: list[tuple[float, int]] = field(default_factory=list)

    # The current second.
    second: int = 0

    # The requests of the current second.
    in_second: int = 0

    # The unanswered requests.
    backlog: float = 0.0

    # The requests of the current minute.
    in_minute: int = 0

    # The consecutive minutes of low utilization.
    quiet: int = 0

    # The requests by minute.
    requests: Counter[int] = field(default_factory=Counter)

    # The requests of the busiest second.
    peak: int = 0

    # The requests that timed out.
    failed: int = 0

    # All requests.
    total: int = 0

    # The actions of the autoscaler.
    ups: int = 0
    downs: int = 0

    # The seconds with more requests than the instances could answer.
    overloaded: int = 0

    # The instances by minute.
    by_minute: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.instances = self.instances or self.plan.least

    def ask(self, number: int, now: float) -> float:
        """Send requests to the service. Return the number of seconds until the last response, which
        is at most the timeout.
        """
        self.advance(now)
        self.in_second += number
        self.total += number
        capacity = self.instances * self.plan.each
        answered = capacity * (now - self.second)
        before = max(0.0, self.backlog + self.in_second - 1 - answered)
        wait = self.plan.latency + before / capacity
        if wait > self.plan.timeout:
            self.failed += number
            return self.plan.timeout
        return wait

    def advance(self, now: float) -> None:
        """Advance the clock to `now`."""
        while self.second + 1 <= now:
            self._pass_a_second()

    def _pass_a_second(self) -> None:
        capacity = self.instances * self.plan.each
        self.peak = max(self.peak, self.in_second)
        self.in_minute += self.in_second
        self.requests[self.second // _MINUTE] += self.in_second
        limit = capacity * self.plan.timeout
        self.backlog = min(max(0.0, self.backlog + self.in_second - capacity), limit)
        self.overloaded += self.backlog > 0
        self.in_second = 0
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
        target = min(plan.most, max(plan.least, ceil(used / (plan.aim * plan.each))))
        share = used / (coming * plan.each)
        self.quiet = self.quiet + 1 if share < plan.low else 0
        if share > plan.high and target > coming:
            self.booting.append((self.second + plan.boots, target - coming))
            self.ups += 1
        elif self.quiet >= plan.calm and target < self.instances and not self.booting:
            self.instances = target
            self.downs += 1
            self.quiet = 0
