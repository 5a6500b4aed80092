"""A run: its status, its reason, and what its claim has fixed."""

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

    A status that this version does not know is neither final nor claimed: later runs wait for it.
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
        """Whether only evidence of acceptance still moves the run."""
        return self in {Status.SENT, Status.FAILED, Status.SKIPPED, Status.CANCELLED}


class Reason(StrEnum):
    """Why a run has its status, as `explain` prints it.

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
    """Whether the status of the reader lets the run be sent."""
    if not isinstance(reader, Subscriber):
        return False
    return reader.receives_critical if key.is_critical else reader.receives_email


def why_not_sent(reader: Reader) -> Reason:
    """Return why nothing is sent to a reader who is not an active subscriber.

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
    """Where a chain may end: all runs up to `sequence` are settled for good (chain.head_for).

    `sent_until`: up to when their events were sent.
    """

    sequence: int
    sent_until: datetime


@dataclass(frozen=True, slots=True)
class Run:
    """The delivery of one email.

    `attempt` counts claims and never decreases. `refusals` counts the attempts that the provider
    refused. `uncertain` holds the attempts that it may have accepted. Every stop raises `epoch`, so
    that a claim on an older read fails. The first claim fixes the end of `window`. `nonce`
    identifies the last claim. Before `deadline`, only the claimant may act. The sweep looks at the
    run at `check_at`. A refused run is not sent before `retry_at`. `overtaken`: a stop or a change
    came after a claim, and so too late. `detail` is the provider's code for the last refusal or
    unknown outcome. `variant`, `locale` and `categories` describe the email of the last claim.
    `claimed_at` is the instant of the last claim; `sent_at` that at which the provider accepted
    the message. These and `created_at` are for people: no rule reads them, and each is None where
    it has not happened, or in rows of a version that did not store it.
    `newest` names its events that were stored last (`newest_of`), or is EACH_READ. `left_out` names
    the events of its window that it does not show, because an earlier attempt with an unknown
    outcome should have shown them and did not: at most one for each worker that stalled while it
    wrote.
    `sources`: the content sources of its schedule, in order; empty where that shows events alone.
    `asked_at`: when they were first asked for its sake; None where their items were there when it
    was due. `without`: those for whose items the email did not wait.
    `templates` is the version of the templates with which the first claim was made, and so is
    every later one: it pins the run. `templates_gone` is the one that pinned it before and does
    not exist any more; 0 if there is none.
    `head`: where its chain may end; None if it was created behind a short one.
    """

    key: RunKey
    due_at: datetime
    check_at: datetime
    created_at: datetime | None = None
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
    claimed_at: datetime | None = None
    sent_at: datetime | None = None
    message_id: str = ""
    detail: str = ""
    variant: Variant = DEFAULT_VARIANT
    locale: str = ""
    categories: tuple[str, ...] = ()
    newest: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    asked_at: datetime | None = None
    without: tuple[str, ...] = ()
    templates: int = 0
    templates_gone: int = 0
    head: Head | None = None

    @property
    def pinned_to(self) -> int | None:
        """The version of the templates with which it is repeated; None before its first claim."""
        return self.templates if self.attempt else None

    @property
    def is_open(self) -> bool:
        """Whether the run still needs an action. A carried run waits for its successor."""
        is_carried = self.reason is Reason.CARRIED and is_known(self.status)
        return not self.status.is_final and not is_carried

    @property
    def is_unclaimed(self) -> bool:
        """Whether no claim is open and no attempt uncertain, so that it can be superseded."""
        return self.status in {Status.PENDING, Status.RETRYING} and not self.uncertain

    def knows(self, attempt: int | None) -> bool:
        """Whether this attempt was claimed, so that the window tells what it held."""
        return attempt is not None and 1 <= attempt <= self.attempt and self.window is not None

    def has_taken(self, stored_at: datetime) -> bool:
        """Whether its window holds that instant, and it was, is being or may have been sent."""
        may_have_been_sent = self.status in _TAKING or bool(self.uncertain)
        return may_have_been_sent and self.window is not None and self.window.holds(stored_at)

    def has_shown(self, event_id: str, stored_at: datetime) -> bool:
        """Whether its email had this event.

        An event that was stored well before the end of the window was there to be read. One that
        was stored last may have been written after the read: `newest` tells whether it was read.
        """
        if self.window is None or not self.has_taken(stored_at):
            return False
        name = name_of(event_id)
        if stored_at > self.window.until - STILL_WRITTEN and self.newest != EACH_READ:
            return name in self.newest
        return name not in self.left_out

    def has_passed_over(self, event_id: str, stored_at: datetime) -> bool:
        """Whether its email should have had this event, and did not."""
        return self.has_taken(stored_at) and not self.has_shown(event_id, stored_at)

    def is_claimed_like(self, claimed: "Run") -> bool:
        """Whether this run has the claim of `claimed`, whatever else has changed since."""
        return self.status is Status.SENDING and bool(self.nonce) and self.nonce == claimed.nonce

    @property
    def closes_a_window(self) -> bool:
        """Whether it was sent with a known window: the next window begins behind that."""
        return self.status is Status.SENT and self.window is not None

    def was_sent_up_to(self, until: datetime) -> bool:
        """Whether it was sent with a window that ends then or later."""
        return self.closes_a_window and self.window is not None and self.window.until >= until

    def ends_chain(self, of: RunKey, holding: datetime | None) -> bool:
        """Whether a chain that is read from the run `of`, or for an instant, may end here."""
        is_behind = holding is None or (self.window is not None and self.window.until < holding)
        return self.closes_a_window and self.key != of and is_behind

    @property
    def slot(self) -> datetime | None:
        """The slot of its batch; None if it belongs to none: if it is immediate, or never started.

        A run that only uses the sequence of an occurrence at which nothing waited never started.
        """
        is_in_none = self.key.is_immediate or self.reason is Reason.NOTHING_WAITED
        return None if is_in_none else slot_of(self.due_at)

    def is_too_late(self, now: datetime, max_lateness: timedelta) -> bool:
        """Whether it is a daily digest that is too late: its events go with the next one.

        Rarer digests are sent late rather than an interval later. A digest that was tried in time
        and refused is never too late: the pauses between its attempts bound its delay.
        """
        is_daily = self.key.schedule == DAILY
        return is_daily and not self.refusals and now - self.due_at > max_lateness

    @property
    def may_have_been_sent(self) -> bool:
        """Whether it may have been sent, but is not known to have been."""
        return bool(self.uncertain) and self.status is not Status.SENT


