"""Signals to a run, from a worker, the provider, the sweep or a stop."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.delivery.run import Reason
from gazette.domain.feedback.experiment import DEFAULT_VARIANT, Variant
from gazette.domain.model import Window


class Policy(StrEnum):
    """The policy for a run whose outcome stays unknown (the `unknown_policy` setting)."""

    RESEND = "resend"
    CARRY_OVER = "carry_over"
    ASSUME_SENT = "assume_sent"


@dataclass(frozen=True, slots=True)
class Claim:
    """A signal that a worker is about to call the provider, at the instant `at`.

    `variant`, `locale`, `categories`, `newest`, `events`, `left_out` and `without` describe the
    email.
    `templates` and `templates_gone` name the versions of its templates (run.Run).
    """

    window: Window
    deadline: datetime
    nonce: str
    variant: Variant = DEFAULT_VARIANT
    locale: str = ""
    categories: tuple[str, ...] = ()
    newest: tuple[str, ...] = ()
    events: int | None = None
    left_out: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    templates: int = 0
    templates_gone: int = 0
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """A signal that the provider accepted the message of this attempt."""

    attempt: int
    message_id: str
    at: datetime | None = None
    """The time of acceptance; None until the worker reports it."""


@dataclass(frozen=True, slots=True)
class RefusedForNow:
    """A signal that the provider refused the attempt but may accept a later attempt.

    Examples are throttling and a failed connection. The message was certainly not sent.
    """

    attempt: int
    detail: str = ""
    retry_at: datetime | None = None
    """The earliest time of the next attempt; None for as soon as possible."""


@dataclass(frozen=True, slots=True)
class RefusedForGood:
    """A signal that the provider refused the attempt and would also refuse later attempts.

    The message was certainly not sent.
    """

    attempt: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RefusedAccount:
    """A signal that the provider refuses the whole stream for now.

    The refusal does not count as an attempt of the run.
    """

    attempt: int
    detail: str = ""
    every_stream: bool = False
    """True if the refusal also applies to all other streams."""


@dataclass(frozen=True, slots=True)
class NotAttempted:
    """A signal that the claimant released its claim without calling the provider."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Uncertain:
    """A signal that the provider may have accepted the message of this attempt.

    Examples are a time-out after the request was written, a connection reset and a 5xx response.
    """

    attempt: int
    detail: str = ""
    check_at: datetime | None = None
    """The end of the grace period for evidence; None to keep the current time."""


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """A signal that the claimant of this attempt is certainly gone."""

    attempt: int
    check_at: datetime | None = None
    """The end of the grace period for evidence; None to keep the current time."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Proof by a delivery event that the provider accepted this attempt's message."""

    attempt: int | None
    """The number of the attempt; None if the delivery event does not name it."""

    message_id: str
    at: datetime | None = None
    """The time of acceptance."""


@dataclass(frozen=True, slots=True)
class GraceOver:
    """A signal that no evidence arrived in the grace period.

    The policy `resend` requires proof that delivery events arrive.
    """

    policy: Policy


@dataclass(frozen=True, slots=True)
class Skip:
    """A signal that the run has no content to send, or that its reader gets no email."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Cancel:
    """A signal to cancel the run."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Carry:
    """A signal that the next run of the schedule takes over this run's events."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """A signal to give the run up, because too many attempts with its events have unknown outcomes.

    MAX_UNKNOWN_ATTEMPTS attempts with unknown outcomes included every event of the run.
    """


@dataclass(frozen=True, slots=True)
class Stop:
    """A signal that invalidates claims based on earlier reads, because the data has changed."""


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
