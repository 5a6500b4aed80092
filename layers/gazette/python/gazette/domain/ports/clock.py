"""The clock, and the remaining time of an invocation."""

from collections.abc import Callable
from datetime import datetime, timedelta

Clock = Callable[[], datetime]
"""A function that returns the current time, timezone-aware."""


TimeLeft = Callable[[], timedelta]
"""A function that returns the remaining time of this invocation."""
