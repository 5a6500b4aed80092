"""Time: the clock, and the rest of an invocation."""

from collections.abc import Callable
from datetime import datetime, timedelta

Clock = Callable[[], datetime]
"""Returns the present instant, timezone-aware."""


TimeLeft = Callable[[], timedelta]
"""Returns what remains of this invocation."""
