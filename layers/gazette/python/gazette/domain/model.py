"""The values that Gazette works with. All are frozen, all instants are timezone-aware UTC."""

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
    """How much an event matters, as its service says."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Image:
    """A picture at an https address, and the text that says what is on it."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Entity:
    """What an event is about, such as an article, a post or a conversation."""

    type: str
    id: str
    title: str
    url: str
    image: Image | None = None

    @property
    def key(self) -> str:
        """Names the entity in follows and activities, such as `post#p1`."""
        return entity_key(self.type, self.id)


def entity_key(entity_type: str, entity_id: str) -> str:
    """The key of an entity. A type contains no `#`, so two entities never share a key."""
    return f"{entity_type}#{entity_id}"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who made an event happen.

    `url`: the https address of their page, `avatar`: that of their picture; empty if not given.
    """

    id: str
    name: str
    url: str = ""
    avatar: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, for one subscriber.

    `id` is the producer's idempotency key, unique per subscriber. `occurred_at` is by the
    producer's clock: it is shown, and compared with follows and mutes; windows are of the time at
    which the event was stored. `amended_at` is the version of the content; None is the earliest.
    `via` holds the keys of the followed entities through which the event came, the more specific
    first; it is empty if the event was addressed to the subscriber. `parent_title` is the title of
    the less specific one; empty if the service gave none. `actor`: None if nobody made it happen,
    such as a build. No email shows it from `expires_at` on. `data`: an object of the producer's own
    for templates, as compact JSON; empty if there is none. `source`: the content source that was
    asked for it; empty if a service put it. `score`: how the source ranks it among its others.
    """

    user_id: str
    id: str
    category: str
    entity: Entity
    actor: Actor | None
    occurred_at: datetime
    excerpt: str = ""
    amended_at: datetime | None = None
    via: tuple[str, ...] = ()
    parent_title: str = ""
    importance: Importance = Importance.NORMAL
    expires_at: datetime | None = None
    data: str = ""
    source: str = ""
    score: float | None = None

    @property
    def counts_at(self) -> datetime:
        """The instant that choices, follows and erasures are compared with.

        That is when it happened; of what a content source was asked for, when it was fetched: an
        article that was published before a reader muted its category and came back may be shown.
        """
        return self.amended_at if self.source and self.amended_at else self.occurred_at

    @property
    def is_own_activity(self) -> bool:
        """Return whether it came through a follow, and its reader is the one who made it happen."""
        return bool(self.via) and self.actor is not None and self.actor.id == self.user_id

    def has_lapsed(self, now: datetime) -> bool:
        """Whether its service no longer wants it shown."""
        return self.expires_at is not None and self.expires_at <= now

    def amends(self, earlier: "Event") -> bool:
        """Whether this says something newer than `earlier`, which has the same id."""
        return is_newer(self.amended_at, earlier.amended_at)


def is_newer(amended_at: datetime | None, earlier: datetime | None) -> bool:
    """Whether content amended at one instant replaces the other; None is the earliest."""
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
        """Whether it belongs to an immediate email rather than to a digest."""
        return kind_of(self.schedule) is ScheduleKind.IMMEDIATE

    def has_expired(self, now: datetime) -> bool:
        """Whether it can no longer be sent."""
        return self.lasts_until <= now

    def is_over(self, now: datetime) -> bool:
        """Whether no email shows it any more: it has expired, or has lapsed."""
        return self.has_expired(now) or self.event.has_lapsed(now)


@dataclass(frozen=True, slots=True)
class Retracted:
    """What is left of an event or an activity that was withdrawn: its id is refused for good.

    `schedule`: where the event was; empty if it had not arrived.
    """

    id: str
    schedule: str = ""