_TAKING = {Status.SENT, Status.SENDING, Status.UNKNOWN}

STILL_WRITTEN = timedelta(minutes=2)
"""The longest that a write may take: longer than any function that writes events runs."""


MOST_NEWEST = 100
"""The most events that `newest` names, in nine bytes each: a write costs a unit for each KB."""

EACH_READ = ("all",)
"""In the place of names: the window was read so late that no write into it could be under way."""


OUTDATED_FOR = 2 * STILL_WRITTEN
"""How long after a change of choices or follows an event may be put where they wanted it before.

Whoever had read them before writes for as long as STILL_WRITTEN; twice that, for clocks that differ
and for whoever marks the change. Its run then routes it again (rule 15).
"""


def newest_of(events: Iterable[StoredEvent | StoredBrief], window: Window) -> tuple[str, ...]:
    """Return the names of events stored so late in a window that others may not have been read."""
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
    """Return up to when the events of a schedule were sent: the latest end of a sent window.

    Where the chain ends at a head, that knows of the windows behind it.
    """
    runs = tuple(chain)
    return max(
        known_sent_until(runs),
        *(run.window.until for run in runs if run.status is Status.SENT and run.window),
        BEGINNING,
    )


def known_sent_until(chain: Iterable[Run]) -> datetime:
    """Return up to when events were sent by runs behind the heads of the chain."""
    return max((run.head.sent_until for run in chain if run.head), default=BEGINNING)


MAX_UNKNOWN_ATTEMPTS = 2
"""The most attempts with an unknown outcome that may hold one event; then it is given up."""


def given_up_until(chain: Iterable[Run]) -> datetime:
    """Return up to when every event was in MAX_UNKNOWN_ATTEMPTS attempts with unknown outcomes.

    All windows of a schedule begin where the last sent one ended, so an attempt with an unknown
    outcome holds every event that was stored up to its end and was not given up before.
    """
    ends = sorted(run.window.until for run in chain if run.window for _ in run.uncertain)
    return ends[-MAX_UNKNOWN_ATTEMPTS] if len(ends) >= MAX_UNKNOWN_ATTEMPTS else BEGINNING


def is_given_up(stored_at: datetime, chain: Iterable[Run]) -> bool:
    """Whether an event stored then is not sent again, and no email is known to have had it."""
    runs = tuple(chain)
    is_sent = any(
        run.status is Status.SENT and run.window and run.window.holds(stored_at) for run in runs
    )
    return stored_at <= given_up_until(runs) and not is_sent


def settled_until(chain: Iterable[Run]) -> datetime:
    """Return up to when every event was sent or given up."""
    runs = tuple(chain)
    return max(sent_until(runs), given_up_until(runs))


_NOT_SENT = {
    Status.PENDING,
    Status.RETRYING,
    Status.FAILED,
    Status.SKIPPED,
    Status.CANCELLED,
}
"""Runs with any other status, known or not, are in an attempt or have made one."""


def possibly_sent_until(chain: Iterable[Run]) -> datetime:
    """Return up to when events were sent, are being sent or may have been: those do not move."""
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
