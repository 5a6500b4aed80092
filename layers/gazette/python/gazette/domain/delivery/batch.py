"""The batch of a slot: all its runs, which operators view, count and cancel together. Pure."""

from dataclasses import dataclass
from datetime import datetime

from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.model import RunKey


@dataclass(frozen=True, slots=True)
class Batch:
    """The runs that are due in the slot that begins at `slot`."""

    slot: datetime
    started_at: datetime | None = None
    """The time at which fan-out found the first schedule in the slot; None if it has not."""

    cancelled_at: datetime | None = None
    """The time from which none of its runs is claimed; None if it was not cancelled."""


@dataclass(frozen=True, slots=True)
class BatchRun:
    """A run in the counts of its batch. A run that is being sent still counts as pending."""

    key: RunKey
    status: Status
    reason: Reason


def batch_run(run: Run) -> BatchRun:
    """Return the run for the counts of its batch."""
    if run.status in {Status.PENDING, Status.SENDING}:
        return BatchRun(run.key, Status.PENDING, Reason.DUE)
    return BatchRun(run.key, run.status, run.reason)
