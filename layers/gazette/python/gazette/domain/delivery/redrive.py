"""The results of redriving a failed run."""

from dataclasses import dataclass
from enum import StrEnum

from gazette.domain.delivery.run import Reason, Run


class RedriveResult(StrEnum):
    """The result of redriving a failed run. Only `STARTED` starts a run."""

    STARTED = "started"
    """The next run was started."""

    SENT_SINCE = "sent_since"
    """A later run was sent with the events, so there is nothing to do."""

    GOES_WITH = "goes_with"
    """A later run has not ended, and is queued again."""

    RECEIVES_NO_EMAIL = "receives_no_email"
    NO_SCHEDULE = "no_schedule"
    PAUSED = "paused"
    """The reader has paused. The first email after the pause includes the events."""


@dataclass(frozen=True, slots=True)
class Redriven:
    """A failed run that was redriven."""

    failed: Run
    result: RedriveResult
    run: Run | None = None
    """The run that sends its events, or has sent them."""

    reason: Reason | None = None
    """The reason for which the reader gets no email."""
