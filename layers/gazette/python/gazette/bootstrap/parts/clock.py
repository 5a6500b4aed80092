"""The real clock, and what lengths of time are measured with."""

import time
from datetime import UTC, datetime


def now() -> datetime:
    """The instant now, in UTC."""
    return datetime.now(UTC)


def stopwatch() -> float:
    """Seconds from some instant, which no correction of the clock moves."""
    return time.perf_counter()
