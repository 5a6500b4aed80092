"""The composition of a digest. The reader's events are grouped, ranked and capped. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from heapq import nlargest, nsmallest
from math import exp2, log10
from operator import attrgetter
from typing import NamedTuple

from gazette.domain.delivery.arrangement import (
    DEFAULT,
    FOR_THE_READER,
    OTHER_WEIGHT,
    WEIGHTS,
    Arrangement,
    Ranking,
    Sections,
)
from gazette.domain.model import Actor, Event, Importance, entity_reference
from gazette.domain.subscribers.frequency import ASKED_CATEGORIES
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
from gazette.domain.window.naming import parent_of, with_newest_names

_CATEGORIES = 10
"""The maximum number of categories that the row of a run stores. Each KB of a row costs one write
unit."""

LINES = 8
"""The maximum number of lines in a block. It prevents one block from making an email too long."""

_TITLED = 100
"""The maximum number of an entity's lines that are searched for the title of its parent."""

_FOLLOWED = 0.6
"""The weight of a followed update, relative to an update that is addressed to the reader."""

_FADING, _FADED = 86_400, 0.5
"""The half-life of recency in seconds, and the recency of the oldest update."""


@dataclass(frozen=True, slots=True)
class Group:
    """Events of one category about one entity, shown as one line.

    Events without a named actor form a separate group, so that they are not attributed to another
    actor.
    """

    category: str
    count: int
    """The number of updates, not counting repeated likes and follows."""

    actors: tuple[Actor, ...]
    """The last three distinct actors, most recent first; empty if the events name no actors."""

    people: int
    """The number of distinct actors."""

    latest: Event
    """The latest event, which represents the group."""

    importance: Importance = Importance.NORMAL
    """The highest importance of the group's events."""

    is_addressed: bool = True
    """True if any event was addressed to the reader and did not arrive through a follow."""

    is_for_reader: bool = False
    """True if the group is in the first part of a digest (`FOR_THE_READER`)."""

    quoted: tuple[Event, ...] = ()
    """The latest events, latest first, where a block may quote several; otherwise empty."""


_CATEGORY, _IMPORTANCE = attrgetter("category"), attrgetter("importance")
_IS_FOR_READER = attrgetter("is_for_reader")
"""Functions that read a field of a group. With `map`, they are faster than comprehensions."""


class Count(NamedTuple):
    """The number of updates of one category in one part of a digest, shown or not."""

    category: str
    updates: int
    is_for_reader: bool


class Part(StrEnum):
    """The parts of a digest that has no sections."""

    FOR_YOU = "for_you"
    """Blocks with updates for the reader, and important blocks."""

    ALSO = "also"
    """All other blocks."""

    RECOMMENDED = "recommended"
    """Blocks that contain only recommendations."""


@dataclass(frozen=True, slots=True)
class Block:
    """All groups of one entity, shown under one title, highest-ranked first."""

    groups: tuple[Group, ...]
    is_full: bool = True
    """True if the block is shown with excerpts."""

    section: str = ""
    """The block's section heading, a category or a parent's title; empty if there is none."""

    @property
    def is_for_reader(self) -> bool:
        """True if the block is in the first part of a digest."""
        return True in map(_IS_FOR_READER, self.groups)

    @property
    def part(self) -> Part:
        """The part of a digest without sections that the block is in."""
        if self.is_for_reader:
            return Part.FOR_YOU
        is_recommended = ASKED_CATEGORIES.issuperset(map(_CATEGORY, self.groups))
        return Part.RECOMMENDED if is_recommended else Part.ALSO

    @property
    def is_important(self) -> bool:
        """True if the block shows an event of high importance."""
        return Importance.HIGH in map(_IMPORTANCE, self.groups)

    @property
    def latest_place(self) -> int:
        """The index of the group with the latest event, which represents the block."""
        if len(self.groups) == 1:
            return 0
        ages = [age_of_event(group.latest) for group in self.groups]
        return ages.index(max(ages))

    @property
    def latest(self) -> Event:
        """The latest event in the block."""
        return self.groups[self.latest_place].latest


