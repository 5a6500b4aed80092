"""Begin only what this invocation can finish."""

from datetime import timedelta

from gazette.domain.errors import NotYet
from gazette.domain.ports.outside import TimeLeft

_LONGEST = timedelta(seconds=30)
"""The longest that a message takes, such as a list or a walk over followers, and more."""


def require_time(time_left: TimeLeft, *, least: timedelta = _LONGEST) -> None:
    """Raises NotYet where less than `least` is left of the invocation: as long as a message takes,
    unless said otherwise.
    """
    if time_left() < least:
        raise NotYet("Too little time is left of this invocation for more.")


def unhurried() -> timedelta:
    """What is left where nobody waits for an answer, and what breaks off comes again by itself."""
    return timedelta.max
