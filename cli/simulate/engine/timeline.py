"""Virtual time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heappop, heappush
from math import inf

Act = Callable[[], None]


@dataclass(slots=True)
class Timeline:
    """What happens, in order. `now`: seconds since `begin`; acts at one instant keep their order.

    `planned`: how many acts there ever were.
    """

    begin: datetime
    now: float = 0.0
    acts: list[tuple[float, int, Act]] = field(default_factory=list)
    planned: int = 0

    @property
    def instant(self) -> datetime:
        """Now, as the project's code knows time."""
        return self.begin + timedelta(seconds=self.now)

    def seconds(self, instant: datetime) -> float:
        """An instant in seconds since the beginning."""
        return (instant - self.begin).total_seconds()

    def at(self, when: float, act: Act) -> None:
        """Do something then; at once if that has passed."""
        self.planned += 1
        heappush(self.acts, (max(when, self.now), self.planned, act))

    def run(self, until: float = inf) -> None:
        """Let time pass until nothing is left to do, or until then."""
        while self.acts and self.acts[0][0] <= until:
            self.now, _, act = heappop(self.acts)
            act()