@dataclass(frozen=True, slots=True)
class Digest:
    """The content of one email: the blocks in rank order, and the number of updates that are not
    shown."""

    blocks: tuple[Block, ...]
    events: int
    """The total number of updates in all groups, shown or not."""

    more_blocks: int
    """The number of entities that the email omits completely."""

    more_events: int
    """The number of updates that the email does not show, including updates in omitted lines."""

    sections: Sections = Sections.NONE
    counts: tuple[Count, ...] = ()
    """The updates by category, those for the reader first, each by the weight of the category."""

    @property
    def has_parts(self) -> bool:
        """True if the digest has no sections, and its blocks are in several parts."""
        return self.sections is Sections.NONE and len({block.part for block in self.blocks}) > 1

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups in the email, block by block."""
        return tuple([group for block in self.blocks for group in block.groups])

    @property
    def categories(self) -> tuple[str, ...]:
        """The first ten distinct categories of the groups in the email, in display order."""
        return tuple(
            dict.fromkeys([each.category for block in self.blocks for each in block.groups])
        )[:_CATEGORIES]

    def shortened(self, blocks: int) -> "Digest":
        """Return the digest with only its first `blocks` blocks. The remaining blocks count as not
        shown."""
        dropped = self.blocks[blocks:]
        return replace(
            self,
            blocks=self.blocks[:blocks],
            more_blocks=self.more_blocks + len(dropped),
            more_events=self.more_events
            + sum(group.count for block in dropped for group in block.groups),
        )

    def by_section(self) -> Mapping[str, list[int]]:
        """Return the indexes of the blocks by section. The section with the highest-ranked block is
        first.

        Blocks without a heading come before all sections, because after a section they would seem
        to belong to it.
        """
        places: dict[str, list[int]] = {"": []}
        for place, block in enumerate(self.blocks):
            places.setdefault(block.section, []).append(place)
        return places


def compose(
    events: Iterable[Event] | Folded,
    *,
    max_blocks: int,
    max_lines: int = LINES,
    arrangement: Arrangement = DEFAULT,
    until: datetime | None = None,
    sources: Sequence[str] = (),
) -> Digest:
    """Group, rank and cap events, and return the digest.

    The order of `events` does not matter. `until` is the end of the window, from which the age of
    events is measured; the default is the time of the latest event. `sources` are the content
    sources in display order. Each source is ranked separately, and items of a queried source are
    ranked by their score. Events from other sources come last. Ties are broken by the latest event
    and then by the key, so that the same events always produce the same email. Event ids are
    unique, because they are the key of the table. All groups use the newest names of people and
    things. Only events that are shown are loaded.
    """
    folded = events if isinstance(events, Folded) else fold(events)
    rank = _Ranks(arrangement, until or folded.latest_at, sources)
    things = folded.things.values()
    thing_lines = [
        rank.in_order(thing) for thing in nsmallest(max_blocks, things, key=rank.of_thing)
    ]
    groups = _Groups(folded, thing_lines, max_lines, rank, arrangement)
    blocks = tuple(
        Block(
            groups.of(lines[:max_lines], place),
            place < arrangement.full_blocks,
            groups.section(lines),
        )
        for place, lines in enumerate(thing_lines)
    )
    counts = rank.counts(things)
    count = sum(each.updates for each in counts)
    return Digest(
        blocks,
        count,
        len(things) - len(blocks),
        count - sum(group.count for block in blocks for group in block.groups),
        arrangement.sections,
        counts,
    )


class _Groups:
    """A builder that creates the groups of a digest from its lines."""

    def __init__(
        self,
        folded: Folded,
        shown: Sequence[Sequence[Line]],
        max_lines: int,
        rank: "_Ranks",
        arrangement: Arrangement,
    ) -> None:
        self._rank, self._arrangement = rank, arrangement
        ids = set[str]()
        for place, lines in enumerate(shown):
            ids.update(*map(folded.naming, lines[:max_lines]))
            ids.update(each.id for each in self._quoted(lines[0], place))
            if arrangement.sections is Sections.PARENT:
                ids.update(line.latest.id for line in _latest_of(lines))
        folded.load(ids)
        parents = {parent_of(folded.loaded[each]) for each in ids}
        naming = set[str]().union(*map(folded.naming_parent, parents))
        folded.load(naming)
        renamed = with_newest_names([folded.loaded[each] for each in ids | naming])
        self._events = {event.id: event for event in renamed}
        self._actors = {event.actor.id: event.actor for event in renamed if event.actor}

    def of(self, lines: Sequence[Line], place: int) -> tuple[Group, ...]:
        """Return the groups of the block at `place`. Only the first one quotes several events."""
        quoted = tuple([self._events[each.id] for each in self._quoted(lines[0], place)])
        first, *others = lines
        return (self._of(first, quoted), *map(self._of, others))

    def _of(self, line: Line, quoted: tuple[Event, ...] = ()) -> Group:
        return Group(
            category=line.category,
            count=line.count,
            actors=tuple([self._actors[each.person] for each in line.recent if each.person]),
            people=len(line.people) if line.has_name else 0,
            latest=self._events[line.latest.id],
            importance=line.importance,
            is_addressed=line.is_addressed,
            is_for_reader=self._rank.is_for_reader(line),
            quoted=quoted,
        )

    def _quoted(self, line: Line, place: int) -> Sequence[Brief]:
        """Return the events that a line with several quotes shows.

        The first block and all blocks for the reader quote several, unless they are compact. A
        line quotes no more events than it counts.
        """
        is_quoted = place == 0 or self._rank.is_for_reader(line)
        is_full = place < self._arrangement.full_blocks
        return line.newest[: line.count] if is_quoted and is_full else ()

    def section(self, lines: Sequence[Line]) -> str:
        """Return the section heading of a block, regardless of the importance of its events."""
        if self._arrangement.sections is Sections.CATEGORY:
            weights = self._arrangement.weights
            return max((_weight(line, weights), line.category) for line in lines)[1]
        if self._arrangement.sections is Sections.PARENT:
            events = (self._events[line.latest.id] for line in _latest_of(lines))
            return next((event.parent_title for event in events if event.parent_title), "")
        return ""


def _latest_of(lines: Sequence[Line]) -> list[Line]:
    """Return the most recently updated lines, latest first."""
    return nlargest(_TITLED, lines, key=lambda line: age_of(line.latest))


def score(line: Brief | Line, weights: Mapping[str, float], until: datetime) -> float:
    """Return the relevance of a line or of a single event. Higher scores rank first.

    The score is the product of these factors:

    - the category's weight
    - the importance (0.5, 1 or 3)
    - 1 if addressed to the reader, or 0.6 if followed
    - the recency
    - 1 + log10 of the count

    Recency is 1 at `until` and falls towards 0.5 with age. Each day halves the remaining
    difference. The score is rounded, so that the order is the same on every processor.
    """
    latest, count = (line.latest, line.count) if isinstance(line, Line) else (line, 1)
    age = max((until - latest.occurred_at).total_seconds(), 0.0)
    recency = _FADED + (1 - _FADED) * exp2(-age / _FADING)
    addressed = 1.0 if line.is_addressed else _FOLLOWED
    matters = _weight(line, weights) * weight_of(line.importance) * addressed
    return round(matters * recency * (1 + log10(count)), 6)


_THE_REST = 2
"""The place of the part with everything that is neither important nor for the reader."""

_Rank = tuple[int, int, float, float, str, str, str, bool]

_EVENTS = "events"
"""The content source for events that services publish."""


class _Ranks:
    """The ranks of lines and entities. Lower ranks are shown first."""

    def __init__(
        self, arrangement: Arrangement, until: datetime | None, sources: Sequence[str]
    ) -> None:
        self._ranking, self._weights = arrangement.ranking, arrangement.weights
        self._has_parts = arrangement.sections is Sections.NONE
        self._until = until
        self._places = {
            "" if source == _EVENTS else source: at for at, source in enumerate(sources)
        }

    def is_for_reader(self, line: Brief | Line) -> bool:
        """Return True if a line or an event is in the first part of a digest."""
        return self._part(line) < _THE_REST

    def _part(self, line: Brief | Line) -> int:
        """Return the place of a line's part: what is important, for the reader, or neither."""
        latest = line.latest if isinstance(line, Line) else line
        if latest.source:
            return _THE_REST
        if line.importance is Importance.HIGH:
            return 0
        matters = _weight(line, self._weights) * weight_of(line.importance)
        return 1 if line.is_addressed and matters >= FOR_THE_READER else _THE_REST

    def counts(self, things: Iterable[Thing]) -> tuple[Count, ...]:
        """Return the number of updates by category, those for the reader first."""
        updates: Counter[tuple[bool, str]] = Counter()
        for thing in things:
            for line in thing.values() if isinstance(thing, dict) else (thing,):
                number = line.count if isinstance(line, Line) else 1
                updates[self.is_for_reader(line), line.category] += number
        counts = (
            Count(name, number, is_for_reader) for (is_for_reader, name), number in updates.items()
        )
        return tuple(sorted(counts, key=self._place_of_count))

    def _place_of_count(self, count: Count) -> tuple[bool, float, str]:
        return not count.is_for_reader, -_weight_of(count.category, self._weights), count.category

    def in_order(self, thing: Thing) -> list[Line]:
        """Return the lines of an entity, highest-ranked first."""
        return sorted(lines_of(thing), key=self._of)

    def of_thing(self, thing: Thing) -> _Rank:
        """Return the rank of an entity."""
        return self._of(thing) if not isinstance(thing, dict) else self._of_lines(thing.values())

    def _of(self, line: Brief | Line) -> _Rank:
        """Return the rank of a line or of a single event.

        Most entities have only one event.
        """
        latest = line.latest if isinstance(line, Line) else line
        source = latest.source
        first = 0.0
        if source:
            first = _score_of(latest)
        elif self._ranking is Ranking.MOST_ACTIVE:
            first = line.count if isinstance(line, Line) else 1
        elif self._ranking is Ranking.RELEVANCE and self._until is not None:
            first = score(line, self._weights, self._until)
        part = self._part(line)
        return self._rank(source, part, first, latest.occurred_at, latest, line.has_name)

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
        part = min(map(self._part, lines))
        return self._rank(source, part, first, moved, highest.latest, highest.has_name)

    def _rank(
        self,
        source: str,
        part: int,
        first: float,
        moved: datetime,
        latest: Brief,
        has_name: bool,
    ) -> _Rank:
        key = latest.category, *entity_reference(latest.thing), not has_name
        return self._place(source), part if self._has_parts else 0, -first, -moved.timestamp(), *key

    def _place(self, source: str) -> int:
        places = self._places
        return places.get(source, len(places) if source else -1)


def _score_of(latest: Brief) -> float:
    """Return the score that a source gave an item. Items without a score rank last."""
    return float("-inf") if latest.score is None else latest.score


def _weight(line: Brief | Line, weights: Mapping[str, float]) -> float:
    return _weight_of(line.category, weights)


def _weight_of(category: str, weights: Mapping[str, float]) -> float:
    weight = weights.get(category)
    return weights.get(OTHER_WEIGHT, WEIGHTS[OTHER_WEIGHT]) if weight is None else weight
