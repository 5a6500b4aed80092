"""What an email needs to know of each event of a window, however many there are. Pure."""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from gazette.domain.model import Event, Importance, StoredEvent
from gazette.domain.naming.newest import parent_of
from gazette.domain.naming.visible import is_name


class Brief(NamedTuple):
    """An event without its content: what groups, counts and ranks it.

    `version`: the age of its content, by which names are compared. `thing`: the key of its entity.
    `person`: the id of its actor; None without one. `has_name`: the actor's name is visible.
    `has_page`, `has_avatar`: the event says where these are. `parent`: the key of the entity that
    it names as its parent, with a title; empty if it names none.
    """

    id: str
    occurred_at: datetime
    version: datetime
    category: str
    thing: str
    person: str | None
    has_name: bool
    is_addressed: bool
    importance: Importance
    source: str
    score: float | None
    has_page: bool
    has_avatar: bool
    parent: str


class StoredBrief(NamedTuple):
    """A brief under its schedule, as StoredEvent. `lapses_at`: when its service wants it gone.

    `decode` returns the whole event. It holds the row until then.
    """

    event: Brief
    stored_at: datetime
    lasts_until: datetime
    lapses_at: datetime | None
    decode: Callable[[], StoredEvent]

    def is_over(self, now: datetime) -> bool:
        """As in StoredEvent."""
        return self.lasts_until <= now or (self.lapses_at is not None and self.lapses_at <= now)


def brief_of(event: Event) -> Brief:
    """Return the brief of an event."""
    actor = event.actor
    return Brief(
        event.id,
        event.occurred_at,
        event.amended_at or event.occurred_at,
        event.category,
        event.entity.key,
        actor.id if actor else None,
        actor is not None and is_name(actor.name),
        not event.via,
        event.importance,
        event.source,
        event.score,
        actor is not None and actor.url != "",
        actor is not None and actor.avatar != "",
        parent_of(event) if event.parent_title else "",
    )


def stored_brief_of(stored: StoredEvent) -> StoredBrief:
    """Return the brief of a stored event."""
    return StoredBrief(
        brief_of(stored.event),
        stored.stored_at,
        stored.lasts_until,
        stored.event.expires_at,
        lambda: stored,
    )
