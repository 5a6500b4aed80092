"""A run, which delivers one email. A run has a status and the values that its claim fixed."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
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

    A status that this version does not know is treated as neither final nor claimable, and later
    runs wait for the run.
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
        """Return True if only proof of the provider's acceptance can still change the run."""
        return self in {Status.SENT, Status.FAILED, Status.SKIPPED, Status.CANCELLED}


class Reason(StrEnum):
    """The reason for the status of a run, as shown by `gazette explain`.

    If this version does not know a stored reason, it uses only the status.
    """

    DUE = "due"
    QUIET_HOURS = "quiet_hours"
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
    SEEN = "seen"
    WITHDRAWN = "withdrawn"
    CATEGORY_HELD = "category_held"
    WAITS_FOR_MORE = "waits_for_more"
    TOO_LATE = "too_late"
    BATCH_CANCELLED = "batch_cancelled"
    PREFERENCES_CHANGED = "preferences_changed"
    DAILY_CAP = "daily_cap"
    UNSUBSCRIBED = "unsubscribed"
    SUPPRESSED = "suppressed"
    DORMANT = "dormant"
    ERASED = "erased"
    UNKNOWN_SUBSCRIBER = "unknown_subscriber"
    NOT_ALLOWED = "not_allowed"


class Certainty(StrEnum):
    """The proof that an email was sent."""

    ACCEPTED = "accepted"
    """The provider accepted the email."""

    EVIDENCE = "evidence"
    """The provider did not respond, and a delivery event proves that it accepted the email."""

    ASSUMED = "assumed"
    """The outcome is unknown, and the stage assumes that such emails were sent."""

    UNKNOWN = "unknown"
    """The email is being sent, its outcome is unknown, or it was claimed at about the same time as
    an event was retracted. Only receipts have this value."""


CERTAINTIES: Mapping[Reason, Certainty] = {
    Reason.ACCEPTED: Certainty.ACCEPTED,
    Reason.EVIDENCE: Certainty.EVIDENCE,
    Reason.ASSUMED: Certainty.ASSUMED,
}
"""The certainty of a sent run, by its reason."""


def receives(reader: Reader, key: RunKey) -> TypeGuard[Subscriber]:
    """Return True if the reader's status allows the run to be sent."""
    if not isinstance(reader, Subscriber):
        return False
    return reader.receives_critical if key.is_critical else reader.receives_email


