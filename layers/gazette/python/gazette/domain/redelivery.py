"""The pauses before a failed message is received again."""

from collections.abc import Sequence
from datetime import timedelta

SOON = timedelta(seconds=60)
"""The longest pause before the next receive, while the cause may be temporary."""

_SHORTEST = timedelta(seconds=10)

MANY = (SOON, SOON, SOON, SOON * 2, SOON * 4, SOON * 8, SOON * 10)
"""The longest pause after the first receive, the second, and so on; the last applies to all others.

The shortest is 10 seconds while the longest is a minute, and half of the longest later. With 16
receives, the last one is at least 30 + 60 + 120 + 240 + 9 x 300 = 3,150 seconds after the first.
"""

FEW = (SOON, timedelta(seconds=340), SOON)
"""The pauses for three receives.

The last receive is 180 to 400 seconds after the first, and 60 seconds later the message is a dead
letter.
"""


def pause_before(receives: int, *, pauses: Sequence[timedelta], random: float) -> timedelta:
    """Return the time for which a failed message stays hidden before it is received again.

    `receives`: the number of receives, including this one. `random`: a number from 0 to 1, so that
    messages that failed together do not all return together.
    https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
    """
    longest = pauses[min(max(receives, 1), len(pauses)) - 1]
    shortest = _SHORTEST if longest <= SOON else longest / 2
    return shortest + (longest - shortest) * random
