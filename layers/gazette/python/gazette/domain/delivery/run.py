"""A run: its status, the reason, and the values that its claim fixed."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TypeGuard

from gazette.domain.errors import UnreadableRow
from gazette.domain.feedback.experiment import DEFAULT_VARIANT, Variant
from gazette.domain.model import DAILY, RunKey, StoredEvent, Window
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.stored import is_known
from gazette.domain.subscribers.subscriber import Erased, Reader, Subscriber
from gazette.domain.window.briefs import StoredBrief


class Status(StrEnum):
    """The status of a run. `sent`, `failed`, `skipped` and `cancelled` are final.

    A status that this version does not know is neither final nor claimed, and later runs wait for
    it.
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
        """Return True if only evidence of acceptance can still change the run."""
        return self in {Status.SENT, Status.FAILED, Status.SKIPPED, Status.CANCELLED}


class Reason(StrEnum):
    """The reason for the status of a run, as `explain` prints it.

    If this version does not know the reason, only the status counts.
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
    NOTHING_NEW = "nothing_new"
    NO_CONTENT = "no_content"
    NOTHING_WAITED = "nothing_waited"
    EXPIRED = "expired"
    LAPSED = "lapsed"
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


def receives(reader: Reader, key: RunKey) -> TypeGuard[Subscriber]:
    """Return True if the reader's status allows sending the run."""
    if not isinstance(reader, Subscriber):
        return False
    return reader.receives_critical if key.is_critical else reader.receives_email


