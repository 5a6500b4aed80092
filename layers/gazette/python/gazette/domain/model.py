"""The values that Gazette works with. All are frozen; all instants are timezone-aware UTC."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from gazette.domain.scheduling.calendar import (
    Recurrence,
    last_instant_of_slot,
    next_after_change,
)
from gazette.domain.scheduling.kinds import ScheduleKind, is_critical, kind_of
from gazette.domain.subscribers.frequency import Frequency

DAILY = Frequency.DAILY.value
"""The name of the schedule that every subscriber has."""


class Importance(StrEnum):
    """The importance of an event, as its service rates it."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Image:
    """A picture at an https address, and a text that describes it."""

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
        """The name of the entity in follows and activities, such as `post#p1`."""
        return entity_key(self.type, self.id)


def entity_key(entity_type: str, entity_id: str) -> str:
    """Return the key of an entity. A type contains no `#`, so two entities never share a key."""
    return f"{entity_type}#{entity_id}"


@dataclass(frozen=True, slots=True)
class Actor:
    """The person or system that caused an event."""

    id: str
    name: str
    url: str = ""
    """The https address of their page; empty if not given."""

    avatar: str = ""
    """The https address of their picture; empty if not given."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event for one subscriber."""

    user_id: str
    id: str
    """The producer's idempotency key, unique per subscriber."""

    category: str
    entity: Entity
    actor: Actor | None
    """None if no one caused it, such as a build."""

    occurred_at: datetime
    """The time by the producer's clock. It is shown, and compared with follows and mutes.

    Windows use the time at which the event was stored.
    """

    excerpt: str = ""
    amended_at: datetime | None = None
    """The version of the content; None is the earliest."""

    via: tuple[str, ...] = ()
    """The keys of the followed entities through which the event arrived, the more specific first.

    Empty if the event was addressed to the subscriber.
    """

    parent_title: str = ""
    """The title of the less specific entity in `via`; empty if the service gave none."""

    importance: Importance = Importance.NORMAL
    expires_at: datetime | None = None
    """The time from which no email shows it."""

    data: str = ""
    """The producer's own object for templates, as compact JSON; empty if there is none."""

    source: str = ""
    """The content source that returned it; empty if a service published it."""

    score: float | None = None
    """The rank that the source gave it among its other items."""

    @property
    def counts_at(self) -> datetime:
        """The instant that choices, follows and erasures are compared with.

        It is the time of the event or, for an item of a queried content source, the time of the
        fetch. An article published before a reader muted and unmuted its category may be shown.
        """
        return self.amended_at if self.source and self.amended_at else self.occurred_at

    @property
    def is_own_activity(self) -> bool:
        """Return True if it arrived through a follow and its reader caused it."""
        return bool(self.via) and self.actor is not None and self.actor.id == self.user_id

    def has_lapsed(self, now: datetime) -> bool:
        """Return True if its `expires_at` has passed."""
        return self.expires_at is not None and self.expires_at <= now

    def amends(self, earlier: "Event") -> bool:
        """Return True if its content is newer than that of `earlier`, which has the same id."""
        return is_newer(self.amended_at, earlier.amended_at)


