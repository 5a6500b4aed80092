"""Content sources: their items for a reader, and the memory of the items shown. Pure.

A content source returns items, or nothing new, for a reader and a span of time. `events` are in the
table already; `recommendations` come from a service of the adopter, over HTTP. Each item becomes an
event (`event_of`), so the rules for events apply to items too.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from gazette.domain.model import Entity, Event, Image, StoredEvent

EVENTS = "events"
"""The content source of every schedule: the events that services publish."""

RECOMMENDATIONS = "recommendations"
"""The content source that is an HTTP service of the adopter."""

CONTENT_SOURCES = (EVENTS, RECOMMENDATIONS)
"""All content sources, in the order in which an email shows them by default."""

CATEGORY_OF: Mapping[str, str] = MappingProxyType({RECOMMENDATIONS: "recommendation"})
"""The category of the items of each queried source. Readers choose its frequency."""

ITEM = "item"
"""The entity type of items."""

LONGEST_ID = 128
"""Characters. The longest id of an item or event."""

REMEMBERED = 84
"""The number of ids that a schedule remembers. With more, its row would cost two write units."""

_HASH_BYTES = 6
"""Bytes of a hash. With six, one new item in three million million is mistaken for an old one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item that a content source offers to one reader."""

    source: str
    """The content source."""

    id: str
    title: str
    url: str
    """The page to which its title links."""

    published: datetime
    """The publication time, which the email shows."""

    image: Image | None = None
    score: float | None = None
    """Items with a higher score come first in a digest."""

    summary: str = ""
    """A short description."""

    expires_at: datetime | None = None
    """The time from which no email shows it."""

    def lasts_until(self, at: datetime) -> bool:
        """Return True if an email at that instant may show it."""
        return self.expires_at is None or self.expires_at > at


@dataclass(frozen=True, slots=True)
class Broken:
    """An error in an item of an answer."""

    place: int
    """The index of the item in the answer, from 0 on."""

    field: str
    """The invalid field."""

    why: str
    """The error."""

    is_left_out: bool = True
    """The item is omitted. Otherwise it is shown without the field."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A source's items for a reader, the best first. No items: nothing new."""

    items: tuple[Item, ...] = ()
    broken: tuple[Broken, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query to a source for one reader's digest."""

    user_id: str
    schedule: str
    since: datetime | None
    """The time up to which earlier digests had the events; None if there was none."""

    until: datetime
    """The time at which the digest is due."""

    limit: int
    """The largest number of items to return."""

    locale: str
    """The reader's locale."""

    time_zone: str
    """The reader's time zone."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """A request to query the sources of a schedule for its occurrence at `due_at`."""

    user_id: str
    schedule: str
    due_at: datetime
    tries: int = 0
    """The number of failed tries so far."""

    asked_at: datetime | None = None
    """The time since which a digest has waited for the items; None if none waits yet."""

    @property
    def waits_since(self) -> datetime:
        """The time since which a digest waits, or will wait. Fan-out may have been late."""
        return max(self.due_at, self.asked_at or self.due_at)


def event_id(source: str, item_id: str) -> str:
    """Return the id of an item's event, such as `recommendations:4711`.

    If the item's id is too long, the event's id contains its hash, which is unique to the item.
    """
    named = f"{source}:{item_id}"
    if len(named) <= LONGEST_ID:
        return named
    return f"{source}#{hashlib.sha256(item_id.encode()).hexdigest()}"


def asked_among(sources: Iterable[str]) -> tuple[str, ...]:
    """Return the sources in `sources` that are queried. Events are stored as they arrive."""
    return tuple(source for source in sources if source in CATEGORY_OF)


def source_of(event_id: str) -> str:
    """Return the content source of an event's id; empty if a service may publish it."""
    for source in CATEGORY_OF:
        if event_id.startswith((f"{source}:", f"{source}#")):
            return source
    return ""


def event_of(item: Item, user_id: str, fetched_at: datetime) -> Event:
    """Return the event for an item. A later fetch of the same item amends it."""
    return Event(
        user_id=user_id,
        id=event_id(item.source, item.id),
        category=CATEGORY_OF[item.source],
        entity=Entity(ITEM, item.id, item.title, item.url, item.image),
        actor=None,
        occurred_at=item.published,
        excerpt=item.summary,
        amended_at=fetched_at,
        expires_at=item.expires_at,
        source=item.source,
        score=item.score,
    )


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The events to store for an answer."""

    changed: tuple[Event, ...]
    """The events of new items, and of waiting items that changed."""

    offered: tuple[str, ...]
    """The ids of all events that the next digest may show."""


def refreshed(
    items: Iterable[Item],
    *,
    waiting: Sequence[StoredEvent],
    shown: "Shown",
    user_id: str,
    at: datetime,
    limit: int,
) -> Refreshed:
    """Choose the first `limit` of `items` that the reader has not had. Pure.

    `waiting`: the source's events that no digest has shown yet. They may be chosen again; other
    events in `shown` may not. `at`: the time of the query.
    """
    waiting_by_id = {stored.event.id: stored for stored in waiting}
    changed_events: list[Event] = []
    offered: list[str] = []
    for item in items:
        if len(offered) == limit:
            break
        event = event_of(item, user_id, at)
        before = waiting_by_id.get(event.id)
        if before is None and shown.holds(event.id):
            continue
        offered.append(event.id)
        if before is None or replace(event, amended_at=before.event.amended_at) != before.event:
            changed_events.append(event)
    return Refreshed(tuple(changed_events), tuple(offered))


def is_fresh(
    *,
    fetched_at: datetime | None,
    fetched_for: datetime | None,
    due_at: datetime,
    now: datetime,
    fresh_for: timedelta,
) -> bool:
    """Return True if the fetched items are fresh enough for `due_at`, so the source is not queried
    again.

    `fetched_for`: the occurrence for which they were fetched. `fresh_for`: their maximum age.
    """
    if fetched_at is None or fetched_for is None:
        return False
    return fetched_for >= due_at and now - fetched_at <= fresh_for


@dataclass(frozen=True, slots=True)
class Shown:
    """The memory of a schedule: the ids of the newest items offered to its reader.

    A remembered item is not offered again. A new id matches a remembered one by chance once in
    three million million.
    """

    hashes: bytes = b""
    """Six bytes for each id, the oldest first; at most REMEMBERED ids."""

    def holds(self, event_id: str) -> bool:
        """Return True if the event was added and is still remembered."""
        return _hash(event_id) in self._each()

    def with_(self, event_ids: Iterable[str]) -> "Shown":
        """Return the memory with these as its newest. The oldest are dropped."""
        newest = dict.fromkeys(map(_hash, event_ids))
        older = [each for each in self._each() if each not in newest]
        return Shown(b"".join([*older, *newest][-REMEMBERED:]))

    def without(self, event_ids: Iterable[str]) -> "Shown":
        """Return the memory without these, so that they may be offered again."""
        removed = set(map(_hash, event_ids))
        return Shown(b"".join(each for each in self._each() if each not in removed))

    def _each(self) -> list[bytes]:
        starts = range(0, len(self.hashes), _HASH_BYTES)
        return [self.hashes[start : start + _HASH_BYTES] for start in starts]


def _hash(event_id: str) -> bytes:
    return hashlib.sha256(event_id.encode()).digest()[:_HASH_BYTES]
