"""The one delivery of one digest: its status, its reason, and what a claim has fixed."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from gazette.domain.experiment import EVERYBODYS, Variant
from gazette.domain.model import RunKey, Window
from gazette.domain.subscriber import Erased, Reader, Subscriber


class Status(StrEnum):
    """Where a run stands. `sent`, `failed`, `skipped` and `cancelled` are final."""

    PENDING = "pending"
    SENDING = "sending"
    RETRYING = "retrying"
    UNKNOWN = "unknown"
    SENT = "sent"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """True where only evidence of acceptance still moves the run."""
        return self in {Status.SENT, Status.FAILED, Status.SKIPPED, Status.CANCELLED}


class Reason(StrEnum):
    """Why a run has its status: what `explain` and the reports print."""

    DUE = "due"
    CLAIMED = "claimed"
    ACCEPTED = "accepted"
    EVIDENCE = "evidence"
    ASSUMED = "assumed"
    REFUSED_FOR_NOW = "refused_for_now"
    REFUSED_FOR_GOOD = "refused_for_good"
    REFUSED_ACCOUNT = "refused_account"
    ATTEMPTS_EXHAUSTED = "attempts_exhausted"
    NOT_ATTEMPTED = "not_attempted"
    UNCERTAIN = "uncertain"
    DEADLINE_PASSED = "deadline_passed"
    POLICY_RESEND = "policy_resend"
    CARRIED = "carried"
    CARRIED_INTO = "carried_into"
    SUPERSEDED = "superseded"
    EMPTY = "empty"
    EXPIRED = "expired"
    BRAKED = "braked"
    TOO_LATE = "too_late"
    BATCH_CANCELLED = "batch_cancelled"
    PREFERENCES_CHANGED = "preferences_changed"
    DAILY_CAP = "daily_cap"
    UNSUBSCRIBED = "unsubscribed"
    SUPPRESSED = "suppressed"
    DORMANT = "dormant"
    ERASED = "erased"
    UNKNOWN_SUBSCRIBER = "unknown_subscriber"


def why_not_sent(reader: Reader) -> Reason:
    """Why nothing is sent to somebody who is not an active subscriber."""
    match reader:
        case Subscriber():
            return Reason(reader.status.value)
        case Erased():
            return Reason.ERASED
        case None:
            return Reason.UNKNOWN_SUBSCRIBER


@dataclass(frozen=True, slots=True)
class Run:
    """The one delivery of one digest.

    `attempt` counts claims and never goes back; `refusals` counts those that the provider
    refused; `uncertain` holds the attempts that it may have accepted. `epoch` is raised by
    whoever stops the run, so that a claim made on what was read before the stop fails. `until`
    is fixed by the first claim; `nonce` belongs to the claim that wrote it; `deadline` is the
    instant before which nobody but the claimant may act. `check_at` is when the sweep looks;
    `retry_at` is before when a refused run is not sent again. `overtaken`: something that stops or
    changes it came after a claim, so too late for that. `detail` is the provider's own code for
    the last refusal or doubt. `variant`, `locale` and `categories` are what the last claim was
    about to send.
    """

    key: RunKey
    due_at: datetime
    check_at: datetime
    status: Status = Status.PENDING
    reason: Reason = Reason.DUE
    attempt: int = 0
    refusals: int = 0
    epoch: int = 0
    uncertain: frozenset[int] = frozenset()
    resent: bool = False
    overtaken: bool = False
    retry_at: datetime | None = None
    window: Window | None = None
    deadline: datetime | None = None
    nonce: str = ""
    message_id: str = ""
    detail: str = ""
    variant: Variant = EVERYBODYS
    locale: str = ""
    categories: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether somebody still has to act on it: what is carried waits for its successor."""
        return not self.status.is_final and self.reason is not Reason.CARRIED

    def is_claimed_like(self, claimed: "Run") -> bool:
        """Whether this is what `claimed` became: its claim stands, whatever else has changed."""
        return self.status is Status.SENDING and bool(self.nonce) and self.nonce == claimed.nonce

    @property
    def may_have_gone(self) -> bool:
        """Whether it was not sent as far as anybody knows, and yet may have been."""
        return bool(self.uncertain) and self.status is not Status.SENT


BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
"""Before everything that was ever stored."""


def sent_until(chain: Iterable[Run]) -> datetime:
    """Up to where the runs of a schedule have been sent: the greatest end of a sent window."""
    return max(
        (run.window.until for run in chain if run.status is Status.SENT and run.window),
        default=BEGINNING,
    )


def may_have_gone_until(chain: Iterable[Run]) -> datetime:
    """Up to where they were sent, are being sent, or may have been: nothing up to here moves."""
    return max(
        (
            run.window.until
            for run in chain
            if run.window
            and (run.status in {Status.SENT, Status.SENDING, Status.UNKNOWN} or run.uncertain)
        ),
        default=BEGINNING,
    )
