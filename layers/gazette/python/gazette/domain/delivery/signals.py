"""What can happen to a run: said by a worker, the provider, the sweep or somebody who stops it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.delivery.run import Reason
from gazette.domain.feedback.experiment import EVERYBODYS, Variant
from gazette.domain.model import Window


class Policy(StrEnum):
    """What the adopter chose to do with a run whose outcome stays unknown."""

    RESEND = "resend"
    CARRY_OVER = "carry_over"
    ASSUME_SENT = "assume_sent"


@dataclass(frozen=True, slots=True)
class Claim:
    """A worker is about to call the provider.

    `variant`, `locale`, `categories`, `newest` and `left_out` tell what it is about to send
    (run.Run).
    """

    window: Window
    deadline: datetime
    nonce: str
    variant: Variant = EVERYBODYS
    locale: str = ""
    categories: tuple[str, ...] = ()
    newest: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Accepted:
    """The provider took this attempt's message."""

    attempt: int
    message_id: str


@dataclass(frozen=True, slots=True)
class RefusedForNow:
    """The provider surely refused the attempt and may take another: throttled, not connected.

    `retry_at`: not before then; None: as soon as anybody comes to it.
    """

    attempt: int
    detail: str = ""
    retry_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RefusedForGood:
    """The provider surely refused the attempt and would refuse it again."""

    attempt: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RefusedAccount:
    """The provider refuses everything now of the stream that this is of: nobody's attempt.

    `every_stream`: by definition it refuses those of all others too.
    """

    attempt: int
    detail: str = ""
    every_stream: bool = False


@dataclass(frozen=True, slots=True)
class NotAttempted:
    """The claimant gave the run back without having called the provider."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Uncertain:
    """The provider may have taken this attempt's message: time-out after write, reset, 5xx.

    `check_at`: when the grace period for evidence is over; None: when the sweep looks anyway.
    """

    attempt: int
    detail: str = ""
    check_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The claimant of this attempt can no longer be alive. `check_at`: as in Uncertain."""

    attempt: int
    check_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """The provider reported an event for this attempt: it took its message, some time ago.

    `attempt` None: the delivery event does not say which one.
    """

    attempt: int | None
    message_id: str


@dataclass(frozen=True, slots=True)
class GraceOver:
    """No evidence came in time. For `resend`, the channel that would have brought it is alive."""

    policy: Policy


@dataclass(frozen=True, slots=True)
class Skip:
    """There is nothing to send, or nobody to send it to."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Cancel:
    """Somebody no longer wants this run."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Carry:
    """The next run of the schedule takes this one's events over."""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Every event of it was in as many attempts with an unknown outcome as one may be in."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Something that a worker may have read before its claim has changed."""


SendOutcome = Accepted | RefusedForNow | RefusedForGood | RefusedAccount | Uncertain
"""What one call of the provider can come to. Each leads to a different act."""

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
