"""The delays before a failed message is received again."""

from collections.abc import Sequence
from datetime import timedelta

SOON = timedelta(seconds=60)
"""The maximum delay before the first retries of a failed message.

The delay is short, because the cause of the failure may be temporary.
"""

_SHORTEST = timedelta(seconds=10)

MANY = (SOON, SOON, SOON, SOON * 2, SOON * 4, SOON * 8, SOON * 10)
"""The maximum delays for a message that is received many times, one for each receive. The last
delay applies to all later receives.

The minimum delay is 10 seconds if the maximum is a minute, and half of the maximum otherwise. With
16 receives, the last one is at least 30 + 60 + 120 + 240 + 9 x 300 = 3,150 seconds after the first.
"""

FEW = (SOON, timedelta(seconds=340), SOON)
"""The maximum delays for a message that is received at most three times.

The last receive is 180 to 400 seconds after the first, and 60 seconds later the message is a dead
letter.
"""


def pause_before(receives: int, *, pauses: Sequence[timedelta], random: float) -> timedelta:
    """Return the time for which a failed message stays hidden before it is received again.

    `receives` is the number of receives, including the current one. `random` is a number from 0 to
    1 that keeps messages that failed together from returning together.
    https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
    """
    longest = pauses[min(max(receives, 1), len(pauses)) - 1]
    shortest = _SHORTEST if longest <= SOON else longest / 2
    return shortest + (longest - shortest) * random