def is_newer(amended_at: datetime | None, earlier: datetime | None) -> bool:
    """Return True if content amended at one instant replaces the other; None is the earliest."""
    return amended_at is not None and (earlier is None or earlier < amended_at)


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event under a schedule, since `stored_at`. It can be sent until `lasts_until`."""

    event: Event
    schedule: str
    stored_at: datetime
    lasts_until: datetime

    @property
    def is_immediate(self) -> bool:
        """Return True if it belongs to an immediate email rather than to a digest."""
        return kind_of(self.schedule) is ScheduleKind.IMMEDIATE

    def has_expired(self, now: datetime) -> bool:
        """Return True if it can no longer be sent."""
        return self.lasts_until <= now

    def is_over(self, now: datetime) -> bool:
        """Return True if no email will show it, because it has expired or lapsed."""
        return self.has_expired(now) or self.event.has_lapsed(now)


@dataclass(frozen=True, slots=True)
class Retracted:
    """The marker of a retracted event or activity. Its id is rejected permanently."""

    id: str
    schedule: str = ""
    """The schedule of the event; empty if it had not arrived."""


class ScheduleState(StrEnum):
    """The state of a schedule in the due index (rule 23). Fan-out finds only listed schedules."""

    ARMED = "armed"
    """Listed, because events are waiting."""

    LEAVING = "leaving"
    """Listed, while fan-out checks whether events are waiting."""

    IDLE = "idle"
    """Not listed, because no events are waiting."""

    WITHDRAWN = "withdrawn"
    """Not listed, because the reader has unsubscribed or is dormant."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """One recurring digest of one subscriber."""

    user_id: str
    name: str
    recurrence: Recurrence
    next_due_at: datetime
    """The time at which the next run is due.

    For an idle schedule, the last occurrence without waiting events, or the first one after its
    creation.
    """

    sequence: int
    """The sequence of the next run."""

    revision: int
    """A counter that grows with each write, so that no process overwrites a row that it has not
    read.
    """

    changed_at: datetime
    last_due_at: datetime | None = None
    """The occurrence that was started last."""

    active_until: datetime | None = None
    """The time until which the reader counts as active, at least."""

    state: ScheduleState = ScheduleState.ARMED
    sources: tuple[str, ...] = ()
    """The content sources, in the order in which an email shows them; empty if it shows events
    only.
    """

    fetched_at: datetime | None = None
    """The time at which the items of the sources were last stored; None: never."""

    fetched_for: datetime | None = None
    """The latest occurrence for which items were fetched."""

    shown: bytes = b""
    """The items that the reader has had (`content.Shown`)."""

    @property
    def listed(self) -> bool:
        """Return True if it is in the due index."""
        return self.state in {ScheduleState.ARMED, ScheduleState.LEAVING}

    @property
    def is_idle(self) -> bool:
        """Return True if no events are waiting for it."""
        return self.state is ScheduleState.IDLE

    @property
    def is_withdrawn(self) -> bool:
        """Return True if its reader gets no digests."""
        return self.state is ScheduleState.WITHDRAWN

    def due_after(self, now: datetime) -> datetime:
        """Return when it is due next.

        If it is not in the due index: when an event is stored at `now`.
        """
        if self.listed:
            return self.next_due_at
        return next_after_change(
            self.recurrence, after=last_instant_of_slot(now), last=self.last_due_at, pending=None
        )

    def is_asked_for(self, due_at: datetime) -> bool:
        """Return True if its sources are queried for `due_at`: its next occurrence or the last
        started.
        """
        return due_at == self.last_due_at or (self.listed and due_at == self.next_due_at)

    def advanced(
        self, next_due_at: datetime, *, active_until: datetime | None = None
    ) -> "Schedule":
        """Return this schedule after its next occurrence was started."""
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
        """Return this schedule with its next occurrence under the next sequence."""
        return replace(self, sequence=self.sequence + 1, revision=self.revision + 1)

    def armed(self, next_due_at: datetime) -> "Schedule":
        """Return this schedule in the due index, because an event was stored under it."""
        return replace(
            self,
            state=ScheduleState.ARMED,
            next_due_at=next_due_at,
            revision=self.revision + 1,
        )

    def fetched(self, at: datetime, due_at: datetime, shown: bytes) -> "Schedule":
        """Return this schedule after all items for the occurrence `due_at` were stored by `at`.

        `fetched_for` never decreases, because one of two workers may be late.
        """
        return replace(
            self,
            fetched_at=at,
            fetched_for=max(self.fetched_for or due_at, due_at),
            shown=shown,
            revision=self.revision + 1,
        )

    def leaving(self) -> "Schedule":
        """Return this schedule while fan-out checks it.

        An event that is stored now arms it again.
        """
        return replace(self, state=ScheduleState.LEAVING, revision=self.revision + 1)

    def idle(self) -> "Schedule":
        """Return this schedule removed from the due index, after its sequence was used."""
        return replace(
            self,
            state=ScheduleState.IDLE,
            sequence=self.sequence + 1,
            revision=self.revision + 1,
        )

    def withdrawn(self) -> "Schedule":
        """Return this schedule removed from the due index, because its reader gets no digests."""
        return replace(self, state=ScheduleState.WITHDRAWN, revision=self.revision + 1)


@dataclass(frozen=True, slots=True)
class RunKey:
    """The identity of a run: a schedule of a subscriber, and the sequence of the run in it."""

    user_id: str
    schedule: str
    sequence: int

    @property
    def is_immediate(self) -> bool:
        """Return True if it belongs to an immediate email rather than to a digest."""
        return kind_of(self.schedule) is ScheduleKind.IMMEDIATE

    @property
    def is_critical(self) -> bool:
        """Return True if its email is sent regardless of the reader's choices and
        unsubscription."""
        return is_critical(self.schedule)


@dataclass(frozen=True, slots=True)
class Window:
    """The storage times `(since, until]` of the events that a run sends."""

    since: datetime
    until: datetime

    @property
    def is_empty(self) -> bool:
        """Return True if it contains no instant."""
        return self.until <= self.since

    def holds(self, instant: datetime) -> bool:
        """Return True if it contains an event stored at `instant`."""
        return self.since < instant <= self.until


@dataclass(frozen=True, slots=True)
class Edition:
    """The rendered email of a run."""

    subject: str
    html: str
    text: str
    categories: tuple[str, ...] = ()
    """The categories of the groups that it shows, by rank."""

    blocks: int = 0
    """The number of blocks that it shows."""


@dataclass(frozen=True, slots=True)
class Mail:
    """An edition addressed to one reader, ready for a provider."""

    to: str
    edition: Edition
    headers: tuple[tuple[str, str], ...]
    """Extra header fields (never From, To, Subject or Date)."""

    tags: tuple[tuple[str, str], ...]
    """Tags that the provider returns with every event of this message; alphabet `[A-Za-z0-9_-]`."""
