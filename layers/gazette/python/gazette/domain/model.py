"""The values that Gazette works with. All are frozen, all instants are timezone-aware UTC."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

DAILY = "daily"
"""The name of the schedule that every subscriber has."""


class SubscriberStatus(StrEnum):
    """Whether a subscriber may be sent to."""

    ACTIVE = "active"
    UNSUBSCRIBED = "unsubscribed"


@dataclass(frozen=True, slots=True)
class Entity:
    """What an event is about: an article, a post, a conversation."""

    type: str
    id: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Actor:
    """Who made an event happen."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened that one subscriber may want to know.

    `id` is the producer's idempotency key, unique per subscriber. `occurred_at` is the
    producer's clock and is only shown; windows are made of the time at which it was stored.
    """

    user_id: str
    id: str
    category: str
    entity: Entity
    actor: Actor
    occurred_at: datetime
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class Subscriber:
    """Who receives. `changed_at` is the producer's clock: the latest profile wins."""

    user_id: str
    email: str
    name: str
    locale: str
    time_zone: str
    changed_at: datetime
    status: SubscriberStatus = SubscriberStatus.ACTIVE


@dataclass(frozen=True, slots=True)
class LocalHour:
    """When in the day a digest is wanted, on the subscriber's own clock."""

    hour: int
    minute: int
    time_zone: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """One recurring digest of one subscriber.

    `sequence` is the number of the next run, `next_due_at` the instant it is due, and
    `revision` grows with each change of preferences, so that fan-out and a change made at the
    same moment cannot overwrite each other.
    """

    user_id: str
    name: str
    wanted: LocalHour
    next_due_at: datetime
    sequence: int
    revision: int
    changed_at: datetime


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