def why_not_sent(reader: Reader) -> Reason:
    """Return the reason why a reader who is not an active subscriber gets no email.

    Raises UnreadableRow if this version does not know the reader's status.
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
    """A sequence number at which a chain may end, because all runs up to it have ended permanently
    (chain.head_for)."""

    sequence: int
    sent_until: datetime
    """The latest end of a sent window among the runs up to the head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The email that a claim sends, which the run remembers.

    `variant`, `locale` and `categories` are only for display. They are empty in rows of older
    versions.
    """

    variant: Variant = DEFAULT_VARIANT
    locale: str = ""
    categories: tuple[str, ...] = ()
    newest: tuple[str, ...] = ()
    """The short names of the most recently stored events (`newest_of`), or EACH_READ."""

    events: int | None = None
    """The number of events in the email; None in rows of older versions."""

    left_out: tuple[str, ...] = ()
    """The short names of events in the window that the email does not show.

    An earlier attempt with an unknown outcome should have shown them and did not. There is at most
    one for each worker that stalled during a write.
    """

    without: tuple[str, ...] = ()
    """The content sources whose items the email did not wait for."""

    templates: int = 0
    """The template version that the first claim used.

    Every later claim uses the same version, so the run is pinned to it.
    """


@dataclass(frozen=True, slots=True)
class Run(Contents):
    """The delivery of one email, with the contents of the last claim.

    The times `created_at`, `claimed_at` and `sent_at` are only for display. They are None in rows
    of older versions.
    """

    key: RunKey
    due_at: datetime
    check_at: datetime
    """The time at which the sweep checks the run."""

    created_at: datetime | None = None
    status: Status = Status.PENDING
    reason: Reason = Reason.DUE
    attempt: int = 0
    """The number of times the run was claimed, which never decreases."""

    refusals: int = 0
    """The number of attempts that the provider refused."""

    epoch: int = 0
    """A counter that every stop increments, so that a claim based on an older read fails."""

    uncertain: frozenset[int] = frozenset()
    """The attempts that the provider may have accepted without confirmation."""

    resent: bool = False
    overtaken: bool = False
    """True if a stop or a change arrived after a claim, and therefore too late."""

    retry_at: datetime | None = None
    """The earliest time of the next attempt after a refusal."""

    window: Window | None = None
    """The window of events that the run sends. The first claim fixes the end of the window."""

    deadline: datetime | None = None
    """The time before which only the claimant may act on the run."""

    nonce: str = ""
    """The unique identifier of the last claim."""

    claimed_at: datetime | None = None
    """The time of the last claim."""

    sent_at: datetime | None = None
    """The time at which the provider accepted the message."""

    message_id: str = ""
    detail: str = ""
    """The provider's code for the last refusal or for the unknown outcome."""

    sources: tuple[str, ...] = ()
    """The content sources of the schedule, in order; empty if the schedule has only events."""

    asked_at: datetime | None = None
    """The time of the first query of the run's content sources.

    None if the items were stored before the run was due.
    """

    templates_gone: int = 0
    """The template version to which the run was pinned before; 0 if none. This version no longer
    exists."""

    head: Head | None = None
    """The point at which the run's chain may end; None if the chain before the run was short."""

    step: int = 0
    """The number of emails about the entity in quick succession before this immediate run
    (`growing.wait_after`)."""

    removed: Reason | None = None
    """The reason for which events were removed before a claim; None if none were.

    If the worker dies before it ends the run, the next worker does not find these events.
    """

    @property
    def pinned_to(self) -> int | None:
        """The template version that repeated attempts must use; None before the first claim."""
        return self.templates if self.attempt else None

    @property
    def is_open(self) -> bool:
        """Return True if the run still needs an action.

        A carried run needs no action, because it waits for its successor.
        """
        is_carried = self.reason is Reason.CARRIED and is_known(self.status)
        return not self.status.is_final and not is_carried

    @property
    def waits_after_others(self) -> bool:
        """Return True if the run has not been claimed and collects events for longer, because of
        other emails about its entity."""
        return bool(self.step) and not self.attempt and self.status is Status.PENDING

    @property
    def waits_in_quiet_hours(self) -> bool:
        """Return True if the run has not been claimed and waits for the end of quiet hours."""
        return self.reason is Reason.QUIET_HOURS and self.status is Status.PENDING

    @property
    def is_queued_by_sweep(self) -> bool:
        """Return True if the sweep is to queue the run, because it still collects events for longer
        than a message can be delayed.

        Only such a run is checked before it is due.
        """
        return self.check_at < self.due_at

    @property
    def is_unclaimed(self) -> bool:
        """Return True if the run has no open claim and no uncertain attempt. It can then be
        superseded."""
        return self.status in {Status.PENDING, Status.RETRYING} and not self.uncertain

    def knows(self, attempt: int | None) -> bool:
        """Return True if this attempt was claimed and its window is stored. The window determines
        which events were sent."""
        return attempt is not None and 1 <= attempt <= self.attempt and self.window is not None

    def has_taken(self, stored_at: datetime) -> bool:
        """Return True if the run's email contains, or may contain, an event stored at `stored_at`.

        The window must contain that time, and the email must have been sent, possibly sent or
        claimed.
        """
        may_have_been_sent = self.status in _TAKING or bool(self.uncertain)
        return may_have_been_sent and self.window is not None and self.window.holds(stored_at)

    def reads_writes_of(self, at: datetime) -> bool:
        """Return True if the run was created so late, or claimed for the first time so late, that
        it has read each write that began at `at`.

        A worker reads the events in the invocation that claims the run.
        """
        written = at + STILL_WRITTEN + CLOCKS
        if self.created_at is not None and self.created_at >= written:
            return True
        claimed_at = self.claimed_at if self.attempt == 1 else None
        return claimed_at is not None and claimed_at >= written + LONGEST_INVOCATION

    def has_shown(self, event_id: str, stored_at: datetime) -> bool:
        """Return True if the run's email included this event.

        An event that was stored well before the end of the window was visible to the read. An event
        that was stored later may have been written after the read; `newest` shows whether it was
        read.
        """
        if self.window is None or not self.has_taken(stored_at):
            return False
        name = name_of(event_id)
        return name in self.newest if self.names(stored_at) else name not in self.left_out

    def names(self, stored_at: datetime) -> bool:
        """Return True if `newest` names every event of the email that was stored at `stored_at`."""
        if self.window is None or self.newest == EACH_READ:
            return False
        return stored_at > self.window.until - STILL_WRITTEN

    def has_passed_over(self, event_id: str, stored_at: datetime) -> bool:
        """Return True if the run's email should have included this event but did not."""
        return self.has_taken(stored_at) and not self.has_shown(event_id, stored_at)

    def is_claimed_like(self, claimed: "Run") -> bool:
        """Return True if this run has the same claim as `claimed`, regardless of other changes."""
        return self.status is Status.SENDING and bool(self.nonce) and self.nonce == claimed.nonce

    @property
    def closes_a_window(self) -> bool:
        """Return True if the run was sent with a known window. The next window begins after it."""
        return self.status is Status.SENT and self.window is not None

    def was_sent_up_to(self, until: datetime) -> bool:
        """Return True if the run was sent with a window that ends at `until` or later."""
        return self.closes_a_window and self.window is not None and self.window.until >= until

    def ends_chain(self, of: RunKey, holding: datetime | None) -> bool:
        """Return True if the chain of the run `of` may end at this run.

        With `holding`, the window of this run must end before that instant.
        """
        is_behind = holding is None or (self.window is not None and self.window.until < holding)
        return self.closes_a_window and self.key != of and is_behind

    @property
    def slot(self) -> datetime | None:
        """The slot of the run's batch; None if the run is immediate or was never started.

        A run was never started if no events were waiting. Such a run only uses up a sequence
        number.
        """
        is_in_none = self.key.is_immediate or self.reason is Reason.NOTHING_WAITED
        return None if is_in_none else slot_of(self.due_at)

    def is_too_late(self, now: datetime, max_lateness: timedelta) -> bool:
        """Return True if the run is a daily digest that is too late to be sent.

        The next digest includes the events of a digest that is too late.
        Less frequent digests are sent late rather than skipped for a whole interval. A digest that
        was tried in time and refused is never too late, because the pauses between its attempts
        limit its delay.
        """
        is_daily = self.key.schedule == DAILY
        return is_daily and not self.refusals and now - self.due_at > max_lateness

    @property
    def may_have_been_sent(self) -> bool:
        """Return True if the run's email may have been sent but is not known to have been sent."""
        return bool(self.uncertain) and self.status is not Status.SENT


