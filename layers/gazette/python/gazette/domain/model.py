"""Gazette's core data types. All are frozen; all instants are timezone-aware UTC."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Self

from gazette.domain.scheduling.calendar import (
    Recurrence,
    last_instant_of_slot,
    next_on_another_date,
)
from gazette.domain.scheduling.kinds import ScheduleKind, is_critical, kind_of
from gazette.domain.subscribers.frequency import Frequency

DAILY = Frequency.DAILY.value
"""The name of the daily digest's schedule, which every subscriber has."""


class Importance(StrEnum):
    """The importance of an event, as rated by the service that published the event."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Image:
    """An image at an https URL, with alt text."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Entity:
    """The subject of an event, such as an article, a post or a conversation."""

    type: str
    id: str
    title: str
    url: str
    image: Image | None = None

    @property
    def key(self) -> str:
        """The entity's identifier in follows and activities, such as `post#p1`."""
        return entity_key(self.type, self.id)


def entity_key(entity_type: str, entity_id: str) -> str:
    """Return the key of an entity. Entity types contain no `#`, so two entities never share a
    key."""
    return f"{entity_type}#{entity_id}"


def entity_reference(key: str) -> tuple[str, str]:
    """Return the type and the id of the entity with this key."""
    entity_type, _, entity_id = key.partition("#")
    return entity_type, entity_id


@dataclass(frozen=True, slots=True)
class Actor:
    """The person or system that caused an event."""

    id: str
    name: str
    url: str = ""
    """The https URL of the actor's page; empty if not given."""

    avatar: str = ""
    """The https URL of the actor's picture; empty if not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """The fields common to events and activities."""

    id: str
    """The producer's idempotency key."""

    category: str
    entity: Entity
    actor: Actor | None
    """The person or system that caused the event; None for an event without an actor."""

    occurred_at: datetime
    """The time of the event, by the producer's clock. Emails show this time.

    Follows and mutes are compared with this time, while windows use the time at which the event was
    stored.
    """

    excerpt: str = ""
    amended_at: datetime | None = None
    """The time of the last amendment, which serves as the version of the content.

    None if the event was never amended.
    """

    parent_title: str = ""
    """The title of the entity's parent; empty if the service gave none."""

    importance: Importance = Importance.NORMAL
    expires_at: datetime | None = None
    """The time from which emails no longer show the event."""

    data: str = ""
    """The producer's custom data for templates, as compact JSON; empty if there is none."""

    def amends(self, earlier: Self) -> bool:
        """Return True if this content is newer than that of `earlier`, which has the same id."""
        if self.amended_at is None:
            return False
        return earlier.amended_at is None or earlier.amended_at < self.amended_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Happening):
    """An event for one subscriber. Its id is unique per subscriber."""

    user_id: str
    via: tuple[str, ...] = ()
    """The keys of the followed entities through which the event arrived, most specific first.

    Empty if the event was addressed to the subscriber. `parent_title` is the title of the last one.
    """

    source: str = ""
    """The content source that returned the event; empty if a service published the event."""

    score: float | None = None
    """The score that ranks the event among the other items of its content source."""

    own_id: str = ""
    """The producer's id of an event that is part of an activity, whose id is then `id`.

    Empty for all other events. Events of a reader with the same id are bodies of one happening, and
    share a row (`domain/happening`).
    """

    @property
    def counts_at(self) -> datetime:
        """The time that is compared with the times of choices, follows and erasures.

        This is the time of the event or, for an item of a queried content source, the time of the
        fetch. An article may therefore be shown even if its category was muted for a time after its
        publication.
        """
        return self.amended_at if self.source and self.amended_at else self.occurred_at

    @property
    def is_own_activity(self) -> bool:
        """Return True if the event arrived through a follow and was caused by its own reader."""
        return bool(self.via) and self.actor is not None and self.actor.id == self.user_id

    def has_lapsed(self, now: datetime) -> bool:
        """Return True if the event's `expires_at` has passed."""
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event that was stored under a schedule at `stored_at`. It can be sent until
    `lasts_until`."""

    event: Event
    schedule: str
    stored_at: datetime
    lasts_until: datetime
    seen_at: datetime | None = None
    """The time at which the reader saw the event's entity, if the event was left out for this
    reason; otherwise None."""

    withdrawn_at: datetime | None = None
    """The time of the withdrawal for which the event was left out; otherwise None."""

    is_capped: bool = False
    """True if the event waits for a digest because its reader had reached the limit of immediate
    emails (rule 28)."""

    others: tuple[Event, ...] = ()
    """The other bodies of the happening, which emails do not show (`domain/happening`)."""

    revision: int = 0
    """The number of times that the bodies of the row have changed."""

    refuses_own: bool = False
    """True if the body without an own id was retracted, so that it is rejected if it arrives."""

    part_of: str = ""
    """The id of the activity that the event is part of, if the event was left out of the row of its
    happening; otherwise empty."""

    @property
    def is_plain(self) -> bool:
        """Return True if the row has one body, whose id is the id of the row."""
        return not (self.others or self.event.own_id or self.refuses_own)

    @property
    def bodies(self) -> tuple[Event, ...]:
        """All bodies of the happening, in the order of their own ids."""
        return tuple(sorted((self.event, *self.others), key=lambda each: each.own_id))

    def each_alone(self) -> Sequence["StoredEvent"]:
        """Return each body of the row as the only event of a row."""
        return [replace(self, event=body, others=()) for body in self.bodies]

    @property
    def is_immediate(self) -> bool:
        """Return True if the event belongs to an immediate email rather than to a digest."""
        return kind_of(self.schedule) is ScheduleKind.IMMEDIATE

    @property
    def is_left_out(self) -> bool:
        """Return True if no email shows the event, because the reader has seen its entity."""
        return self.seen_at is not None and self.event.counts_at <= self.seen_at

    def has_expired(self, now: datetime) -> bool:
        """Return True if the event's `lasts_until` has passed, so that it can no longer be sent."""
        return self.lasts_until <= now

    def is_over(self, now: datetime) -> bool:
        """Return True if the event has expired or lapsed, so that no email will show it."""
        return self.has_expired(now) or self.event.has_lapsed(now)


