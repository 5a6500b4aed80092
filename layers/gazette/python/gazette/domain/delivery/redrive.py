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
    """A later run, which has not ended, includes the events. That run was queued again."""

    RECEIVES_NO_EMAIL = "receives_no_email"
    NO_SCHEDULE = "no_schedule"
    PAUSED = "paused"
    """The reader's emails are paused. The first email after the pause includes the events."""


@dataclass(frozen=True, slots=True)
class Redriven:
    """The outcome of redriving a failed run (`failed`)."""

    failed: Run
    result: RedriveResult
    run: Run | None = None
    """The run that sent or will send the events of the failed run."""

    reason: Reason | None = None
    """The reason why the reader gets no email."""
