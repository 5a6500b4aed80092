"""Start only work that this invocation can finish."""

from datetime import timedelta

from gazette.domain.errors import NotYet
from gazette.domain.ports.clock import TimeLeft

_LONGEST = timedelta(seconds=30)
"""More than the longest message takes, such as a list of events or a walk over followers."""


def require_time(time_left: TimeLeft, *, least: timedelta = _LONGEST) -> None:
    """Raise NotYet if less than `least` is left of the invocation: by default, a message's time."""
    if time_left() < least:
        raise NotYet("Too little time is left in this invocation to start more work.")


def unlimited() -> timedelta:
    """No limit: for messages that are delivered again if the invocation is cut off."""
    return timedelta.max