@dataclass(frozen=True, slots=True)
class Retracted:
    """The marker of a retracted event or activity. Events with the same id are rejected
    permanently.

    The row at the own id of an event that is part of an activity is a pointer to the activity's
    row. It is read as a marker with `is_pointer`.
    """

    id: str
    schedule: str = ""
    """The schedule of the retracted event; empty if the event was retracted before it arrived."""

    stored_at: datetime | None = field(default=None, compare=False)
    """The storage time of the retracted event; None if the event was retracted before it
    arrived."""

    own_id: str = ""
    """The own id of the body whose retraction left the row of a happening without bodies."""

    part_of: str = ""
    """The id of the activity that the event with this id is part of; otherwise empty."""

    is_pointer: bool = False
    """True if the event was not retracted, and its body is in the row `part_of`."""

    is_in_no_email: bool = field(default=False, compare=False)
    """True if the row of a happening became the marker in a transaction with its runs, so that no
    email contains it."""

    retracted_at: datetime | None = field(default=None, compare=False)
    """The time of the retraction; None for a pointer, or if it is unknown."""

    @property
    def is_early(self) -> bool:
        """Return True if the event was retracted before it arrived, so that no email contains it.

        An event that is part of an activity has a pointer from its arrival on.
        """
        return not (self.schedule or self.stored_at or self.part_of)


