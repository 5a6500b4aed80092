"""The batch of all runs in a slot, which operators view, count and cancel together. Pure."""

from dataclasses import dataclass
from datetime import datetime

from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.model import RunKey


@dataclass(frozen=True, slots=True)
class Batch:
    """All runs that are due in the slot that begins at `slot`."""

    slot: datetime
    started_at: datetime | None = None
    """The time at which fan-out found the first schedule in the slot; None before that."""

    cancelled_at: datetime | None = None
    """The time since which no run of the batch can be claimed; None if the batch was not
    cancelled."""


@dataclass(frozen=True, slots=True)
class BatchRun:
    """A run, as its batch counts it. A run that is being sent still counts as pending."""

    key: RunKey
    status: Status
    reason: Reason


def batch_run(run: Run) -> BatchRun:
    """Return the run as its batch counts it."""
    if run.status in {Status.PENDING, Status.SENDING}:
        return BatchRun(run.key, Status.PENDING, Reason.DUE)
    return BatchRun(run.key, run.status, run.reason)
