"""Compose a digest from a reader's events: group, rank, cap. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import nlargest, nsmallest
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
from gazette.domain.naming.newest import parent_of, with_newest_names
from gazette.domain.window.briefs import Brief
from gazette.domain.window.folded import (
    Folded,
    Line,
    Thing,
    age_of,
    age_of_event,
    fold,
    lines_of,
    weight_of,
)

_CATEGORIES = 10
"""The most categories that a run stores: a write of its row costs a unit for each KB."""

LINES = 8
"""The most lines of a block in an email: one block alone must not make it too long."""

_TITLED = 100
"""The most lines of an entity whose events are asked for the title of their parent."""

_FOLLOWED = 0.6
"""What came by a follow, against what was addressed to the reader."""

_FADING, _FADED = 86_400, 0.5
"""Seconds after which half of what fades has faded; and what is left in the end."""


@dataclass(frozen=True, slots=True)
class Group:
    """Events of one category about one entity, shown as one line.

    Events without a named actor are a group of their own, so that no other actor seems to have
    caused them. `actors` are the last ones, three at most, each once, the most recent first; that
    group has none. `people`: how many there are in all. `count`: the number of updates, without
    repeated likes and follows. `latest` is the latest event, which represents the group.
    `importance` is the highest of its events. `is_addressed`: at least one of them was addressed to
    the reader rather than followed.
    """

    category: str
    count: int
    actors: tuple[Actor, ...]
    people: int
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
        ages = [age_of_event(group.latest) for group in self.groups]
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
    events: Iterable[Event] | Folded,
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
    the newest names of people and things. Loads only those events of `events` that are shown.
    """
    folded = events if isinstance(events, Folded) else fold(events)
    rank = _Ranks(arrangement, until or folded.latest_at, sources)
    things = folded.things.values()
    shown = [rank.in_order(thing) for thing in nsmallest(max_blocks, things, key=rank.of_thing)]
    groups = _Groups(folded, shown, max_lines, arrangement.sections)
    blocks = tuple(
        Block(
            tuple([groups.of(line) for line in lines[:max_lines]]),
            place < arrangement.full_blocks,
            groups.section(lines, arrangement),
        )
        for place, lines in enumerate(shown)
    )
    count = sum(map(_count, things))
    return Digest(
        blocks,
        count,
        len(things) - len(blocks),
        count - sum(group.count for block in blocks for group in block.groups),
        arrangement.sections,
    )


class _Groups:
    """Makes groups of the lines that are shown, with the events that they are shown by."""

    def __init__(
        self,
        folded: Folded,
        shown: Sequence[Sequence[Line]],
        max_lines: int,
        sections: Sections,
    ) -> None:
        ids = set[str]()
        for lines in shown:
            ids.update(*map(folded.naming, lines[:max_lines]))
            if sections is Sections.PARENT:
                ids.update(line.latest.id for line in _latest_of(lines))
        folded.load(ids)
        parents = {parent_of(folded.loaded[each]) for each in ids}
        naming = set[str]().union(*map(folded.naming_parent, parents))
        folded.load(naming)
        renamed = with_newest_names([folded.loaded[each] for each in ids | naming])
        self._events = {event.id: event for event in renamed}
        self._actors = {event.actor.id: event.actor for event in renamed if event.actor}

    def of(self, line: Line) -> Group:
        return Group(
            category=line.category,
            count=line.count,
            actors=tuple([self._actors[each.person] for each in line.recent if each.person]),
            people=len(line.people) if line.has_name else 0,
            latest=self._events[line.latest.id],
            importance=line.importance,
            is_addressed=line.is_addressed,
        )

    def section(self, lines: Sequence[Line], arrangement: Arrangement) -> str:
        """The section of a block. How important an event is does not move it to another."""
        if arrangement.sections is Sections.CATEGORY:
            return max((_weight(line, arrangement.weights), line.category) for line in lines)[1]
        if arrangement.sections is Sections.PARENT:
            events = (self._events[line.latest.id] for line in _latest_of(lines))
            return next((event.parent_title for event in events if event.parent_title), "")
        return ""


