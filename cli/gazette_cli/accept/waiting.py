"""The passing of time on this machine, while an acceptance waits for the stage."""

import time
from datetime import datetime, timedelta

from gazette.bootstrap.parts.clock import now

_PAUSE = timedelta(seconds=5)


class Sleeping:
    """Implementation of the `Waiting` port. The process sleeps."""

    def now(self) -> datetime:
        """Return the current time."""
        return now()

    def until(self, instant: datetime) -> None:
        """Sleep until an instant, in short steps, so that Ctrl-C takes effect at once."""
        while (remaining := instant - now()) > timedelta(0):
            time.sleep(min(remaining, _PAUSE).total_seconds())

    def pause(self) -> None:
        """Sleep for five seconds."""
        time.sleep(_PAUSE.total_seconds())
