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
    """The times that keep a run from being sent twice.

    `settle_lag`: how far before now a window ends; longer than the longest event write plus clock
    skew. `send_timeout`: the longest call of the provider. `commit_margin`: the time that must be
    left of the invocation after the call. `clock_skew`: added to a claim's deadline.
    `evidence_grace`: how long after the deadline a delivery event may arrive. `max_lateness`: how
    long after its due time a digest may still be sent.
    """

    settle_lag: timedelta
    send_timeout: timedelta
    commit_margin: timedelta
    clock_skew: timedelta
    evidence_grace: timedelta
    max_lateness: timedelta


class WaitingFor(StrEnum):
    """What a requeued run waits for. `REMOVAL`: for nothing but another invocation."""

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
    """The result of one message: the run as it is stored, and when to try it again.

    `run`: if a later run takes over, that run (rule 16). `again_at`: None if the run has ended, or
    another worker or the sweep continues it; else `waiting_for` says what it waits for. `outcome`:
    of the attempt, if one was made. `excluded`: number of events that no email can show.
    `deferred`: number of events that wait because their category is on hold. `expired`: number of
    events that no email showed in time. `lapsed`: number of events that no email showed before they
    lapsed. `accepted_at`: when the provider accepted the email, if it
    did in this attempt. `permit_unused`: a permit was taken, and no email was sent with it.
    """

    run: Run
    again_at: datetime | None = None
    waiting_for: WaitingFor | None = None
    outcome: SendOutcome | None = None
    excluded: int = 0
    deferred: int = 0
    expired: int = 0
    lapsed: int = 0
    accepted_at: datetime | None = None
    permit_unused: bool = False


@dataclass(frozen=True, slots=True)
class Postponed:
    """A run that was requeued without being read, because no permit was near."""

    key: RunKey
    again_at: datetime


@dataclass(frozen=True, slots=True)
class Awaited:
    """The items of a run's content sources are not there: when it looks again.

    `fetch`: what to ask them now; None if they were asked for its sake before.
    """

    again_at: datetime
    fetch: "Fetch | None" = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a message ends without an email, as `prepare` decides it.

    `delivery`: the result once everything is stored. `changes`: of runs, to be stored first.
    `starts`: the run of `delivery` is new; it is created before the changes. `over`: events to
    remove and count after them. `may_have_been_sent`: the ids of those that an earlier attempt may
    have sent. `fetch`: what to ask content sources, before all of that.
    """

    delivery: Delivery
    changes: Sequence[Change] = ()
    starts: bool = False
    over: Sequence[StoredEvent] = ()
    may_have_been_sent: Collection[str] = ()
    fetch: "Fetch | None" = None