def _latest_of(lines: Sequence[Line]) -> list[Line]:
    """The lines in which something happened last, the latest first."""
    return nlargest(_TITLED, lines, key=lambda line: age_of(line.latest))


def score(line: Brief | Line, weights: Mapping[str, float], until: datetime) -> float:
    """How much a line, or the only event of one, matters to its reader, the more the higher.

    The weight of its category, times the importance (0.5, 1 or 3), times 1 if addressed to the
    reader and 0.6 if followed, times recency, times 1 + log10 of its count. Recency falls from 1
    to 0.5, each day by half of what is left, back from `until`. Rounded, so that no processor makes
    another order of it.
    """
    latest, count = (line.latest, line.count) if isinstance(line, Line) else (line, 1)
    age = max((until - latest.occurred_at).total_seconds(), 0.0)
    recency = _FADED + (1 - _FADED) * exp2(-age / _FADING)
    addressed = 1.0 if line.is_addressed else _FOLLOWED
    matters = _weight(line, weights) * weight_of(line.importance) * addressed
    return round(matters * recency * (1 + log10(count)), 6)


_Rank = tuple[int, float, float, str, str, str, bool]

_EVENTS = "events"
"""The content source of what services put."""


class _Ranks:
    """Ranks lines and entities: what comes first has the least rank."""

    def __init__(
        self, arrangement: Arrangement, until: datetime | None, sources: Sequence[str]
    ) -> None:
        self._ranking, self._weights = arrangement.ranking, arrangement.weights
        self._until = until
        self._places = {
            "" if source == _EVENTS else source: at for at, source in enumerate(sources)
        }

    def in_order(self, thing: Thing) -> list[Line]:
        """The lines of an entity, the highest first."""
        return sorted(lines_of(thing), key=self._of)

    def of_thing(self, thing: Thing) -> _Rank:
        """The rank of an entity."""
        return self._of(thing) if not isinstance(thing, dict) else self._of_lines(thing.values())

    def _of(self, line: Brief | Line) -> _Rank:
        """The rank of a line, or of the only event of one. Most entities have no other."""
        latest = line.latest if isinstance(line, Line) else line
        source = latest.source
        first = 0.0
        if source:
            first = _score_of(latest)
        elif self._ranking is Ranking.MOST_ACTIVE:
            first = line.count if isinstance(line, Line) else 1
        elif self._ranking is Ranking.RELEVANCE and self._until is not None:
            first = score(line, self._weights, self._until)
        return self._rank(source, first, latest.occurred_at, latest, line.has_name)

    def _of_lines(self, lines: Collection[Line]) -> _Rank:
        highest = min(lines, key=self._of)
        source = min([line.latest.source for line in lines], key=self._place)
        first = 0.0
        if source:
            first = max(_score_of(line.latest) for line in lines)
        elif self._ranking is Ranking.MOST_ACTIVE:
            first = sum([line.count for line in lines])
        elif self._ranking is Ranking.RELEVANCE and self._until is not None:
            first = score(highest, self._weights, self._until)
        moved = max([line.latest.occurred_at for line in lines])
        return self._rank(source, first, moved, highest.latest, highest.has_name)

    def _rank(
        self, source: str, first: float, moved: datetime, latest: Brief, has_name: bool
    ) -> _Rank:
        kind, _, entity_id = latest.thing.partition("#")
        key = latest.category, kind, entity_id, not has_name
        return self._place(source), -first, -moved.timestamp(), *key

    def _place(self, source: str) -> int:
        places = self._places
        return places.get(source, len(places) if source else -1)


def _score_of(latest: Brief) -> float:
    """How its source ranks an item; one without a score comes behind the others."""
    return float("-inf") if latest.score is None else latest.score


def _count(thing: Thing) -> int:
    """The number of updates of an entity."""
    if isinstance(thing, dict):
        return sum([line.count for line in thing.values()])
    return thing.count if isinstance(thing, Line) else 1


def _weight(line: Brief | Line, weights: Mapping[str, float]) -> float:
    weight = weights.get(line.category)
    return weights.get(OTHER_WEIGHT, WEIGHTS[OTHER_WEIGHT]) if weight is None else weight
