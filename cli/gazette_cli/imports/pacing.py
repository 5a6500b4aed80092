"""The rate of an import, and the wait for a full ingest queue."""

import time
from collections.abc import Callable

BETWEEN_LOOKS = 1.0
"""The time in seconds between two looks at the ingest queue."""

COUNTED_AFTER = 60.0
"""The time in seconds after the last publication during which a count of 0 may be wrong.

SQS needs at least a minute until its counts are consistent.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html
"""

LONGEST_DRAIN = 900.0
"""The maximum time in seconds of the wait at the end. Live events may be counted at every look."""


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
    """A wait while too many messages are on the ingest queue, so that live events pass quickly.

    `count` returns the number of messages that wait, and `unprocessed` also counts those that
    ingest is processing. SQS counts messages with a delay, so the queue is counted at most once a
    second. Between two counts, only as many messages pass as the queue had room for.
    """

    def __init__(
        self,
        count: Callable[[], int],
        *,
        unprocessed: Callable[[], int],
        most: int,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._count, self._unprocessed, self.most = count, unprocessed, most
        self._clock, self._sleep = clock, sleep
        self._looked_at = clock() - BETWEEN_LOOKS
        self._room = 0

    def wait(self, messages: int, tell: Callable[[int], None]) -> None:
        """Return when the queue has room for so many `messages`, or has at most `most`.

        `tell` gets the number of messages on the queue before each wait.
        """
        looked_for = self._clock() - self._looked_at
        if messages > self._room or looked_for >= BETWEEN_LOOKS:
            if looked_for < BETWEEN_LOOKS:
                self._sleep(BETWEEN_LOOKS - looked_for)
            while (waiting := self._count()) > self.most:
                tell(waiting)
                self._sleep(BETWEEN_LOOKS)
            self._looked_at, self._room = self._clock(), self.most - waiting
        self._room -= messages

    def drain(self, tell: Callable[[int], None]) -> int:
        """Return when ingest has processed every message, or after LONGEST_DRAIN.

        Return the number of messages that are not processed. `tell` gets it before each wait.
        """
        began = self._clock()
        while True:
            unprocessed, waited = self._unprocessed(), self._clock() - began
            if (waited >= COUNTED_AFTER and not unprocessed) or waited >= LONGEST_DRAIN:
                return unprocessed
            tell(unprocessed)
            self._sleep(BETWEEN_LOOKS)
