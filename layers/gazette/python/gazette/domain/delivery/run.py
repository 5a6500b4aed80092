"""The one delivery of one digest: its status, its reason, and what a claim has fixed."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from gazette.domain.errors import UnreadableRow
from gazette.domain.feedback.experiment import EVERYBODYS, Variant
from gazette.domain.model import Placed, RunKey, Window
from gazette.domain.stored import is_known
from gazette.domain.subscribers.subscriber import Erased, Reader, Subscriber


class Status(StrEnum):
    """Where a run stands. `sent`, `failed`, `skipped` and `cancelled` are final.

    One that this version does not know is neither final nor claimed: whatever comes after it waits.
    """

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
    """Why a run has its status: what `explain` and the delivery events print.

    Where this version does not know it, the status alone counts.
    """

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
    GIVEN_UP = "given_up"
    SUPERSEDED = "superseded"
    EMPTY = "empty"
    EXPIRED = "expired"
    CATEGORY_HELD = "category_held"
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
    """Why nothing is sent to somebody who is not an active subscriber.

    Raises UnreadableRow where this version does not know what the status means.
    """
    match reader:
        case Subscriber():
            if not is_known(reader.status):
                raise UnreadableRow("subscribers", (reader.user_id,), "its status is not known")
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
    the last refusal or unknown outcome. `variant`, `locale` and `categories` are what the last
    claim was about to send, `newest` names those of its events that were stored last (`newest_of`),
    and `left_out` those of its window that it did not show, because an earlier attempt with an
    unknown outcome should have shown them and had not.
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
    newest: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether somebody still has to act on it: what is carried waits for its successor."""
        is_carried = self.reason is Reason.CARRIED and is_known(self.status)
        return not self.status.is_final and not is_carried

    @property
    def is_unclaimed(self) -> bool:
        """Whether nobody has claimed it, and it may not have gone out: so it can be superseded."""
        return self.status in {Status.PENDING, Status.RETRYING} and not self.uncertain

    def knows(self, attempt: int | None) -> bool:
        """Whether such an attempt was claimed, so that the window says what it held."""
        return attempt is not None and 1 <= attempt <= self.attempt and self.window is not None

    def has_taken(self, stored_at: datetime) -> bool:
        """Whether it was claimed with a window over that instant, and was sent, or may be."""
        may_have_gone = self.status in _TAKING or bool(self.uncertain)
        return may_have_gone and self.window is not None and self.window.holds(stored_at)

    def has_shown(self, event_id: str, stored_at: datetime) -> bool:
        """Whether what it took had this event in it.

        What was stored well before the window ended was there to be read. Of what was stored last,
        the write may have come after the read: the row says what was read.
        """
        if self.window is None or not self.has_taken(stored_at):
            return False
        name = name_of(event_id)
        if stored_at > self.window.until - STILL_WRITTEN:
            return name in self.newest
        return name not in self.left_out

    def has_passed_over(self, event_id: str, stored_at: datetime) -> bool:
        """Whether what it took should have had this event in it, and had not."""
        return self.has_taken(stored_at) and not self.has_shown(event_id, stored_at)

    def is_claimed_like(self, claimed: "Run") -> bool:
        """Whether this is what `claimed` became: its claim stands, whatever else has changed."""
        return self.status is Status.SENDING and bool(self.nonce) and self.nonce == claimed.nonce

    @property
    def closes_a_window(self) -> bool:
        """Whether it was sent, and says what with: the next window begins behind it."""
        return self.status is Status.SENT and self.window is not None

    def ends_chain(self, of: RunKey, holding: datetime | None) -> bool:
        """Whether nobody who looks back from the run `of`, or for an instant, needs older ones."""
        is_behind = holding is None or (self.window is not None and self.window.until < holding)
        return self.closes_a_window and self.key != of and is_behind

    @property
    def may_have_gone(self) -> bool:
        """Whether it was not sent as far as anybody knows, and yet may have been."""
        return bool(self.uncertain) and self.status is not Status.SENT


_TAKING = {Status.SENT, Status.SENDING, Status.UNKNOWN}

STILL_WRITTEN = timedelta(minutes=2)
"""For so long a write may be under way: longer than any function runs that writes events."""


def newest_of(events: Iterable[Placed], window: Window) -> tuple[str, ...]:
    """Names what was stored so late in a window that not all of it may have been read."""
    return tuple(
        sorted(
            name_of(placed.event.id)
            for placed in events
            if placed.stored_at > window.until - STILL_WRITTEN
        )
    )


def name_of(event_id: str) -> str:
    """A short name for an event among the few of a reader that a run has to name."""
    return hashlib.sha256(event_id.encode()).hexdigest()[:8]


BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
"""Before everything that was ever stored."""


def sent_until(chain: Iterable[Run]) -> datetime:
    """Up to where the runs of a schedule have been sent: the greatest end of a sent window."""
    return max(
        (run.window.until for run in chain if run.status is Status.SENT and run.window),
        default=BEGINNING,
    )


MAX_UNKNOWN_ATTEMPTS = 2
"""Attempts with an unknown outcome that may hold one event: after so many it is given up."""


def given_up_until(chain: Iterable[Run]) -> datetime:
    """Up to where every event was in as many attempts with an unknown outcome as one may be in.

    All windows of a schedule begin where the last sent one ended, so an attempt with an unknown
    outcome holds whatever was stored up to its end, and was not given up before.
    """
    ends = sorted(run.window.until for run in chain if run.window for _ in run.uncertain)
    return ends[-MAX_UNKNOWN_ATTEMPTS] if len(ends) >= MAX_UNKNOWN_ATTEMPTS else BEGINNING


def is_given_up(stored_at: datetime, chain: Iterable[Run]) -> bool:
    """Whether what was stored then goes out no more, and no email is known to have had it."""
    runs = tuple(chain)
    is_sent = any(
        run.status is Status.SENT and run.window and run.window.holds(stored_at) for run in runs
    )
    return stored_at <= given_up_until(runs) and not is_sent


def settled_until(chain: Iterable[Run]) -> datetime:
    """Up to where nothing is sent any more: it was, or it was given up."""
    runs = tuple(chain)
    return max(sent_until(runs), given_up_until(runs))


_NOT_SENT = {
    Status.PENDING,
    Status.RETRYING,
    Status.FAILED,
    Status.SKIPPED,
    Status.CANCELLED,
}
"""Of any other, also of one that is not known, an attempt is being made, or was."""


def may_have_gone_until(chain: Iterable[Run]) -> datetime:
    """Up to where they were sent, are being sent, or may have been: nothing up to here moves."""
    return max(
        (
            run.window.until
            for run in chain
            if run.window and (run.status not in _NOT_SENT or run.uncertain)
        ),
        default=BEGINNING,
    )
