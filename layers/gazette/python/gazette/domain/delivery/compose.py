"""Compose a digest from a reader's events: group, rank, cap. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import exp2, log10

from gazette.domain.delivery.arrangement import (
    DEFAULT,
    OTHER_WEIGHT,
    WEIGHTS,
    Arrangement,
    Ranking,
    Sections,
)
from gazette.domain.model import Actor, Event, Importance
from gazette.domain.naming.newest import with_newest_names
from gazette.domain.naming.visible import is_name

_CATEGORIES = 10
"""The most categories that a run stores: a write of its row costs a unit for each KB."""

LINES = 8
"""The most lines of a block in an email: one block alone must not make it too long."""

_IMPORTANCE = {Importance.LOW: 0.5, Importance.NORMAL: 1.0, Importance.HIGH: 3.0}
_FOLLOWED = 0.6
"""What came by a follow, against what was addressed to the reader."""

_ONCE_FOR_EACH_PERSON = frozenset({"like", "follow"})
"""Categories in which an event that repeats another one of the same actor is not an update."""

_ONCE = frozenset({"recommendation"})
"""Categories in which all events on one entity are one update."""

_FADING, _FADED = 86_400, 0.5
"""Seconds after which half of what fades has faded; and what is left in the end."""


@dataclass(frozen=True, slots=True)
class Group:
    """Events of one category about one entity, shown as one line.

    Events without a named actor are a group of their own, so that no other actor seems to have
    caused them. `actors` are distinct, the most recent first; that group has none. `count`: the
    number of updates, without repeated likes and follows. `latest` is the latest event, which
    represents the group. `importance` is the highest of its events. `is_addressed`: at least one of
    them was addressed to the reader rather than followed.
    """

    category: str
    count: int
    actors: tuple[Actor, ...]
    latest: Event
    importance: Importance = Importance.NORMAL
    is_addressed: bool = True


@dataclass(frozen=True, slots=True)
class Block:
    """All groups of one entity, shown under one title; the first group ranks highest.

    `is_full`: shown with excerpts. `section`: the category or the title of the parent under which
    it stands; empty if it stands under none.
    """

    groups: tuple[Group, ...]
    is_full: bool = True
    section: str = ""

    @property
    def latest_place(self) -> int:
        """Which of the groups has the latest event, which represents the block."""
        if len(self.groups) == 1:
            return 0
        ages = [_age_of(group.latest) for group in self.groups]
        return ages.index(max(ages))

    @property
    def latest(self) -> Event:
        """The latest event."""
        return self.groups[self.latest_place].latest


@dataclass(frozen=True, slots=True)
class Digest:
    """The content of one email: the blocks shown, by rank, and the exact count of what is left out.

    `events`: the sum of the counts of all groups. `more_blocks`: how many entities are not shown at
    all. `more_events`: how many updates are not, with those in lines that a block leaves out.
    """

    blocks: tuple[Block, ...]
    events: int
    more_blocks: int
    more_events: int
    sections: Sections = Sections.NONE

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups shown, block by block."""
        return tuple([group for block in self.blocks for group in block.groups])

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of the groups shown, each once, in their order; ten at most."""
        return tuple(
            dict.fromkeys([each.category for block in self.blocks for each in block.groups])
        )[:_CATEGORIES]

    def shortened(self, blocks: int) -> "Digest":
        """Return the digest with its first `blocks` blocks; the others count as left out."""
        dropped = self.blocks[blocks:]
        return replace(
            self,
            blocks=self.blocks[:blocks],
            more_blocks=self.more_blocks + len(dropped),
            more_events=self.more_events
            + sum(group.count for block in dropped for group in block.groups),
        )

    def by_section(self) -> Mapping[str, list[int]]:
        """The places of the blocks by section, the section with the highest block first.

        Blocks under no heading come before all sections: behind one they would seem part of it.
        """
        found: dict[str, list[int]] = {"": []}
        for place, block in enumerate(self.blocks):
            found.setdefault(block.section, []).append(place)
        return found


def compose(
    events: Iterable[Event],
    *,
    max_blocks: int,
    max_lines: int = LINES,
    arrangement: Arrangement = DEFAULT,
    until: datetime | None = None,
    sources: Sequence[str] = (),
) -> Digest:
    """Group, rank and cap `events`, whose order does not matter.

    `until`: the end of the window, from which their age is reckoned; by default the latest event.
    `sources`: content sources, in the order in which they are shown, each ranked in itself: the
    items of one that is asked by their score. What is of none of them comes last.
    The latest event breaks ties of the ranking, and then the key does, so that the same events
    always make the same email. Event ids are unique: they are the key of the table. All groups use
    the newest names of people and things.
    """
    members: dict[tuple[str, str], dict[tuple[str, bool], list[Event]]] = {}
    for event in with_newest_names(events):
        entity = members.setdefault((event.entity.type, event.entity.id), {})
        entity.setdefault((event.category, _has_name(event)), []).append(event)
    found = [[_group(each) for each in entity.values()] for entity in members.values()]
    if until is None and found:
        until = max(group.latest.occurred_at for groups in found for group in groups)
    rank = _ranked_by(arrangement, until, sources)
    for groups in found:
        groups.sort(key=lambda group: rank([group]))
    found.sort(key=rank)
    blocks = tuple(
        Block(
            tuple(groups[:max_lines]),
            place < arrangement.full_blocks,
            _section(groups, arrangement),
        )
        for place, groups in enumerate(found)
    )
    count = sum(group.count for groups in found for group in groups)
    shown = sum(group.count for block in blocks for group in block.groups)
    return Digest(blocks, count, 0, count - shown, arrangement.sections).shortened(max_blocks)


def score(group: Group, weights: Mapping[str, float], until: datetime) -> float:
    """How much a group matters to its reader, the more the higher.

    The weight of its category, times the importance (0.5, 1 or 3), times 1 if addressed to the
    reader and 0.6 if followed, times recency, times 1 + log10 of its count. Recency falls from 1
    to 0.5, each day by half of what is left, back from `until`. Rounded, so that no processor makes
    another order of it.
    """
    age = max((until - group.latest.occurred_at).total_seconds(), 0.0)
    recency = _FADED + (1 - _FADED) * exp2(-age / _FADING)
    addressed = 1.0 if group.is_addressed else _FOLLOWED
    matters = _weight(group, weights) * _importance(group.importance) * addressed
    return round(matters * recency * (1 + log10(group.count)), 6)


_Rank = tuple[int, float, float, str, str, str, bool]

_EVENTS = "events"
"""The content source of what services put."""


def _ranked_by(
    arrangement: Arrangement, until: datetime | None, sources: Sequence[str]
) -> Callable[[list[Group]], _Rank]:
    """The key that sorts lists of groups of one entity; each begins with its highest group."""
    ranking, weights = arrangement.ranking, arrangement.weights
    places = {"" if source == _EVENTS else source: at for at, source in enumerate(sources)}

    def rank(groups: list[Group]) -> _Rank:
        first, moved = 0.0, max(group.latest.occurred_at for group in groups)
        source = min((group.latest.source for group in groups), key=place)
        if source:
            first = max(_score_of(group) for group in groups)
        elif ranking is Ranking.MOST_ACTIVE:
            first = sum(group.count for group in groups)
        elif ranking is Ranking.RELEVANCE and until is not None:
            first = score(groups[0], weights, until)
        entity = groups[0].latest.entity
        key = groups[0].category, entity.type, entity.id, not groups[0].actors
        return place(source), -first, -moved.timestamp(), *key

    def place(source: str) -> int:
        return places.get(source, len(places) if source else -1)

    return rank


def _score_of(group: Group) -> float:
    """How its source ranks an item; one without a score comes behind the others."""
    scored = group.latest.score
    return float("-inf") if scored is None else scored


def _has_name(event: Event) -> bool:
    """Return whether the actor has a visible name."""
    return event.actor is not None and is_name(event.actor.name)


def _group(events: list[Event]) -> Group:
    newest_first = sorted(events, key=_age_of, reverse=True)
    actors: dict[str, Actor] = {}
    for event in newest_first if _has_name(events[0]) else ():
        if event.actor:
            actors.setdefault(event.actor.id, event.actor)
    return Group(
        category=newest_first[0].category,
        count=_count(events),
        actors=tuple(actors.values()),
        latest=newest_first[0],
        importance=max((event.importance for event in events), key=_importance),
        is_addressed=not all(event.via for event in events),
    )


def _count(events: list[Event]) -> int:
    """Return the number of updates of a group."""
    category = events[0].category
    if category in _ONCE:
        return 1
    if category in _ONCE_FOR_EACH_PERSON:
        return len({("", event.id) if event.actor is None else event.actor.id for event in events})
    return len(events)


def _section(groups: list[Group], arrangement: Arrangement) -> str:
    """The section of a block. How important an event is does not move it to another."""
    if arrangement.sections is Sections.CATEGORY:
        return max((_weight(group, arrangement.weights), group.category) for group in groups)[1]
    if arrangement.sections is Sections.PARENT:
        titled = [group.latest for group in groups if group.latest.parent_title]
        return max(titled, key=_age_of).parent_title if titled else ""
    return ""


def _weight(group: Group, weights: Mapping[str, float]) -> float:
    weight = weights.get(group.category)
    return weights.get(OTHER_WEIGHT, WEIGHTS[OTHER_WEIGHT]) if weight is None else weight


def _importance(importance: Importance) -> float:
    """What only another version knows matters as usual."""
    return _IMPORTANCE.get(importance, 1.0)


def _age_of(event: Event) -> tuple[datetime, str]:
    return event.occurred_at, event.id
