"""When a message that could not be processed comes again."""

from collections.abc import Sequence
from datetime import timedelta

SOON = timedelta(seconds=60)
"""The longest pause before the next receive, while one may hope that the cause is over."""

_SHORTEST = timedelta(seconds=10)

MANY = (SOON, SOON, SOON, SOON * 2, SOON * 4, SOON * 8, SOON * 10)
"""The longest pause after the first receive, the second, and so on; the last holds for all others.

The shortest is 10 seconds while the longest is a minute, and half of the longest later. With 16
receives the last one is at least 30 + 60 + 120 + 240 + 9 x 300 = 3,150 seconds behind the first.
"""

FEW = (SOON, timedelta(seconds=340), SOON)
"""For three receives: the last one is 180 to 400 seconds behind the first, and 60 later the message
is a dead letter."""


def pause_before(receives: int, *, pauses: Sequence[timedelta], random: float) -> timedelta:
    """Return how long a message that failed stays hidden before it is received again.

    `receives`: how often it was received, this time included. `random`: a number from 0 to 1, so
    that messages that failed together do not all come back together.
    https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
    """
    longest = pauses[min(max(receives, 1), len(pauses)) - 1]
    shortest = _SHORTEST if longest <= SOON else longest / 2
    return shortest + (longest - shortest) * random
