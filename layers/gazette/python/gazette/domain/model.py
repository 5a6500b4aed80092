"""The values that Gazette works with. All are frozen, all instants are timezone-aware UTC."""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum

from gazette.domain.cadence import AT_EIGHT, Cadence, Days, DigestTimes, Pause, minute_of
from gazette.domain.frequency import Frequencies, Frequency
from gazette.domain.history import History

DAILY = Frequency.DAILY.value
"""The name of the schedule that every subscriber has."""


class SubscriberStatus(StrEnum):
    """Whether a subscriber may be sent to. Who is dormant rests until the next sign of life."""

    ACTIVE = "active"
    DORMANT = "dormant"
    UNSUBSCRIBED = "unsubscribed"
    SUPPRESSED = "suppressed"


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
    """An event that waits, or went, under a schedule, since `stored_at`."""

    event: Event
    schedule: str
    stored_at: datetime


@dataclass(frozen=True, slots=True)
class Retracted:
    """The trace of an event or an activity that was withdrawn: its id never comes back.

    `schedule` is where an event was; empty where it had not come yet.
    """

    id: str
    schedule: str = ""


@dataclass(frozen=True, slots=True)
class Subscriber:
    """Who receives.

    `changed_at` is the producer's clock: the latest profile wins. `choices` are the frequencies
    by category, as they were chosen over time. `registered_on` and `active_on` are the UTC dates
    of the first profile and of the last sign of life; `awake_since` is when one ended a rest.
    `placed` says for which choices the waiting events were last put in their place, and
    `revision` counts the changes of profile and status. `erased_at` is set where somebody with
    this id was erased before.
    """

    user_id: str
    email: str
    name: str
    locale: str
    time_zone: str
    changed_at: datetime
    status: SubscriberStatus = SubscriberStatus.ACTIVE
    times: DigestTimes = AT_EIGHT
    choices: History[Frequencies] = ()
    registered_on: date | None = None
    active_on: date | None = None
    awake_since: datetime | None = None
    placed: str = ""
    revision: int = 1
    erased_at: datetime | None = None

    @property
    def chosen(self) -> Frequencies:
        """The frequencies that were chosen last."""
        return self.choices[-1][1] if self.choices else ()

    @property
    def has_left(self) -> bool:
        """Whether nothing may be sent, nor kept for later."""
        return self.status in {SubscriberStatus.UNSUBSCRIBED, SubscriberStatus.SUPPRESSED}

    def rests_through(self, instant: datetime) -> bool:
        """Whether what occurs then is not sent at once: in a pause, or while dormant."""
        if self.pause and self.pause.holds_at(instant):
            return True
        slept = self.awake_since is not None and instant < self.awake_since
        return slept or self.status is SubscriberStatus.DORMANT

    def rests_at(self, sunset: timedelta) -> datetime:
        """When this reader begins to rest, if nothing more is seen of them: a UTC midnight."""
        seen = max(
            filter(None, (self.active_on, self.registered_on)), default=self.changed_at.date()
        )
        return datetime.combine(seen + timedelta(days=1), time(), UTC) + sunset

    def is_unchanged_since(self, read: "Subscriber") -> bool:
        """Whether profile and status are as read; revisions begin anew after an erasure."""
        return (self.revision, self.erased_at) == (read.revision, read.erased_at)

    def cadence(self, digest: Frequency) -> Cadence:
        """When the schedule of `digest` is due for this reader."""
        days = {
            Frequency.WEEKLY: Days(frozenset({self.times.weekly_on})),
            Frequency.CUSTOM: self.times.custom_on,
        }.get(digest, Days())
        minute = self.times.minute
        if minute is None:
            minute = minute_of(self.user_id)
        return Cadence(self.times.hour, minute, self.time_zone, days, self.times.paused_until)

    @property
    def pause(self) -> Pause | None:
        """Until when no email is wanted, also where that has passed."""
        until = self.times.paused_until
        return Pause(until, self.time_zone) if until else None


@dataclass(frozen=True, slots=True)
class Erased:
    """What is left of a subscriber who was deleted: that, and when, by the producer's clock."""

    user_id: str
    erased_at: datetime


Reader = Subscriber | Erased | None
"""What Gazette knows of a user id; None where nothing was said of it yet."""


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
    wanted: Cadence
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


@dataclass(frozen=True, slots=True)
class Window:
    """The span `(since, until]` of storage times that a run covers."""

    since: datetime
    until: datetime

    @property
    def is_empty(self) -> bool:
        """True where no event can lie in it."""
        return self.until <= self.since


@dataclass(frozen=True, slots=True)
class Edition:
    """The rendered email of a run."""

    subject: str
    html: str
    text: str


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
