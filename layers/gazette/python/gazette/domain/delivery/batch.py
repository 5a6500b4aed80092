"""The batch of a slot: all its runs, viewed, counted and cancelled together. Pure."""

from dataclasses import dataclass
from datetime import datetime

from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.model import RunKey


@dataclass(frozen=True, slots=True)
class Batch:
    """The runs that are due in the slot that begins at `slot`.

    `started_at`: when fan-out first found a schedule in the slot. `cancelled_at`: from when on no
    run of it is claimed. Each is None if it has not happened.
    """

    slot: datetime
    started_at: datetime | None = None
    cancelled_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class BatchRun:
    """A run as its batch counts it. A run that is being sent still counts as pending."""

    key: RunKey
    status: Status
    reason: Reason


def batch_run(run: Run) -> BatchRun:
    """Return the run as its batch counts it."""
    if run.status in {Status.PENDING, Status.SENDING}:
        return BatchRun(run.key, Status.PENDING, Reason.DUE)
    return BatchRun(run.key, run.status, run.reason)
