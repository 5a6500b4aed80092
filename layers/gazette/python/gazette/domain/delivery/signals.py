"""Signals to a run, from a worker, the provider, the sweep or a stop."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.delivery.run import Reason
from gazette.domain.feedback.experiment import DEFAULT_VARIANT, Variant
from gazette.domain.model import Window


class Policy(StrEnum):
    """The policy for a run whose outcome stays unknown (setting `unknown_policy`)."""

    RESEND = "resend"
    CARRY_OVER = "carry_over"
    ASSUME_SENT = "assume_sent"


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker is about to call the provider, at the instant `at`.

    `variant`, `locale`, `categories`, `newest`, `left_out` and `without` describe the email.
    `templates` and `templates_gone` name the versions of its templates (run.Run).
    """

    window: Window
    deadline: datetime
    nonce: str
    variant: Variant = DEFAULT_VARIANT
    locale: str = ""
    categories: tuple[str, ...] = ()
    newest: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    templates: int = 0
    templates_gone: int = 0
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """The provider accepted this attempt's message."""

    attempt: int
    message_id: str
    at: datetime | None = None
    """The time of acceptance; None until the worker reports it."""


@dataclass(frozen=True, slots=True)
class RefusedForNow:
    """The provider certainly refused the attempt, but may accept another: throttled, no
    connection."""

    attempt: int
    detail: str = ""
    retry_at: datetime | None = None
    """The earliest next attempt. None: as soon as possible."""


@dataclass(frozen=True, slots=True)
class RefusedForGood:
    """The provider certainly refused the attempt and would refuse it again."""

    attempt: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RefusedAccount:
    """The provider refuses the whole stream for now. It does not count as an attempt of the run."""

    attempt: int
    detail: str = ""
    every_stream: bool = False
    """The refusal applies to all other streams too."""


@dataclass(frozen=True, slots=True)
class NotAttempted:
    """The claimant gave the claim back without a call of the provider."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Uncertain:
    """The provider may have accepted this attempt's message: time-out after write, reset, 5xx."""

    attempt: int
    detail: str = ""
    check_at: datetime | None = None
    """The end of the grace period for evidence. None: leave the time unchanged."""


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The claimant of this attempt is certainly gone."""

    attempt: int
    check_at: datetime | None = None
    """The end of the grace period for evidence. None: leave the time unchanged."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A delivery event proves that the provider accepted this attempt's message."""

    attempt: int | None
    """None if the delivery event does not name the attempt."""

    message_id: str
    at: datetime | None = None
    """The time of acceptance."""


@dataclass(frozen=True, slots=True)
class GraceOver:
    """No evidence arrived in time.

    The policy `resend` requires proof that delivery events arrive.
    """

    policy: Policy


@dataclass(frozen=True, slots=True)
class Skip:
    """The run has nothing to send, or its reader gets no email."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Cancel:
    """The run is no longer wanted."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Carry:
    """The next run of the schedule takes over this run's events."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Every event of the run was in MAX_UNKNOWN_ATTEMPTS attempts with unknown outcomes."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A value that a worker reads before its claim has changed."""


SendOutcome = Accepted | RefusedForNow | RefusedForGood | RefusedAccount | Uncertain
"""The possible outcomes of one call to the provider. Each is handled differently."""

Signal = (
    SendOutcome
    | Claim
    | NotAttempted
    | DeadlinePassed
    | Evidence
    | GraceOver
    | Skip
    | Cancel
    | Carry
    | GiveUp
    | Stop
)