def why_not_sent(reader: Reader) -> Reason:
    """Return the reason for which a reader who is not an active subscriber gets no email.

    Raises UnreadableRow if this version does not know the status.
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
class Head:
    """The place where a chain may end: all runs up to `sequence` have ended for good
    (chain.head_for).
    """

    sequence: int
    sent_until: datetime
    """The time up to which their events were sent."""


@dataclass(frozen=True, slots=True)
class Run:
    """The delivery of one email.

    The times `created_at`, `claimed_at` and `sent_at`, and the description of the last email
    (`variant`, `locale`, `categories`), are for display only. They are None or empty in rows of
    older versions.
    """

    key: RunKey
    due_at: datetime
    check_at: datetime
    """The time at which the sweep checks the run."""

    created_at: datetime | None = None
    status: Status = Status.PENDING
    reason: Reason = Reason.DUE
    attempt: int = 0
    """The number of claims; it never decreases."""

    refusals: int = 0
    """The number of attempts that the provider refused."""

    epoch: int = 0
    """A counter that every stop raises, so that a claim on an older read fails."""

    uncertain: frozenset[int] = frozenset()
    """The attempts that the provider may have accepted."""

    resent: bool = False
    overtaken: bool = False
    """A stop or a change came after a claim, and so too late."""

    retry_at: datetime | None = None
    """The earliest time of the next attempt after a refusal."""

    window: Window | None = None
    """The events of the run. The first claim fixes its end."""

    deadline: datetime | None = None
    """The time before which only the claimant may act."""

    nonce: str = ""
    """The identity of the last claim."""

    claimed_at: datetime | None = None
    """The time of the last claim."""

    sent_at: datetime | None = None
    """The time at which the provider accepted the message."""

    message_id: str = ""
    detail: str = ""
    """The provider's code for the last refusal or unknown outcome."""

    variant: Variant = DEFAULT_VARIANT
    locale: str = ""
    categories: tuple[str, ...] = ()
    newest: tuple[str, ...] = ()
    """The names of its events that were stored last (`newest_of`), or EACH_READ."""

    left_out: tuple[str, ...] = ()
    """The names of events of its window that it does not show, because an earlier attempt with an
    unknown outcome should have shown them and did not. At most one for each worker that stalled
    during a write.
    """

    sources: tuple[str, ...] = ()
    """The content sources of its schedule, in order; empty if the schedule has events only."""

    asked_at: datetime | None = None
    """The time of the first query of its sources;

    None if their items were stored before it was due.
    """

    without: tuple[str, ...] = ()
    """The sources whose items the email did not wait for."""

    templates: int = 0
    """The version of the templates that the first claim used.

    Every later claim uses it too, so it pins the run.
    """

    templates_gone: int = 0
    """The version that pinned the run before and no longer exists; 0 if there is none."""

    head: Head | None = None
    """The place where its chain may end; None if the chain before it was short."""

    @property
    def pinned_to(self) -> int | None:
        """The version of the templates that repeats must use; None before the first claim."""
        return self.templates if self.attempt else None

    @property
    def is_open(self) -> bool:
        """Return True if the run still needs an action. A carried run waits for its successor."""
        is_carried = self.reason is Reason.CARRIED and is_known(self.status)
        return not self.status.is_final and not is_carried

    @property
    def is_unclaimed(self) -> bool:
        """Return True if no claim is open and no attempt uncertain, so that it can be
        superseded."""
        return self.status in {Status.PENDING, Status.RETRYING} and not self.uncertain

    def knows(self, attempt: int | None) -> bool:
        """Return True if this attempt was claimed, so that the window shows its content."""
        return attempt is not None and 1 <= attempt <= self.attempt and self.window is not None

    def has_taken(self, stored_at: datetime) -> bool:
        """Return True if its window contains that instant and it was, is being or may have been
        sent.
        """
        may_have_been_sent = self.status in _TAKING or bool(self.uncertain)
        return may_have_been_sent and self.window is not None and self.window.holds(stored_at)

    def has_shown(self, event_id: str, stored_at: datetime) -> bool:
        """Return True if its email had this event.

        An event that was stored well before the end of the window was visible to the read. One that
        was stored later may have been written after the read; `newest` shows whether it was read.
        """
        if self.window is None or not self.has_taken(stored_at):
            return False
        name = name_of(event_id)
        if stored_at > self.window.until - STILL_WRITTEN and self.newest != EACH_READ:
            return name in self.newest
        return name not in self.left_out

    def has_passed_over(self, event_id: str, stored_at: datetime) -> bool:
        """Return True if its email should have had this event, and did not."""
        return self.has_taken(stored_at) and not self.has_shown(event_id, stored_at)

    def is_claimed_like(self, claimed: "Run") -> bool:
        """Return True if this run still has the claim of `claimed`, whatever else has changed."""
        return self.status is Status.SENDING and bool(self.nonce) and self.nonce == claimed.nonce

    @property
    def closes_a_window(self) -> bool:
        """Return True if it was sent with a known window, so that the next window begins after
        it."""
        return self.status is Status.SENT and self.window is not None

    def was_sent_up_to(self, until: datetime) -> bool:
        """Return True if it was sent with a window that ends then or later."""
        return self.closes_a_window and self.window is not None and self.window.until >= until

    def ends_chain(self, of: RunKey, holding: datetime | None) -> bool:
        """Return True if a chain that is read from the run `of`, or for an instant, may end
        here."""
        is_behind = holding is None or (self.window is not None and self.window.until < holding)
        return self.closes_a_window and self.key != of and is_behind

    @property
    def slot(self) -> datetime | None:
        """The slot of its batch; None if it is immediate or was never started.

        A run that only uses the sequence of an occurrence without waiting events was never started.
        """
        is_in_none = self.key.is_immediate or self.reason is Reason.NOTHING_WAITED
        return None if is_in_none else slot_of(self.due_at)

    def is_too_late(self, now: datetime, max_lateness: timedelta) -> bool:
        """Return True for a daily digest that is too late. The next digest includes its events.

        Rarer digests are sent late rather than an interval later. A digest that was tried in time
        and refused is never too late, because the pauses between its attempts bound its delay.
        """
        is_daily = self.key.schedule == DAILY
        return is_daily and not self.refusals and now - self.due_at > max_lateness

    @property
    def may_have_been_sent(self) -> bool:
        """Return True if it may have been sent, but is not known to have been."""
        return bool(self.uncertain) and self.status is not Status.SENT


