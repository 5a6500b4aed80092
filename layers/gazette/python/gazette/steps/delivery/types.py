"""The limits and the results of a delivery."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import SendOutcome
from gazette.domain.model import RunKey, StoredEvent
from gazette.steps.runs import Change

if TYPE_CHECKING:
    from gazette.domain.content import Fetch


@dataclass(frozen=True, slots=True)
class DeliveryLimits:
    """The times that prevent a run from being sent twice."""

    settle_lag: timedelta
    """The time between the end of a window and now.

    Longer than the longest event write plus clock skew.
    """

    send_timeout: timedelta
    """The longest call to the provider."""

    commit_margin: timedelta
    """The time of the invocation that must remain after the call."""

    clock_skew: timedelta
    """The margin that is added to a claim's deadline."""

    evidence_grace: timedelta
    """The time after the deadline in which a delivery event may arrive."""

    max_lateness: timedelta
    """The time after its due time in which a digest may still be sent."""


class WaitingFor(StrEnum):
    """The condition that a requeued run waits for. `REMOVAL`: only for another invocation."""

    PAUSE_OVER = "pause_over"
    COLLECTED = "collected"
    OLDER_RUN = "older_run"
    PERMIT = "permit"
    NEXT_DAY = "next_day"
    SENDING_RESUMED = "sending_resumed"
    CONTENT = "content"
    REMOVAL = "removal"


@dataclass(frozen=True, slots=True)
class Delivery:
    """The result of one message: the run as stored, and the time of the next try."""

    run: Run
    """The run of the message, or the later run that takes over (rule 16)."""

    again_at: datetime | None = None
    """None if the run has ended, or if another worker or the sweep continues it."""

    waiting_for: WaitingFor | None = None
    """The condition that the run waits for, if `again_at` is set."""

    outcome: SendOutcome | None = None
    """The outcome of the attempt, if one was made."""

    excluded: int = 0
    """The number of events that no email can show."""

    deferred: int = 0
    """The number of events that wait because their category is on hold."""

    expired: int = 0
    """The number of events that no email showed in time."""

    lapsed: int = 0
    """The number of events that no email showed before they lapsed."""

    accepted_at: datetime | None = None
    """The time at which the provider accepted the email, if it did in this attempt."""

    permit_unused: bool = False
    """A permit was taken, but no email was sent with it."""


@dataclass(frozen=True, slots=True)
class Postponed:
    """A run that was requeued without being read, because no permit was near."""

    key: RunKey
    again_at: datetime


@dataclass(frozen=True, slots=True)
class Awaited:
    """The missing items of a run's content sources."""

    again_at: datetime
    """The time at which the run checks again."""

    fetch: "Fetch | None" = None
    """The fetch to queue now; None if it was queued for the run before."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a message without an email, as `prepare` decides."""

    delivery: Delivery
    """The result once everything is stored."""

    changes: Sequence[Change] = ()
    """The changes of runs, to be stored first."""

    starts: bool = False
    """The run of `delivery` is new. It is created before the changes."""

    over: Sequence[StoredEvent] = ()
    """Expired and lapsed events to remove and count after the changes."""

    may_have_been_sent: Collection[str] = ()
    """The ids of events in `over` that an earlier attempt may have sent."""

    fetch: "Fetch | None" = None
    """The fetch to queue before all of that."""
