"""The values that Gazette works with. All are frozen, all instants are timezone-aware UTC."""

from dataclasses import dataclass, replace
from datetime import datetime

from gazette.domain.scheduling.kinds import ScheduleKind, kind_of
from gazette.domain.scheduling.recurrence import Recurrence
from gazette.domain.subscribers.frequency import Frequency

DAILY = Frequency.DAILY.value
"""The name of the schedule that every subscriber has."""


@dataclass(frozen=True, slots=True)
class Entity:
    """What an event is about: an article, a post, a conversation."""

    type: str
    id: str
    title: str
    url: str

    @property
    def key(self) -> str:
        """Names the entity in follows and activities, such as `post#p1`."""
        return entity_key(self.type, self.id)


def entity_key(entity_type: str, entity_id: str) -> str:
    """Names an entity; a type has no `#`, so that two entities never share a key."""
    return f"{entity_type}#{entity_id}"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who made an event happen."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened that one subscriber may want to know.

    `id` is the producer's idempotency key, unique per subscriber. `occurred_at` is the
    producer's clock: it is shown, and held against follows and mutes; windows are made of the
    time at which the event was stored. `amended_at` dates what the event says; None is before
    all. `via` holds the keys of the entities through whose followers the event came, the more
    specific first; empty where it was addressed to the reader.
    """

    user_id: str
    id: str
    category: str
    entity: Entity
    actor: Actor
    occurred_at: datetime
    excerpt: str = ""
    amended_at: datetime | None = None
    via: tuple[str, ...] = ()

    def amends(self, earlier: "Event") -> bool:
        """Whether this says something newer than `earlier`, which has the same id."""
        return is_newer(self.amended_at, earlier.amended_at)


def is_newer(amended_at: datetime | None, earlier: datetime | None) -> bool:
    """Whether something amended at one instant replaces the other; None is before all."""
    return amended_at is not None and (earlier is None or earlier < amended_at)


@dataclass(frozen=True, slots=True)
class Placed:
    """An event that waits, or went, under a schedule, since `stored_at`.

    It is sent up to `lasts_until`; after that it has expired.
    """

    event: Event
    schedule: str
    stored_at: datetime
    lasts_until: datetime

    @property
    def is_immediate(self) -> bool:
        """Whether it belongs to an immediate email rather than to a digest."""
        return kind_of(self.schedule) is ScheduleKind.IMMEDIATE

    def has_expired(self, now: datetime) -> bool:
        """Whether it is not sent any more."""
        return self.lasts_until <= now


@dataclass(frozen=True, slots=True)
class Retracted:
    """The trace of an event or an activity that was withdrawn: its id never comes back.

    `schedule` is where an event was; empty where it had not come yet.
    """

    id: str
    schedule: str = ""


@dataclass(frozen=True, slots=True)
class Schedule:
    """One recurring digest of one subscriber.

    `sequence` is the number of the next run, `next_due_at` the instant it is due, and
    `revision` grows with each change of preferences, so that fan-out and a change made at the
    same moment cannot overwrite each other. `quiet_until`: nothing that was stored under it up to
    this instant has still to be sent. `last_due_at` is the occurrence that was started last.
    `active_until`: no need to ask before then whether the reader is still active. `listed`: it
    is in the due index, where fan-out sees it.
    """

    user_id: str
    name: str
    wanted: Recurrence
    next_due_at: datetime
    sequence: int
    revision: int
    changed_at: datetime
    quiet_until: datetime | None = None
    last_due_at: datetime | None = None
    active_until: datetime | None = None
    listed: bool = True

    def advanced(
        self,
        next_due_at: datetime,
        *,
        quiet_until: datetime | None = None,
        active_until: datetime | None = None,
    ) -> "Schedule":
        """This, once the occurrence that it waits for was started."""
        return replace(
            self,
            next_due_at=next_due_at,
            sequence=self.sequence + 1,
            quiet_until=quiet_until or self.quiet_until,
            last_due_at=self.next_due_at,
            active_until=active_until or self.active_until,
        )


@dataclass(frozen=True, slots=True)
class RunKey:
    """Names a run: the `sequence`-th digest of one schedule of one subscriber."""

    user_id: str
    schedule: str
    sequence: int

    @property
    def is_immediate(self) -> bool:
        """Whether it is of an immediate email rather than of a digest."""
        return kind_of(self.schedule) is ScheduleKind.IMMEDIATE


@dataclass(frozen=True, slots=True)
class Window:
    """The span `(since, until]` of storage times that a run covers."""

    since: datetime
    until: datetime

    @property
    def is_empty(self) -> bool:
        """True where no event can lie in it."""
        return self.until <= self.since

    def holds(self, instant: datetime) -> bool:
        """Whether what was stored then lies in it."""
        return self.since < instant <= self.until


@dataclass(frozen=True, slots=True)
class Edition:
    """The rendered email of a run.

    `categories`: those of the groups that it shows, the first ones by rank.
    """

    subject: str
    html: str
    text: str
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mail:
    """An edition addressed to one reader, ready for a provider.

    `headers` are extra header fields (never From, To, Subject or Date); `tags` come back with
    every event that the provider reports for this message, alphabet `[A-Za-z0-9_-]`.
    `is_immediate`: it goes out at once, and is no digest.
    """

    to: str
    edition: Edition
    headers: tuple[tuple[str, str], ...]
    tags: tuple[tuple[str, str], ...]
    is_immediate: bool = False
