"""What a delivery needs, and what it comes to."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import SendOutcome
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.control import HeldCategories
from gazette.domain.ports.ledgers import Batches, Runs
from gazette.domain.ports.mail import Mailer
from gazette.domain.ports.rendering import LinkMaker
from gazette.domain.ports.stores import EventReader, Subscribers, Suppressions
from gazette.steps.delivery.edition import Desk
from gazette.steps.delivery.pacing import Pacing


@dataclass(frozen=True, slots=True)
class DeliveryLimits:
    """The times that keep a run from being sent twice.

    `settle_lag`: how far a window ends before now, longer than the longest event write plus clock
    skew. `send_timeout`: the longest that a call of the provider takes. `commit_margin`: what must
    be left of the invocation after it. `clock_skew`: added to a claim's deadline. `evidence_grace`:
    how long after that the provider's own delivery event may come. `max_lateness`: how long after
    it was due a digest still goes out.
    """

    settle_lag: timedelta
    send_timeout: timedelta
    commit_margin: timedelta
    clock_skew: timedelta
    evidence_grace: timedelta
    max_lateness: timedelta


class WaitingFor(StrEnum):
    """What a run waits for that is requeued."""

    PAUSE_OVER = "pause_over"
    COLLECTED = "collected"
    OLDER_RUN = "older_run"
    PERMIT = "permit"
    NEXT_DAY = "next_day"
    SENDING_RESUMED = "sending_resumed"


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of one message: the run as it is stored, and when it should be tried again.

    `run`: the one that it was left to, where that has a later number (rule 16).
    `again_at` None: it has ended, or somebody else, or the sweep, goes on with it; else
    `waiting_for` is what for. `outcome`: of the attempt, where one was made. `excluded`: how many
    events no email can show; `deferred`: how many wait because their category is on hold;
    `expired`: how many no email showed in time. `accepted_at`: when the provider had taken it, if
    it did in this attempt.
    """

    run: Run
    again_at: datetime | None = None
    waiting_for: WaitingFor | None = None
    outcome: SendOutcome | None = None
    excluded: int = 0
    deferred: int = 0
    expired: int = 0
    accepted_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryContext:
    """The tables, the desk and the provider by which runs become emails.

    `draw_nonce` returns what nobody else draws; `random` a number from 0 to 1. `installation`
    names these tables, so that nobody takes a delivery event of other ones for theirs.
    """

    runs: Runs
    subscribers: Subscribers
    suppressions: Suppressions
    events: EventReader
    held_categories: HeldCategories
    batches: Batches
    desk: Desk
    link_maker: LinkMaker
    mailer: Mailer
    pacing: Pacing
    clock: Clock
    draw_nonce: Callable[[], str]
    random: Callable[[], float]
    list_id: str
    installation: str
    limits: DeliveryLimits
