"""The rate of an import, and the wait for a full ingest queue."""

import time
from collections.abc import Callable

BETWEEN_LOOKS = 1.0
"""The time in seconds between two looks at the ingest queue."""


class TokenBucket:
    """A limit of items per second. A pause saves up at most one second's items."""

    def __init__(
        self,
        rate: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._rate = rate
        self._clock, self._sleep = clock, sleep
        self._tokens, self._at = rate, clock()

    @property
    def burst(self) -> int:
        """The number of items in a second, and at least one."""
        return max(1, int(self._rate))

    def take(self, number: int) -> None:
        """Wait until the rate permits `number` more items."""
        now = self._clock()
        self._tokens = min(self._rate, self._tokens + (now - self._at) * self._rate) - number
        self._at = now
        if self._tokens < 0:
            self._sleep(-self._tokens / self._rate)


class BackPressure:
    """A wait while too many messages are on the ingest queue, so that live events pass quickly."""

    def __init__(
        self,
        count: Callable[[], int],
        *,
        most: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._count, self._most = count, most
        self._clock, self._sleep = clock, sleep
        self._looked_at: float | None = None

    def wait(self, tell: Callable[[int], None]) -> None:
        """Return when the queue has room. `tell` gets the number of messages before each wait."""
        if self._looked_at is not None and self._clock() - self._looked_at < BETWEEN_LOOKS:
            return
        while (waiting := self._count()) > self._most:
            tell(waiting)
            self._sleep(BETWEEN_LOOKS)
        self._looked_at = self._clock()

    def drain(self, tell: Callable[[int], None]) -> None:
        """Return when the queue is empty."""
        while waiting := self._count():
            tell(waiting)
            self._sleep(BETWEEN_LOOKS)
