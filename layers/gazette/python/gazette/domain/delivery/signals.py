"""What can happen to a run: signals of a worker, the provider, the sweep or a stop."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.delivery.run import Reason
from gazette.domain.feedback.experiment import DEFAULT_VARIANT, Variant
from gazette.domain.model import Window


class Policy(StrEnum):
    """What to do with a run whose outcome stays unknown (setting `unknown_policy`)."""

    RESEND = "resend"
    CARRY_OVER = "carry_over"
    ASSUME_SENT = "assume_sent"


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker is about to call the provider, at the instant `at`.

    `variant`, `locale`, `categories`, `newest` and `left_out` describe the email, `templates` and
    `templates_gone` what it was made with (run.Run).
    """

    window: Window
    deadline: datetime
    nonce: str
    variant: Variant = DEFAULT_VARIANT
    locale: str = ""
    categories: tuple[str, ...] = ()
    newest: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    templates: int = 0
    templates_gone: int = 0
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """The provider accepted this attempt's message. `at`: when; None until the worker says so."""

    attempt: int
    message_id: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RefusedForNow:
    """The provider certainly refused the attempt, but may accept another: throttled, no connection.

    `retry_at`: the earliest next attempt; None: as soon as possible.
    """

    attempt: int
    detail: str = ""
    retry_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RefusedForGood:
    """The provider certainly refused the attempt and would refuse it again."""

    attempt: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RefusedAccount:
    """The provider refuses the whole stream for now; it does not count as an attempt of the run.

    `every_stream`: by definition the refusal concerns all other streams too.
    """

    attempt: int
    detail: str = ""
    every_stream: bool = False


@dataclass(frozen=True, slots=True)
class NotAttempted:
    """The claimant gave the claim back without a call of the provider."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Uncertain:
    """The provider may have accepted this attempt's message: time-out after write, reset, 5xx.

    `check_at`: when the grace period for evidence ends; None: leave the time as it is.
    """

    attempt: int
    detail: str = ""
    check_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The claimant of this attempt is certainly gone. `check_at`: as in Uncertain."""

    attempt: int
    check_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A delivery event proves that the provider accepted this attempt's message.

    `attempt` None: the delivery event does not name the attempt. `at`: when it accepted it.
    """

    attempt: int | None
    message_id: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class GraceOver:
    """No evidence arrived in time. For `resend`, delivery events are proven to arrive."""

    policy: Policy


@dataclass(frozen=True, slots=True)
class Skip:
    """There is nothing to send, or no reader to send it to."""

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
    """Something that a worker reads before its claim has changed."""


SendOutcome = Accepted | RefusedForNow | RefusedForGood | RefusedAccount | Uncertain
"""The possible outcomes of one call of the provider. Each is handled differently."""

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
