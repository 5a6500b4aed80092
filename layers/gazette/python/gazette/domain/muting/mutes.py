"""The things that a reader has muted. Pure.

A mute applies to one entity, whatever the category of an event and whichever way the event reaches
the reader. The latest change of each entity counts, so the changes may arrive in any order.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gazette.domain.model import entity_reference

MOST_MUTED = 100
"""The maximum number of things that a reader can mute, which limits the size of the reader's
row."""

MOST_ENDED = 100
"""The maximum number of ended mutes that are stored. Without them, an outdated message could mute a
thing again."""

LONGEST_TITLE = 60
"""The maximum length of a stored title, in characters."""

_STEP = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Mute:
    """The latest change of a reader's mute of one entity."""

    entity: str
    """The key of the entity."""

    at: datetime
    """The time of the change."""

    is_muted: bool = True
    """True if the entity is muted; False if the mute has ended."""

    title: str = ""
    """The entity's title for the preference page; empty if unknown."""

    @property
    def name(self) -> str:
        """The entity's title, or its type and id."""
        return self.title or name_of(self.entity)

    @property
    def ended(self) -> "Mute":
        """The end of this mute.

        It is dated one microsecond later instead of now. So an outdated page, or an undo that is
        repeated, never ends a later mute (decision 85).
        """
        return Mute(self.entity, self.at + _STEP, is_muted=False)


Mutes = tuple[Mute, ...]
"""The changes of a reader's mutes, one for each entity, sorted by entity."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A reader's mutes after some changes."""

    mutes: Mutes
    refused: tuple[str, ...] = ()
    """The entities that were not muted, because the reader has muted too many."""


def name_of(entity: str) -> str:
    """Return the type and the id of an entity, for an entity without a title."""
    return " ".join(entity_reference(entity))


def in_force(mutes: Mutes) -> Mutes:
    """Return the mutes that have not ended."""
    return tuple(mute for mute in mutes if mute.is_muted)


def mute_now(entity: str, title: str, mutes: Mutes, now: datetime) -> Mute:
    """Return a mute that is in force from now on, also if a service's clock is ahead."""
    latest = next((mute.at for mute in mutes if mute.entity == entity), None)
    return Mute(entity, max(now, latest + _STEP) if latest else now, title=short_title(title))


def short_title(title: str) -> str:
    """Return a title on one line, shortened to the maximum length."""
    line = " ".join(title.split())
    return line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1].rstrip()}…"


def changed(mutes: Mutes, changes: Iterable[Mute]) -> Changed:
    """Apply changes. Applying the same change twice has no effect.

    Of two changes of an entity at the same time, the mute counts. If the reader has muted
    MOST_MUTED entities, these stay muted, and a further mute is refused.
    """
    by_entity, refused = {mute.entity: mute for mute in mutes}, list[str]()
    for change in changes:
        before = by_entity.get(change.entity)
        if before and (before.at, before.is_muted) >= (change.at, change.is_muted):
            continue
        is_new = change.is_muted and not (before and before.is_muted)
        if is_new and len(in_force(tuple(by_entity.values()))) >= MOST_MUTED:
            refused.append(change.entity)
            continue
        title = short_title(change.title) or (before.title if before else "")
        by_entity[change.entity] = replace(change, title=title if change.is_muted else "")
    return Changed(_kept(by_entity.values()), tuple(refused))


def _kept(mutes: Iterable[Mute]) -> Mutes:
    newest = sorted(mutes, key=lambda mute: (mute.is_muted, mute.at, mute.entity))
    ended = [mute for mute in newest if not mute.is_muted][-MOST_ENDED:]
    return tuple(sorted((*in_force(tuple(newest)), *ended), key=lambda mute: mute.entity))
