"""What becomes of a run that failed once support has brought it back."""

from dataclasses import dataclass
from enum import StrEnum

from gazette.domain.delivery.run import Reason, Run


class RedriveResult(StrEnum):
    """What a redrive of a run that failed comes to.

    `STARTED`: the next run. `SENT_SINCE`: nothing, a later one was sent with its events.
    `GOES_WITH`: a later one has not ended, and is queued again. The others start nothing;
    `PAUSED`: the reader wants no email yet, and what waits goes with the first one after that.
    """

    STARTED = "started"
    SENT_SINCE = "sent_since"
    GOES_WITH = "goes_with"
    NOT_WRITTEN_TO = "not_written_to"
    NO_SCHEDULE = "no_schedule"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class Redriven:
    """`failed` was redriven; `run` is the one that sends its events, or has sent them.

    `reason`: why nothing is sent to a reader who is not written to.
    """

    failed: Run
    result: RedriveResult
    run: Run | None = None
    reason: Reason | None = None
