"""Start only work that this invocation can finish."""

from datetime import timedelta

from gazette.domain.errors import NotYet
from gazette.domain.ports.clock import TimeLeft

LONGEST = timedelta(seconds=30)
"""A message's share of the invocation. Whatever takes longer continues at the next receive."""

PIECE = timedelta(seconds=6)
"""More than one piece of work takes, such as a page, between two looks at the time."""


def require_time(time_left: TimeLeft, *, least: timedelta = LONGEST) -> None:
    """Raise NotYet if less than `least` is left of the invocation: by default, a message's time."""
    if time_left() < least:
        raise NotYet("Too little time is left in this invocation to start more work.")


def share(time_left: TimeLeft) -> TimeLeft:
    """Return what tells the rest of one message's share, which begins now.

    So a message that takes long leaves the others of its batch their time. It stops between two
    pieces of work, after LONGEST less PIECE, and keeps what it has done.
    """
    behind = time_left() - LONGEST
    return lambda: time_left() - behind


def unlimited() -> timedelta:
    """No limit: for messages that are delivered again if the invocation is cut off."""
    return timedelta.max
