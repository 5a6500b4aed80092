"""The results of a delivery."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import SendOutcome
from gazette.domain.model import RunKey, StoredEvent
from gazette.steps.runs import Change

if TYPE_CHECKING:
    from gazette.domain.content.ports import Fetch


class WaitingFor(StrEnum):
    """The reason why a requeued run waits.

    `REMOVAL` means that another invocation must continue to remove events. `QUIET_HOURS` means that
    the sweep queues the run at their end, like every run that collects for hours.
    """

    PAUSE_OVER = "pause_over"
    COLLECTED = "collected"
    QUIET_HOURS = "quiet_hours"
    OLDER_RUN = "older_run"
    PERMIT = "permit"
    NEXT_DAY = "next_day"
    SENDING_RESUMED = "sending_resumed"
    CONTENT = "content"
    REMOVAL = "removal"


@dataclass(slots=True)
class EventCounts:
    """The numbers of a message's events that were not sent, by reason."""

    excluded: int = 0
    """The number of events that cannot be rendered."""

    deferred: int = 0
    """The number of events that are deferred because their category is on hold."""

    expired: int = 0
    """The number of events that expired before they were included in an email."""

    lapsed: int = 0
    """The number of events that lapsed before they were included in an email."""

    seen: int = 0
    """The number of events that were left out because the reader had seen their entity."""

    withdrawn: int = 0
    """The number of events that were left out because of a withdrawal."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """The result of delivering one message: the stored run, and the time of the next try."""

    run: Run
    """The message's run, or the later run that takes over (rule 16)."""

    again_at: datetime | None = None
    """The time of the next try.

    None if the run has ended, or another worker or the sweep continues it.
    """

    waiting_for: WaitingFor | None = None
    """The reason why the run waits, if `again_at` is set."""

    outcome: SendOutcome | None = None
    """The outcome of the attempt, if one was made."""

    unsent: EventCounts = field(default_factory=EventCounts)
    accepted_at: datetime | None = None
    """The time at which the provider accepted the email in this attempt, or None."""

    permit_unused: bool = False
    """True if a permit was taken but not used to send an email."""

    queued_by_sweep: bool = False
    """True if the sweep queues the run before the next try, so that no message is required."""

    had_ended: bool = False
    """True if the run had ended before this message, which changed nothing."""


@dataclass(frozen=True, slots=True)
class Postponed:
    """A run that was requeued without being read, because no permit would be available soon."""

    key: RunKey
    again_at: datetime


@dataclass(frozen=True, slots=True)
class Ending:
    """The decision of `prepare` that no email is sent for a message now."""

    delivery: Delivery
    """The result of the message, after all changes are stored."""

    changes: Sequence[Change] = ()
    """Changes to runs, which must be stored before the result is returned."""

    starts: bool = False
    """True if the run of `delivery` is new. It is created before the changes are stored."""

    over: Sequence[StoredEvent] = ()
    """Expired, lapsed, withdrawn and seen events, which are removed and counted before the run
    ends."""

    partly_over: Sequence[StoredEvent] = ()
    """Bodies of happenings, which are removed from their rows before anything else."""

    may_have_been_sent: Collection[str] = ()
    """The ids of events in `over` that an earlier attempt may have sent."""

    fetch: "Fetch | None" = None
    """The fetch to queue before any change is stored."""
