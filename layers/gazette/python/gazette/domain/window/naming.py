"""The names of people and things in an email: the newest name of each, and the characters that a
reader can see. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from unicodedata import category

from gazette.domain.model import Actor, Entity, Event

_FLAG = (
    r"\U0001f3f4(?:[\U000e0061-\U000e007a]{2}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,4}"
    r"|[\U000e0030-\U000e0039]{3})\U000e007f"
)
"""The pattern of a subdivision flag, such as England's.

Such a flag consists of a black flag, tag characters that spell a CLDR code (`gbeng`), and a cancel
tag. https://www.unicode.org/reports/tr51/#valid-emoji-tag-sequences

The code is not validated, but its length is limited, because longer tags can hide text from
readers.
"""

NEVER_SHOWN = (
    rf"({_FLAG})|"
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\uffff\U000e0000-\U000e007f]"
)
"""The pattern of control characters, bidirectional controls and invisible characters.

Bidirectional controls are listed in UAX #9, 2.1 to 2.4. The first group matches a flag. Replace a
match with this group, so that flags are kept.
"""

_NEVER_SHOWN = re.compile(NEVER_SHOWN)

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Invisible characters that Unicode classifies as letters or symbols."""

_LONGEST_NAME = 640
"""The maximum length of a name, in characters. Later characters are ignored, here and in
rendering."""


def without_hidden(text: str) -> str:
    """Return `text` without control characters and invisible characters, but with valid flags."""
    return _NEVER_SHOWN.sub(r"\1", text)


def is_visible(character: str) -> bool:
    """Return True if a character is visible by itself: not a space, combining mark or control."""
    kind = category(character)
    return kind[0] not in "MZ" and kind not in {"Cc", "Cf"} and character not in _BLANK


def is_name(text: str) -> bool:
    """Return True if the text contains a visible character, so that it can be used as a name."""
    if text.isascii() and text.isprintable():
        return not text.isspace() and text != ""
    return any(map(is_visible, without_hidden(text[:_LONGEST_NAME])))


def with_newest_names(events: Iterable[Event]) -> list[Event]:
    """Return `events` in the same order, with the newest name of each person and each thing.

    People are identified by the actor's id, and things by the entity's key. A name is as new as the
    version of the event that contains it. A parent is the last entity in `via`. If one of a
    parent's events contains its title, all events of this parent get the title. The page and avatar
    of a person and the link of a thing are also the last published values.
    """
    ordered = list(events)
    names = _Names()
    for event in sorted(ordered, key=_version_of):
        names.add(event)
    return [names.given_to(event) for event in ordered]


def _version_of(event: Event) -> tuple[datetime, datetime, str]:
    """Return a key that sorts events by the age of their content."""
    return event.amended_at or event.occurred_at, event.occurred_at, event.id


def parent_of(event: Event) -> str:
    """Return the key of the event's parent entity; empty if the event has no parent."""
    has_parent = len(event.via) > 1 or (event.via and event.parent_title)
    return event.via[-1] if has_parent else ""


@dataclass(frozen=True, slots=True)
class _Names:
    """The newest names of the actors, entities and parent entities in an email."""

    actors: dict[str, Actor] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    parents: set[str] = field(default_factory=set)
    """The keys of parents whose title occurs in an event."""

    def add(self, event: Event) -> None:
        """Add the names of an event, which must be newer than all events added before."""
        if event.actor:
            self.actors[event.actor.id] = _merged(event.actor, self.actors.get(event.actor.id))
        if event.parent_title and (parent := parent_of(event)):
            self.titles[parent] = event.parent_title
            self.parents.add(parent)
        key = event.entity.key
        self.titles[key], self.links[key] = event.entity.title, event.entity.url

    def given_to(self, event: Event) -> Event:
        """Return the event with the newest names. Most events already have them."""
        actor = event.actor and self.actors[event.actor.id]
        entity = self._renamed(event.entity)
        parent = parent_of(event)
        parent_title = self.titles[parent] if parent in self.parents else event.parent_title
        if actor == event.actor and entity is event.entity and parent_title == event.parent_title:
            return event
        return replace(event, actor=actor, entity=entity, parent_title=parent_title)

    def _renamed(self, entity: Entity) -> Entity:
        key = entity.key
        title, url = self.titles[key], self.links[key]
        if title == entity.title and url == entity.url:
            return entity
        return replace(entity, title=title, url=url)


def _merged(actor: Actor, before: Actor | None) -> Actor:
    """Return `actor` with any missing page or avatar filled in from `before`."""
    if before is None or before == actor or (actor.url and actor.avatar):
        return actor
    return replace(actor, url=actor.url or before.url, avatar=actor.avatar or before.avatar)
