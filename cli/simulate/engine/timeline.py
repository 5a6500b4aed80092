"""Virtual time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heappop, heappush
from math import inf

Act = Callable[[], None]


@dataclass(slots=True)
class Timeline:
    """The acts of a simulation, in order. Acts at the same time keep their order."""

    begin: datetime

    # The current time in seconds since `begin`.
    now: float = 0.0

    # The heap of times, numbers and acts.
    acts: list[tuple[float, int, Act]] = field(default_factory=list)

    # The number of acts that were ever planned.
    planned: int = 0

    @property
    def instant(self) -> datetime:
        """The current time as an instant."""
        return self.begin + timedelta(seconds=self.now)

    def seconds(self, instant: datetime) -> float:
        """Convert an instant to seconds since the beginning."""
        return (instant - self.begin).total_seconds()

    def at(self, when: float, act: Act) -> None:
        """Plan an act. If its time is in the past, it runs next."""
        self.planned += 1
        heappush(self.acts, (max(when, self.now), self.planned, act))

    def run(self, until: float = inf) -> None:
        """Run all acts, or those until a time."""
        while self.acts and self.acts[0][0] <= until:
            self.now, _, act = heappop(self.acts)
            act()
