"""What a redrive of a dead letter will do, and why, for each that names a run."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.errors import UnreadableRow
from gazette.domain.model import RunKey
from gazette.domain.run import Reason, Run, Status
from gazette.steps.delivery import Awaited
from gazette.steps.rehearsing import Rehearsing, rehearse


class Redrive(StrEnum):
    """What a redrive will do.

    Only `sends` and `waits` lead to an email; `too_late`: its events go with the next one.
    """

    SENDS = "sends"
    WAITS = "waits"
    ALREADY_SENT = "already_sent"
    UNKNOWN = "unknown"
    BEING_SENT = "being_sent"
    NOT_WANTED = "not_wanted"
    TOO_LATE = "too_late"
    NO_SUCH_RUN = "no_such_run"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a redrive of one dead letter would do now.

    `run`: as it would be then; None where there is none. `awaited` and `again_at`: for one that
    waits, what for, and when it is tried again.
    """

    redrive: Redrive
    run: Run | None = None
    awaited: Awaited | None = None
    again_at: datetime | None = None


_BY_STATUS = {
    Status.SENT: Redrive.ALREADY_SENT,
    Status.UNKNOWN: Redrive.UNKNOWN,
    Status.SENDING: Redrive.BEING_SENT,
    Status.FAILED: Redrive.NOT_WANTED,
    Status.SKIPPED: Redrive.NOT_WANTED,
    Status.CANCELLED: Redrive.NOT_WANTED,
    Status.PENDING: Redrive.WAITS,
    Status.RETRYING: Redrive.WAITS,
}


def foresee(key: RunKey, *, by: Rehearsing) -> Foreseen:
    """What a redrive of a message with `key` would do now, from `generate-dead` or `resend-dead`.

    It is what the step of both would do, as far as that is in the tables: whether a template can
    show the events and the provider takes the email is not foreseen. Each is looked at as if it
    came back alone; of two of one run, the second finds it sent. Reads only.
    """
    try:
        rehearsed = rehearse(key, by=by)
    except UnreadableRow:
        return Foreseen(Redrive.UNREADABLE)
    if rehearsed is None:
        return Foreseen(Redrive.NO_SUCH_RUN)
    run, again_at = rehearsed.delivery.run, rehearsed.delivery.again_at
    if rehearsed.would_send:
        return Foreseen(Redrive.SENDS, run)
    if again_at is not None:
        return Foreseen(Redrive.WAITS, run, rehearsed.delivery.awaited, again_at)
    if (run.status, run.reason) == (Status.SKIPPED, Reason.TOO_LATE):
        return Foreseen(Redrive.TOO_LATE, run)
    return Foreseen(_BY_STATUS.get(run.status, Redrive.UNREADABLE), run)
