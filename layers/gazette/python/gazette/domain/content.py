"""Content sources: what they give a reader, and what is remembered of it. Pure.

A content source gives items, or nothing new, for a reader and a span of time. `events` are in the
table already; `recommendations` come from a service of the adopter, over HTTP. Each item becomes an
event (`event_of`), so whatever holds for events holds for items.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from gazette.domain.model import Entity, Event, Image, StoredEvent

EVENTS = "events"
"""The content source that every schedule has: what services put on the bus."""

RECOMMENDATIONS = "recommendations"
"""The content source that is an HTTP service of the adopter."""

CONTENT_SOURCES = (EVENTS, RECOMMENDATIONS)
"""All that there are, in the order in which an email shows them by default."""

CATEGORY_OF: Mapping[str, str] = MappingProxyType({RECOMMENDATIONS: "recommendation"})
"""The category of the items of each source that is asked. Readers choose its frequency."""

ITEM = "item"
"""The type of the entities that items are."""

LONGEST_ID = 128
"""Characters of an item's or an event's id."""

REMEMBERED = 84
"""So many ids does the memory of a schedule hold: with more, its row would be two write units."""

_HASH_BYTES = 6
"""With so many of them, one new item in three million million is taken for an old one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something that a content source offers to one reader.

    `source`: the content source. `url`: where it leads. `published`: shown. `score`: the higher,
    the earlier among the items of a digest. `summary`: a few words of it. No email shows it from
    `expires_at` on.
    """

    source: str
    id: str
    title: str
    url: str
    published: datetime
    image: Image | None = None
    score: float | None = None
    summary: str = ""
    expires_at: datetime | None = None

    def lasts_until(self, at: datetime) -> bool:
        """Whether an email at that instant may show it."""
        return self.expires_at is None or self.expires_at > at


@dataclass(frozen=True, slots=True)
class Broken:
    """What is wrong with an item: its place in the answer, from 0 on, the field, and why.

    `is_left_out`: the item is; else it is shown without that field.
    """

    place: int
    field: str
    why: str
    is_left_out: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """What a source has for a reader, the best first; without items: nothing new."""

    items: tuple[Item, ...] = ()
    broken: tuple[Broken, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a source is asked: what should this reader's digest that is due at `until` show?

    `since`: up to when events were in an earlier digest; None if there was none. `limit`: how many
    items are wanted at most. `locale` and `time_zone` are the reader's.
    """

    user_id: str
    schedule: str
    since: datetime | None
    until: datetime
    limit: int
    locale: str
    time_zone: str


@dataclass(frozen=True, slots=True)
class Fetch:
    """Ask the sources of a schedule for its occurrence at `due_at`.

    `tries`: failed ones so far. `asked_at`: since when a digest waits for it; None: none does yet.
    """

    user_id: str
    schedule: str
    due_at: datetime
    tries: int = 0
    asked_at: datetime | None = None

    @property
    def waits_since(self) -> datetime:
        """Since when a digest waits, or will: fan-out may have been late."""
        return max(self.due_at, self.asked_at or self.due_at)


def event_id(source: str, item_id: str) -> str:
    """The id of the event that an item becomes, such as `recommendations:4711`.

    Of an item whose id is too long it is a hash, which no other item's event has.
    """
    named = f"{source}:{item_id}"
    if len(named) <= LONGEST_ID:
        return named
    return f"{source}#{hashlib.sha256(item_id.encode()).hexdigest()}"


def asked_among(sources: Iterable[str]) -> tuple[str, ...]:
    """Those of a schedule's or a run's sources that are asked: events come by themselves."""
    return tuple(source for source in sources if source in CATEGORY_OF)


def source_of(event_id: str) -> str:
    """The content source to which an event's id belongs; empty if a service may put it."""
    for source in CATEGORY_OF:
        if event_id.startswith((f"{source}:", f"{source}#")):
            return source
    return ""


def event_of(item: Item, user_id: str, fetched_at: datetime) -> Event:
    """The event that a reader gets for an item. A later fetch of the same item amends it."""
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
    """What to do with an answer.

    `put`: the events of new items, and of those that wait and have changed. `offered`: the ids of
    all events that the next digest may show.
    """

    put: tuple[Event, ...]
    offered: tuple[str, ...]


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

    `waiting`: the source's events that no digest has shown yet. What waits may be chosen again;
    what `shown` holds beside may not. `at`: when the source was asked.
    """
    there = {stored.event.id: stored for stored in waiting}
    put: list[Event] = []
    offered: list[str] = []
    for item in items:
        if len(offered) == limit:
            break
        event = event_of(item, user_id, at)
        before = there.get(event.id)
        if before is None and shown.holds(event.id):
            continue
        offered.append(event.id)
        if before is None or replace(event, amended_at=before.event.amended_at) != before.event:
            put.append(event)
    return Refreshed(tuple(put), tuple(offered))


def is_fresh(
    *,
    fetched_at: datetime | None,
    fetched_for: datetime | None,
    due_at: datetime,
    now: datetime,
    fresh_for: timedelta,
) -> bool:
    """Whether what was fetched will do for the occurrence at `due_at`: it is not asked again.

    `fetched_for`: the occurrence for which it was fetched. `fresh_for`: how old it may be.
    """
    if fetched_at is None or fetched_for is None:
        return False
    return fetched_for >= due_at and now - fetched_at <= fresh_for


@dataclass(frozen=True, slots=True)
class Shown:
    """The memory of a schedule: the ids of the newest items that its reader was offered.

    `hashes`: six bytes for each id, the oldest first, REMEMBERED of them at most. What is held is
    not offered again. An id that was never added is held by chance once in three million million.
    """

    hashes: bytes = b""

    def holds(self, event_id: str) -> bool:
        """Whether the event was added, and is not forgotten yet."""
        return _hash(event_id) in self._each()

    def with_(self, event_ids: Iterable[str]) -> "Shown":
        """The memory with these as its newest. The oldest are forgotten."""
        newest = dict.fromkeys(map(_hash, event_ids))
        kept = [each for each in self._each() if each not in newest]
        return Shown(b"".join([*kept, *newest][-REMEMBERED:]))

    def without(self, event_ids: Iterable[str]) -> "Shown":
        """The memory without these: they may be offered again."""
        gone = set(map(_hash, event_ids))
        return Shown(b"".join(each for each in self._each() if each not in gone))

    def _each(self) -> list[bytes]:
        starts = range(0, len(self.hashes), _HASH_BYTES)
        return [self.hashes[start : start + _HASH_BYTES] for start in starts]


def _hash(event_id: str) -> bytes:
    return hashlib.sha256(event_id.encode()).digest()[:_HASH_BYTES]
