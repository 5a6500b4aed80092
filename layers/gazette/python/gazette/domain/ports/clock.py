"""What the steps need to know about time."""

from collections.abc import Callable
from datetime import datetime, timedelta

Clock = Callable[[], datetime]
"""Returns the instant now, timezone-aware."""


TimeLeft = Callable[[], timedelta]
"""Returns what remains of this invocation."""