class ScheduleState(StrEnum):
    """Whether fan-out finds a schedule in the due index (rule 23).

    `ARMED`: it does, because something waits. `LEAVING`: it does, while it looks whether anything
    waits. `IDLE`: it does not, because nothing waits. `WITHDRAWN`: it does not, because the reader
    has left or is dormant.
    """

    ARMED = "armed"
    LEAVING = "leaving"
    IDLE = "idle"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Schedule:
    """One recurring digest of one subscriber.

    `sequence`: of the next run. `next_due_at`: when that is due; of an idle schedule, the
    occurrence at which nothing waited, or the first after it was created. `revision` grows with
    each write, so that nobody overwrites what they have not read. `last_due_at`: the occurrence
    that was started last. `active_until`: the reader is active at least until then.
    `sources`: its content sources, in the order in which an email shows them; empty where it shows
    events alone. `fetched_at`: when the items of the sources were stored last; None: never.
    `fetched_for`: the latest occurrence for which that was done. `shown`: which items the reader
    had (`content.Shown`).
    """

    user_id: str
    name: str
    wanted: Recurrence
    next_due_at: datetime
    sequence: int
    revision: int
    changed_at: datetime
    last_due_at: datetime | None = None
    active_until: datetime | None = None
    state: ScheduleState = ScheduleState.ARMED
    sources: tuple[str, ...] = ()
    fetched_at: datetime | None = None
    fetched_for: datetime | None = None
    shown: bytes = b""

    @property
    def listed(self) -> bool:
        """Whether it is in the due index."""
        return self.state in {ScheduleState.ARMED, ScheduleState.LEAVING}

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits for it."""
        return self.state is ScheduleState.IDLE

    @property
    def is_withdrawn(self) -> bool:
        """Whether its reader is not visited."""
        return self.state is ScheduleState.WITHDRAWN

    def due_after(self, now: datetime) -> datetime:
        """When it is due next: where it is not in the due index, if an event is stored at `now`."""
        if self.listed:
            return self.next_due_at
        return next_after_change(
            self.wanted, after=last_instant_of_slot(now), last=self.last_due_at, pending=None
        )

    def is_asked_for(self, due_at: datetime) -> bool:
        """Whether its sources are asked for `due_at`: its next occurrence, or the last started."""
        return due_at == self.last_due_at or (self.listed and due_at == self.next_due_at)

    def advanced(
        self, next_due_at: datetime, *, active_until: datetime | None = None
    ) -> "Schedule":
        """This schedule after its next occurrence was started."""
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
        """This schedule with its next occurrence under the next sequence."""
        return replace(self, sequence=self.sequence + 1, revision=self.revision + 1)

    def armed(self, next_due_at: datetime) -> "Schedule":
        """This schedule in the due index, because an event was stored under it."""
        return replace(
            self,
            state=ScheduleState.ARMED,
            next_due_at=next_due_at,
            revision=self.revision + 1,
        )

    def fetched(self, at: datetime, due_at: datetime, shown: bytes) -> "Schedule":
        """This schedule once the items for the occurrence `due_at` are stored, all of them by `at`.

        An occurrence that was fetched for stays so: of two workers, one may be late.
        """
        return replace(
            self,
            fetched_at=at,
            fetched_for=max(self.fetched_for or due_at, due_at),
            shown=shown,
            revision=self.revision + 1,
        )

    def leaving(self) -> "Schedule":
        """This schedule while fan-out looks: whoever stores an event now arms it again."""
        return replace(self, state=ScheduleState.LEAVING, revision=self.revision + 1)

    def idle(self) -> "Schedule":
        """This schedule out of the due index, after its sequence was spent."""
        return replace(
            self,
            state=ScheduleState.IDLE,
            sequence=self.sequence + 1,
            revision=self.revision + 1,
        )

    def withdrawn(self) -> "Schedule":
        """This schedule out of the due index, because its reader is not visited."""
        return replace(self, state=ScheduleState.WITHDRAWN, revision=self.revision + 1)


@dataclass(frozen=True, slots=True)
class RunKey:
    """Identifies a run: a schedule of a subscriber, and the sequence of the run in it."""

    user_id: str
    schedule: str
    sequence: int

    @property
    def is_immediate(self) -> bool:
        """Whether it is of an immediate email rather than of a digest."""
        return kind_of(self.schedule) is ScheduleKind.IMMEDIATE

    @property
    def is_critical(self) -> bool:
        """Whether its email comes whatever the reader chose, also to one who has left."""
        return is_critical(self.schedule)


@dataclass(frozen=True, slots=True)
class Window:
    """The storage times `(since, until]` of the events that a run sends."""

    since: datetime
    until: datetime

    @property
    def is_empty(self) -> bool:
        """Whether it contains no instant."""
        return self.until <= self.since

    def holds(self, instant: datetime) -> bool:
        """Whether an event stored at `instant` is in it."""
        return self.since < instant <= self.until


@dataclass(frozen=True, slots=True)
class Edition:
    """The rendered email of a run; `categories` are those of the groups that it shows, by rank.

    `blocks`: how many blocks it shows.
    """

    subject: str
    html: str
    text: str
    categories: tuple[str, ...] = ()
    blocks: int = 0


@dataclass(frozen=True, slots=True)
class Mail:
    """An edition addressed to one reader, ready for a provider.

    `headers` are extra header fields (never From, To, Subject or Date); `tags` come back with
    every event that the provider reports for this message, alphabet `[A-Za-z0-9_-]`.
    """

    to: str
    edition: Edition
    headers: tuple[tuple[str, str], ...]
    tags: tuple[tuple[str, str], ...]
