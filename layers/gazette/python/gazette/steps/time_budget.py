"""Start only work that this invocation can finish."""

from datetime import timedelta

from gazette.domain.errors import NotYet
from gazette.domain.ports.clock import TimeLeft

LONGEST = timedelta(seconds=30)
"""A message's share of the invocation. Longer work continues at the next receive."""

PIECE = timedelta(seconds=6)
"""An upper bound of the time for one piece of work, such as a page, between two time checks."""


def require_time(time_left: TimeLeft, *, least: timedelta = LONGEST) -> None:
    """Raise NotYet if less than `least` of the invocation is left; by default, a message's
    share."""
    if time_left() < least:
        raise NotYet("Too little time is left in this invocation to start more work.")


def share(time_left: TimeLeft) -> TimeLeft:
    """Return a function that returns the rest of one message's share, which begins now.

    So a slow message leaves the others of its batch their time. It stops between two pieces of
    work, after LONGEST less PIECE, and its completed work is kept.
    """
    behind = time_left() - LONGEST
    return lambda: time_left() - behind


def unlimited() -> timedelta:
    """Return no limit, for messages that are delivered again if the invocation is cut off."""
    return timedelta.max
