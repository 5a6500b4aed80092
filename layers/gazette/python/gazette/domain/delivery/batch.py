"""A batch, which contains all runs in a slot. Operators view, count and cancel these runs together.
Pure."""

from dataclasses import dataclass
from datetime import datetime

from gazette.domain.delivery.run import Reason, Status
from gazette.domain.model import RunKey


@dataclass(frozen=True, slots=True)
class Batch:
    """All runs that are due in the slot that begins at `slot`."""

    slot: datetime
    started_at: datetime | None = None
    """The time at which fan-out found the first schedule in the slot; None before that."""

    cancelled_at: datetime | None = None
    """The time at which the batch was cancelled; None if it was not. Runs of a cancelled batch
    cannot be claimed."""


@dataclass(frozen=True, slots=True)
class BatchRun:
    """A run in the counts of its batch. A run that is being sent counts as pending."""

    key: RunKey
    status: Status
    reason: Reason
