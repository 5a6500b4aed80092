"""The virtual time of a simulation."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heappop, heappush
from math import inf

Act = Callable[[], None]


@dataclass(slots=True)
class Timeline:
    """The actions of a simulation, in order of time. Actions at the same time keep their order."""

    begin: datetime

    # The current time in seconds since `begin`.
    now: float = 0.0

    # A heap of actions, each with its time and number.
    acts: list[tuple[float, int, Act]] = field(default_factory=list)

    # The total number of planned actions.
    planned: int = 0

    @property
    def instant(self) -> datetime:
        """The current time as an instant."""
        return self.begin + timedelta(seconds=self.now)

    def seconds(self, instant: datetime) -> float:
        """Convert an instant to seconds since the beginning."""
        return (instant - self.begin).total_seconds()

    def at(self, when: float, act: Act) -> None:
        """Schedule an action. An action whose time is in the past runs next."""
        self.planned += 1
        heappush(self.acts, (max(when, self.now), self.planned, act))

    def run(self, until: float = inf) -> None:
        """Run all actions, or only the actions up to a given time."""
        while self.acts and self.acts[0][0] <= until:
            self.now, _, act = heappop(self.acts)
            act()