class ScheduleState(StrEnum):
    """The state of a schedule in the due index (rule 23).

    Fan-out finds only schedules that are in the index.
    """

    ARMED = "armed"
    """The schedule is in the due index, because events are waiting."""

    LEAVING = "leaving"
    """The schedule is in the due index while fan-out checks whether events are waiting."""

    IDLE = "idle"
    """The schedule is not in the due index, because no events are waiting."""

    WITHDRAWN = "withdrawn"
    """The schedule is not in the due index, because its reader has unsubscribed or is dormant."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """One recurring digest of one subscriber."""

    user_id: str
    name: str
    recurrence: Recurrence
    next_due_at: datetime
    """The time at which the next run is due.

    For an idle schedule, this is the last occurrence without waiting events, or the first
    occurrence after the schedule was created.
    """

    sequence: int
    """The sequence number of the next run."""

    revision: int
    """A counter that each write increments, so that no process overwrites a row that it has not
    read."""

    changed_at: datetime
    last_due_at: datetime | None = None
    """The due time of the last occurrence that was started."""

    active_until: datetime | None = None
    """The earliest time at which the reader can become inactive."""

    state: ScheduleState = ScheduleState.ARMED
    sources: tuple[str, ...] = ()
    """The content sources in display order; empty if the schedule shows events only."""

    fetched_at: datetime | None = None
    """The time at which items of the content sources were last stored; None if never."""

    fetched_for: datetime | None = None
    """The latest occurrence for which items were fetched."""

    shown: bytes = b""
    """The items that were already offered to the reader (`content.Shown`)."""

    @property
    def listed(self) -> bool:
        """Return True if the schedule is in the due index."""
        return self.state in {ScheduleState.ARMED, ScheduleState.LEAVING}

    @property
    def is_idle(self) -> bool:
        """Return True if no events are waiting for the schedule."""
        return self.state is ScheduleState.IDLE

    @property
    def is_withdrawn(self) -> bool:
        """Return True if the schedule's reader gets no digests."""
        return self.state is ScheduleState.WITHDRAWN

    def due_after(self, now: datetime) -> datetime:
        """Return the time at which the schedule is due next.

        For a schedule that is not in the due index, return the due time that an event stored at
        `now` would get.
        """
        if self.listed:
            return self.next_due_at
        after = last_instant_of_slot(now)
        return next_on_another_date(self.recurrence, after=after, last=self.last_due_at)

    def is_asked_for(self, due_at: datetime) -> bool:
        """Return True if the content sources are queried for the occurrence at `due_at`.

        They are queried for the next occurrence and for the occurrence that was started last.
        """
        return due_at == self.last_due_at or (self.listed and due_at == self.next_due_at)

    def advanced(
        self, next_due_at: datetime, *, active_until: datetime | None = None
    ) -> "Schedule":
        """Return this schedule after an occurrence was started. The next occurrence is at
        `next_due_at`."""
        return replace(
            self,
            state=ScheduleState.ARMED,
            next_due_at=next_due_at,
            sequence=self.sequence + 1,
            revision=self.revision + 1,
            last_due_at=self.next_due_at,
            active_until=active_until or self.active_until,
        )

    def renumbered(self) -> "Schedule":
        """Return this schedule with the next sequence number for its next occurrence."""
        return replace(self, sequence=self.sequence + 1, revision=self.revision + 1)

    def armed(self, next_due_at: datetime) -> "Schedule":
        """Return this schedule added to the due index, because an event was stored under it."""
        return replace(
            self,
            state=ScheduleState.ARMED,
            next_due_at=next_due_at,
            revision=self.revision + 1,
        )

    def fetched(self, at: datetime, due_at: datetime, shown: bytes) -> "Schedule":
        """Return this schedule after all items for the occurrence `due_at` were stored at `at`.

        `fetched_for` never decreases, even if a slow worker stores older items later.
        """
        return replace(
            self,
            fetched_at=at,
            fetched_for=max(self.fetched_for or due_at, due_at),
            shown=shown,
            revision=self.revision + 1,
        )

    def leaving(self) -> "Schedule":
        """Return this schedule in the state LEAVING, in which fan-out checks whether events are
        waiting.

        An event that is stored during the check returns the schedule to the state ARMED.
        """
        return replace(self, state=ScheduleState.LEAVING, revision=self.revision + 1)

    def idle(self) -> "Schedule":
        """Return this schedule after its removal from the due index. Its sequence number is used
        up."""
        return replace(
            self,
            state=ScheduleState.IDLE,
            sequence=self.sequence + 1,
            revision=self.revision + 1,
        )

    def withdrawn(self) -> "Schedule":
        """Return this schedule after its removal from the due index, because its reader gets no
        digests."""
        return replace(self, state=ScheduleState.WITHDRAWN, revision=self.revision + 1)


@dataclass(frozen=True, slots=True)
class RunKey:
    """The identity of a run: a subscriber's schedule, and the sequence number of the run."""

    user_id: str
    schedule: str
    sequence: int

    @property
    def is_immediate(self) -> bool:
        """Return True if the run sends an immediate email rather than a digest."""
        return kind_of(self.schedule) is ScheduleKind.IMMEDIATE

    @property
    def is_critical(self) -> bool:
        """Return True if the run's email is sent regardless of the reader's choices and opt-out."""
        return is_critical(self.schedule)


@dataclass(frozen=True, slots=True)
class Window:
    """The interval `(since, until]`. A run sends the events that were stored in this interval."""

    since: datetime
    until: datetime

    @property
    def is_empty(self) -> bool:
        """Return True if the window contains no instant."""
        return self.until <= self.since

    def holds(self, instant: datetime) -> bool:
        """Return True if an event stored at `instant` is in the window."""
        return self.since < instant <= self.until


@dataclass(frozen=True, slots=True)
class Edition:
    """The rendered email of a run."""

    subject: str
    html: str
    text: str
    categories: tuple[str, ...] = ()
    """The categories of the groups that the email shows, by rank."""

    blocks: int = 0
    """The number of blocks in the email."""

    from_name: str = ""
    """The display name in From, such as `Bo Berg (Gazette)`. If empty, From has the sender's own
    display name."""

    reply_to: str = ""
    """The address for replies. If empty, replies go to the sender."""


@dataclass(frozen=True, slots=True)
class Mail:
    """A rendered email that is addressed to one reader and ready to be sent."""

    to: str
    edition: Edition
    headers: tuple[tuple[str, str], ...]
    """Additional header fields (never From, To, Subject or Date)."""

    tags: tuple[tuple[str, str], ...]
    """Tags of `[A-Za-z0-9_-]` that the provider returns with every event of this message."""


@dataclass(frozen=True, slots=True)
class StageHeaders:
    """The stage's values in the headers and tags of each email."""

    list_id: str
    installation: str
    """The id of this installation, by which its delivery events are recognised."""

    leaves_all: bool = False
    """True if a mail program's unsubscribe button in an immediate email stops all email."""
