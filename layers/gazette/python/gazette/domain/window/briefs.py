"""Briefs of events, which contain only the data needed to group, count and rank events. Pure."""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from gazette.domain.model import Event, Importance, StoredEvent
from gazette.domain.window.naming import is_name, parent_of


class Brief(NamedTuple):
    """An event without its content. A brief has only the attributes for grouping, counting and
    ranking."""

    id: str
    occurred_at: datetime
    version: datetime
    """The version of the content. If names differ, the name in the newest version is used."""

    category: str
    thing: str
    """The key of the event's entity."""

    person: str | None
    """The id of the event's actor; None if there is no actor."""

    has_name: bool
    """True if the actor's name is visible."""

    is_addressed: bool
    importance: Importance
    source: str
    score: float | None
    has_page: bool
    """True if the event contains the actor's page."""

    has_avatar: bool
    """True if the event contains the actor's avatar."""

    parent: str
    """The key of the parent entity, if the event contains the parent's title; otherwise empty."""


class StoredBrief(NamedTuple):
    """The brief of a StoredEvent, which is an event that is stored under a schedule."""

    event: Brief
    stored_at: datetime
    over_at: datetime
    """The time from which no email shows the event, because it has expired or lapsed."""

    lapses_at: datetime | None
    """The time at which the event lapses (`expires_at`)."""

    decode: Callable[[], StoredEvent]
    """A function that returns the whole event. The function keeps the row in memory."""


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
    lapses_at = stored.event.expires_at
    return StoredBrief(
        brief_of(stored.event),
        stored.stored_at,
        min(stored.lasts_until, lapses_at or stored.lasts_until),
        lapses_at,
        lambda: stored,
    )
