"""Begin only what this invocation can finish."""

from datetime import timedelta

from gazette.domain.errors import NotYet
from gazette.domain.ports import TimeLeft

_LONGEST = timedelta(seconds=30)
"""The longest that a message takes, such as a list or a walk over followers, and more."""


def require_time(time_left: TimeLeft) -> None:
    """Raises NotYet where too little of the invocation is left to begin with a message."""
    if time_left() < _LONGEST:
        raise NotYet("Too little time is left of this invocation for another message.")