_TAKING = {Status.SENT, Status.SENDING, Status.UNKNOWN}

STILL_WRITTEN = timedelta(minutes=2)
"""The longest duration of a write: longer than any function that writes events runs."""


MOST_NEWEST = 100
"""The largest number of events in `newest`, nine bytes each. A write costs a unit for each KB."""

EACH_READ = ("all",)
"""A marker that replaces the names if no write into the window was possible during the read."""


OUTDATED_FOR = 2 * STILL_WRITTEN
"""The time after a change of choices or follows in which an event may still be routed by the old
ones.

A function that read the old ones writes for at most STILL_WRITTEN. Twice that allows for clocks
that differ and for the function that stores the change. The run of such an event routes it again
(rule 15).
"""


def newest_of(events: Iterable[StoredEvent | StoredBrief], window: Window) -> tuple[str, ...]:
    """Return the names of events so new that others of the window may not have been visible."""
    return tuple(
        sorted(
            name_of(stored.event.id)
            for stored in events
            if stored.stored_at > window.until - STILL_WRITTEN
        )
    )


def name_of(event_id: str) -> str:
    """Return a short name for an event, for the few events that a run has to name."""
    return hashlib.sha256(event_id.encode()).hexdigest()[:8]


BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
"""An instant before anything was stored."""


def sent_until(chain: Iterable[Run]) -> datetime:
    """Return the time up to which the events of a schedule were sent: the latest end of a sent
    window.

    If the chain ends at a head, the head stores it for earlier windows.
    """
    runs = tuple(chain)
    return max(
        known_sent_until(runs),
        *(run.window.until for run in runs if run.status is Status.SENT and run.window),
        BEGINNING,
    )


def known_sent_until(chain: Iterable[Run]) -> datetime:
    """Return the time up to which runs before the heads of the chain sent events."""
    return max((run.head.sent_until for run in chain if run.head), default=BEGINNING)


MAX_UNKNOWN_ATTEMPTS = 2
"""The most attempts with an unknown outcome that may include an event; then it is given up."""


def given_up_until(chain: Iterable[Run]) -> datetime:
    """Return the time up to which every event was in MAX_UNKNOWN_ATTEMPTS unknown attempts.

    All windows of a schedule begin where the last sent one ended, so an attempt with an unknown
    outcome includes every event that was stored up to its end and was not given up before.
    """
    ends = sorted(run.window.until for run in chain if run.window for _ in run.uncertain)
    return ends[-MAX_UNKNOWN_ATTEMPTS] if len(ends) >= MAX_UNKNOWN_ATTEMPTS else BEGINNING


def is_given_up(stored_at: datetime, chain: Iterable[Run]) -> bool:
    """Return True if an event stored then is not sent again, and no email is known to have had
    it."""
    runs = tuple(chain)
    is_sent = any(
        run.status is Status.SENT and run.window and run.window.holds(stored_at) for run in runs
    )
    return stored_at <= given_up_until(runs) and not is_sent


def settled_until(chain: Iterable[Run]) -> datetime:
    """Return the time up to which every event was sent or given up."""
    runs = tuple(chain)
    return max(sent_until(runs), given_up_until(runs))


_NOT_SENT = {
    Status.PENDING,
    Status.RETRYING,
    Status.FAILED,
    Status.SKIPPED,
    Status.CANCELLED,
}
"""The statuses without an attempt under way. Any other status, known or not, means an attempt."""


def possibly_sent_until(chain: Iterable[Run]) -> datetime:
    """Return the time up to which events were sent, are being sent or may have been.

    Those do not move.
    """
    runs = tuple(chain)
    return max(
        known_sent_until(runs),
        *(
            run.window.until
            for run in runs
            if run.window and (run.status not in _NOT_SENT or run.uncertain)
        ),
        BEGINNING,
    )