_TAKING = {Status.SENT, Status.SENDING, Status.UNKNOWN}

STILL_WRITTEN = timedelta(minutes=2)
"""The maximum duration of a write. No function that writes events runs longer than this."""

LONGEST_INVOCATION = timedelta(minutes=15)
"""The maximum duration of a Lambda invocation. The claim follows the read of the window within it.
https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html
"""

CLOCKS = timedelta(minutes=1)
"""The maximum difference between the clocks of two functions. Settings allow no more."""


MOST_NEWEST = 100
"""The maximum number of names in `newest`. A name has nine bytes, and each KB of a row costs one
write unit."""

EACH_READ = ("all",)
"""The value of `newest` if the read included every event, because no event was being written."""


OUTDATED_FOR = 2 * STILL_WRITTEN
"""The time after a change of choices or follows in which events may still be routed by the old
values.

A function that read the old values writes for at most STILL_WRITTEN. Twice this time allows for
clocks that differ and for the function that stores the change. A run with such an event reroutes
the event (rule 15).
"""


def newest_of(events: Iterable[StoredEvent | StoredBrief], window: Window) -> tuple[str, ...]:
    """Return the short names of the newest events. A read may have missed other recent events."""
    return tuple(
        sorted(
            name_of(stored.event.id)
            for stored in events
            if stored.stored_at > window.until - STILL_WRITTEN
        )
    )


def name_of(event_id: str) -> str:
    """Return the short name by which a run identifies an event."""
    return hashlib.sha256(event_id.encode()).hexdigest()[:8]


BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
"""An instant before any data was stored."""


def sent_until(chain: Sequence[Run]) -> datetime:
    """Return the time up to which a schedule's events were sent, which is the latest end of a sent
    window.

    If the chain ends at a head, the head stores this time for earlier windows.
    """
    return max(
        known_sent_until(chain),
        *(run.window.until for run in chain if run.status is Status.SENT and run.window),
        BEGINNING,
    )


def known_sent_until(chain: Sequence[Run]) -> datetime:
    """Return the latest `sent_until` among the heads of a chain."""
    return max((run.head.sent_until for run in chain if run.head), default=BEGINNING)


MAX_UNKNOWN_ATTEMPTS = 2
"""The maximum number of attempts with an unknown outcome that may include an event.

After that, the event is given up.
"""


def given_up_until(chain: Sequence[Run]) -> datetime:
    """Return the time up to which every event was included in MAX_UNKNOWN_ATTEMPTS attempts with an
    unknown outcome.

    All windows of a schedule begin where the last sent window ended. An attempt with an unknown
    outcome therefore includes every event that was stored before the end of its window and was not
    given up before.
    """
    ends = sorted(run.window.until for run in chain if run.window for _ in run.uncertain)
    return ends[-MAX_UNKNOWN_ATTEMPTS] if len(ends) >= MAX_UNKNOWN_ATTEMPTS else BEGINNING


def is_given_up(stored_at: datetime, chain: Sequence[Run]) -> bool:
    """Return True if an event stored at `stored_at` is given up.

    A given-up event is not sent again, although no email is known to have included it.
    """
    is_sent = any(
        run.status is Status.SENT and run.window and run.window.holds(stored_at) for run in chain
    )
    return stored_at <= given_up_until(chain) and not is_sent


def settled_until(chain: Sequence[Run]) -> datetime:
    """Return the time up to which every event was sent or given up."""
    return max(sent_until(chain), given_up_until(chain))


_NOT_SENT = {
    Status.PENDING,
    Status.RETRYING,
    Status.FAILED,
    Status.SKIPPED,
    Status.CANCELLED,
}
"""The statuses without an attempt in progress. Any other status, known or not, implies an
attempt."""


def possibly_sent_until(chain: Sequence[Run]) -> datetime:
    """Return the time up to which events were sent, are being sent or may have been sent.

    Events that were stored up to that time are not moved.
    """
    return max(
        known_sent_until(chain),
        *(
            run.window.until
            for run in chain
            if run.window and (run.status not in _NOT_SENT or run.uncertain)
        ),
        BEGINNING,
    )
