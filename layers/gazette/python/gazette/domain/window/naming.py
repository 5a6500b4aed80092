"""The names of people and things in an email: the newest name of each, the characters that a reader
can see, and the writing direction, which the majority of letters determines. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from unicodedata import bidirectional, category

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


LTR, RTL = "ltr", "rtl"

LEFT_TO_RIGHT_ISOLATE, RIGHT_TO_LEFT_ISOLATE = "\u2066", "\u2067"
FIRST_STRONG_ISOLATE = "\u2068"
POP_ISOLATE = "\u2069"
ISOLATES = LEFT_TO_RIGHT_ISOLATE + RIGHT_TO_LEFT_ISOLATE + FIRST_STRONG_ISOLATE
"""The characters that start an isolate.
https://www.unicode.org/reports/tr9/#Explicit_Directional_Isolates"""

_LONGEST_CACHED = 1_000
"""The maximum length in characters of a text whose direction is cached. Titles, names and excerpts
are shorter. Thousands of longer texts would exhaust the memory."""

_TYPES = {"L": LTR, "R": RTL, "AL": RTL}
"""The directions of the strong character types.
https://www.unicode.org/reports/tr9/#Bidirectional_Character_Types"""

_CAN_BE_RIGHT_TO_LEFT = re.compile(
    r"[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""A pattern that matches every strong right-to-left character, as a fast check."""

_MARKS = {"\u200e": LTR, "\u200f": RTL, "\u061c": RTL}
"""Invisible characters with a strong type, which are not letters."""

_ADDRESS = re.compile(r"\S*(?:@|://)\S*")
"""The pattern of a user name such as `@ann`, an email address or a URL. These are Latin in texts of
any language."""


def direction_of(text: str, default: str) -> str:
    """Return the direction of most letters, `ltr` or `rtl`. Return `default` for a text without
    letters.

    The attribute `dir="auto"` and first strong isolates use the first letter instead, so a Hebrew
    sentence that begins with `@ann` would be written from left to right. Letters in user names and
    addresses count only if there are no others. If both directions have the same number, the first
    letter decides.
    """
    if default == LTR and text.isascii():
        return LTR
    return _majority_of(text) or default


def isolated(text: str, around: str) -> str:
    """Return `text`, isolated if it could change the direction `around` it, `ltr` or `rtl`."""
    if around == LTR and text.isascii():
        return text
    before = (_isolate if len(text) <= _LONGEST_CACHED else _isolate.__wrapped__)(text, around)
    return f"{before}{text}{POP_ISOLATE}" if before else text


def _majority_of(text: str) -> str:
    return (_majority if len(text) <= _LONGEST_CACHED else _majority.__wrapped__)(text)


def unclosed(text: str) -> int:
    """Return the number of isolates in `text` without a character that ends them."""
    return sum(map(text.count, ISOLATES)) - text.count(POP_ISOLATE)


# The results are cached, because an email repeats most names.


@lru_cache(maxsize=4096)
def _majority(text: str) -> str:
    """Return the direction of most letters, or an empty string for a text without letters."""
    if not _CAN_BE_RIGHT_TO_LEFT.search(text):
        return LTR if "L" in map(bidirectional, text) else ""
    words = _ADDRESS.sub("", text)
    return _most(words) or _most(text) or _first(text)


def _most(text: str) -> str:
    kinds = [_TYPES.get(bidirectional(each), "") for each in text if each not in _MARKS]
    latin, hebrew = kinds.count(LTR), kinds.count(RTL)
    if latin == hebrew:
        return next(filter(None, kinds), "")
    return LTR if latin > hebrew else RTL


def _first(text: str) -> str:
    """Return the direction of the first strong character, or an empty string."""
    return next((way for each in text if (way := _TYPES.get(bidirectional(each)))), "")


@lru_cache(maxsize=4096)
def _isolate(text: str, around: str) -> str:
    """Return the character that starts an isolate around the text.

    Return an empty string for a text that is written entirely in the direction `around`.
    """
    kinds = set(map(bidirectional, text))
    right_to_left = not kinds.isdisjoint({"R", "AL"})
    is_entirely = right_to_left and "L" not in kinds if around == RTL else not right_to_left
    if is_entirely or not text:
        return ""
    majority = _majority_of(text)
    if majority == _first(text) and not any(each in text for each in ISOLATES):
        return FIRST_STRONG_ISOLATE
    return RIGHT_TO_LEFT_ISOLATE if majority == RTL else LEFT_TO_RIGHT_ISOLATE
