"""The context, the limits and the result of a delivery."""

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
from gazette.steps.delivery.edition import EditionContext
from gazette.steps.delivery.pacing import Pacing


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
    """What a requeued run waits for."""

    PAUSE_OVER = "pause_over"
    COLLECTED = "collected"
    OLDER_RUN = "older_run"
    PERMIT = "permit"
    NEXT_DAY = "next_day"
    SENDING_RESUMED = "sending_resumed"


@dataclass(frozen=True, slots=True)
class Delivery:
    """The result of one message: the run as it is stored, and when to try it again.

    `run`: if a later run takes over, that run (rule 16). `again_at`: None if the run has ended, or
    another worker or the sweep continues it; else `waiting_for` says what it waits for. `outcome`:
    of the attempt, if one was made. `excluded`: number of events that no email can show.
    `deferred`: number of events that wait because their category is on hold. `expired`: number of
    events that no email showed in time. `accepted_at`: when the provider accepted the email, if it
    did in this attempt.
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
    """The tables, the templates and the provider that turn runs into emails.

    `draw_nonce` returns a unique value; `random` returns a number from 0 to 1. `installation` names
    these tables, so that delivery events of another installation are told apart.
    """

    runs: Runs
    subscribers: Subscribers
    suppressions: Suppressions
    events: EventReader
    held_categories: HeldCategories
    batches: Batches
    editing: EditionContext
    link_maker: LinkMaker
    mailer: Mailer
    pacing: Pacing
    clock: Clock
    draw_nonce: Callable[[], str]
    random: Callable[[], float]
    list_id: str
    installation: str
    limits: DeliveryLimits
