"""The results of redriving a failed run."""

from dataclasses import dataclass
from enum import StrEnum

from gazette.domain.delivery.run import Reason, Run


class RedriveResult(StrEnum):
    """The result of redriving a failed run.

    `STARTED`: the next run was started. `SENT_SINCE`: nothing to do, a later run was sent with the
    events. `GOES_WITH`: a later run has not ended, and is queued again. The others start nothing.
    `PAUSED`: the reader wants no email yet; the first one after the pause has the events.
    """

    STARTED = "started"
    SENT_SINCE = "sent_since"
    GOES_WITH = "goes_with"
    RECEIVES_NO_EMAIL = "receives_no_email"
    NO_SCHEDULE = "no_schedule"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class Redriven:
    """`failed` was redriven; `run` is the run that sends its events, or has sent them.

    `reason`: why the reader gets no email.
    """

    failed: Run
    result: RedriveResult
    run: Run | None = None
    reason: Reason | None = None
