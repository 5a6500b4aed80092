"""The content sources, the items that they return for a reader, and the record of shown items.

Each returned item becomes an event (`event_of`), so the rules for events apply to items too.
Pure.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType

from gazette.domain.model import Entity, Event, Image, StoredEvent

EVENTS = "events"
"""The content source for events that services publish. Every schedule uses it."""

RECOMMENDATIONS = "recommendations"
"""The content source that queries the adopter's HTTP service."""

CONTENT_SOURCES = (EVENTS, RECOMMENDATIONS)
"""All content sources, in their default display order."""

CATEGORY_OF: Mapping[str, str] = MappingProxyType({RECOMMENDATIONS: "recommendation"})
"""The category of the items from each queried source. Readers choose a frequency for the
category."""

ITEM = "item"
"""The entity type of content items."""

LONGEST_ID = 128
"""The maximum length of an item id or an event id, in characters."""

REMEMBERED = 84
"""The maximum number of item ids that a schedule remembers. More ids would cost a second write
unit."""

_HASH_BYTES = 6
"""The length of a hash, in bytes.

With six bytes, one in 3 trillion new items is mistaken for an item that was shown before.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An item that a content source offers to one reader."""

    source: str
    """The name of the content source."""

    id: str
    title: str
    url: str
    """The page that the title links to."""

    published: datetime
    """The publication time, which the email shows."""

    image: Image | None = None
    score: float | None = None
    """The relevance score. A digest shows items with a higher score first."""

    summary: str = ""
    """A short description of the item."""

    expires_at: datetime | None = None
    """The time from which emails no longer show the item."""

    def lasts_until(self, at: datetime) -> bool:
        """Return True if an email that is sent at `at` may show the item."""
        return self.expires_at is None or self.expires_at > at


@dataclass(frozen=True, slots=True)
class Broken:
    """An error in an item of a content source's response."""

    place: int
    """The zero-based index of the item in the response."""

    field: str
    """The name of the invalid field."""

    why: str
    """The error text."""

    is_left_out: bool = True
    """True if the whole item is omitted; False if the item is shown without the invalid field."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The items that a content source returned for a reader, best first; empty if there are
    none."""

    items: tuple[Item, ...] = ()
    broken: tuple[Broken, ...] = ()


def event_id(source: str, item_id: str) -> str:
    """Return the id of an item's event, such as `recommendations:4711`.

    An item id that is too long is replaced by its hash, which is unique to the item.
    """
    named = f"{source}:{item_id}"
    if len(named) <= LONGEST_ID:
        return named
    return f"{source}#{hashlib.sha256(item_id.encode()).hexdigest()}"


def asked_among(sources: Iterable[str]) -> tuple[str, ...]:
    """Return the sources that must be queried: all given sources except EVENTS."""
    return tuple(source for source in sources if source in CATEGORY_OF)


def source_of(event_id: str) -> str:
    """Return the content source that an event id names; empty for the id of a published event."""
    for source in CATEGORY_OF:
        if event_id.startswith((f"{source}:", f"{source}#")):
            return source
    return ""


def event_of(item: Item, user_id: str, fetched_at: datetime) -> Event:
    """Return the event for a content item. A later fetch of the same item amends the event."""
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
    """The events to store after a content source was queried."""

    changed: tuple[Event, ...]
    """The events of new items, and of waiting items that have changed."""

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
    """Choose the first `limit` items that the reader has not been offered yet. Pure.

    `waiting` lists the source's events that no digest has shown yet. These events may be chosen
    again, but other events in `shown` may not. `at` is the time of the query.
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


@dataclass(frozen=True, slots=True)
class Shown:
    """The ids of the items most recently offered to a schedule's reader.

    A remembered item is not offered again. One in 3 trillion new ids is mistaken for a remembered
    id, and its item is not offered.
    """

    hashes: bytes = b""
    """The six-byte hashes of at most REMEMBERED ids, oldest first."""

    def holds(self, event_id: str) -> bool:
        """Return True if the event id was added and is still remembered."""
        return _hash(event_id) in self._each()

    def with_(self, event_ids: Iterable[str]) -> "Shown":
        """Return a copy with these event ids added as the newest. Excess ids are dropped, oldest
        first."""
        newest = dict.fromkeys(map(_hash, event_ids))
        older = [each for each in self._each() if each not in newest]
        return Shown(b"".join([*older, *newest][-REMEMBERED:]))

    def without(self, event_ids: Iterable[str]) -> "Shown":
        """Return a copy without these event ids, so that the items may be offered again."""
        removed = set(map(_hash, event_ids))
        return Shown(b"".join(each for each in self._each() if each not in removed))

    def _each(self) -> list[bytes]:
        starts = range(0, len(self.hashes), _HASH_BYTES)
        return [self.hashes[start : start + _HASH_BYTES] for start in starts]


def _hash(event_id: str) -> bytes:
    return hashlib.sha256(event_id.encode()).digest()[:_HASH_BYTES]
