"""The grouping of a window's events into lines. Events are grouped while they are read, so that few
events stay in memory. Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gazette.domain.model import Event, Importance
from gazette.domain.window.briefs import Brief, StoredBrief, brief_of

NAMED = 3
"""The maximum number of people whose names a line can show."""

QUOTED = 3
"""The maximum number of events that a line can quote."""

_IMPORTANCE = {Importance.LOW: 0.5, Importance.NORMAL: 1.0, Importance.HIGH: 3.0}

_ONCE_FOR_EACH_PERSON = frozenset({"like", "follow"})
"""Categories in which repeated events by the same actor count as one update."""

_ONCE = frozenset({"recommendation"})
"""Categories in which all events about the same entity count as one update."""

Load = Callable[[Collection[str]], Mapping[str, Event]]
"""A function that returns the events with these ids. Raises Overtaken if an event was moved."""


def weight_of(importance: Importance) -> float:
    """Return the factor by which an importance multiplies the score of an update.

    An importance that this version does not know counts as normal.
    """
    return _IMPORTANCE.get(importance, 1.0)


class Line:
    """A count of the events of one category about one entity. Unlike a Group, a line does not
    contain the events.

    `named_by` contains the newest name of the entity. `recent` contains the latest brief of each
    recent person, most recent first. `newest` contains the latest events, latest first. `earliest`
    is the earliest time that counts (`counts_at`). `people` contains all distinct people. More than
    NAMED people are a set. `nobody` is the number of events without an actor.
    """

    __slots__ = (
        "_events",
        "earliest",
        "importance",
        "is_addressed",
        "named_by",
        "newest",
        "nobody",
        "people",
        "recent",
    )

    def __init__(self, first: Brief) -> None:
        self.named_by = first
        self.newest: tuple[Brief, ...] = (first,)
        self.earliest = counts_at(first)
        self.importance = first.importance
        self.is_addressed = first.is_addressed
        self._events = 1
        self.nobody = 1 if first.person is None else 0
        self.people: tuple[str, ...] | set[str] = () if first.person is None else (first.person,)
        self.recent: tuple[Brief, ...] = (first,) if first.has_name else ()

    @property
    def latest(self) -> Brief:
        """The latest event, which represents the line."""
        return self.newest[0]

    @property
    def category(self) -> str:
        """The category of the line's events."""
        return self.newest[0].category

    @property
    def has_name(self) -> bool:
        """Return True if the line's events have a named actor."""
        return self.recent != ()

    @property
    def count(self) -> int:
        """The number of updates in the line."""
        category = self.category
        if category in _ONCE:
            return 1
        if category in _ONCE_FOR_EACH_PERSON:
            return len(self.people) + self.nobody
        return self._events

    def holds(self, brief: Brief) -> bool:
        """Return True if an event about the line's entity belongs to the line."""
        return (brief.category, brief.has_name) == (self.category, self.has_name)

    def add(self, brief: Brief) -> None:
        """Add an event that belongs to the line."""
        self._events += 1
        self.earliest = min(self.earliest, counts_at(brief))
        self.is_addressed = self.is_addressed or brief.is_addressed
        if brief.importance is not self.importance:
            self.importance = max(self.importance, brief.importance, key=weight_of)
        is_latest = age_of(brief) > age_of(self.latest)
        if is_latest:
            self.newest = (brief, *self.newest[: QUOTED - 1])
        elif len(self.newest) < QUOTED or age_of(brief) > age_of(self.newest[-1]):
            newest = sorted((*self.newest, brief), key=age_of, reverse=True)
            self.newest = tuple(newest[:QUOTED])
        if version_of(brief) > version_of(self.named_by):
            self.named_by = brief
        if brief.person is None:
            self.nobody += 1
            return
        self._count(brief.person)
        if brief.has_name and is_latest:
            others = [other for other in self.recent if other.person != brief.person]
            self.recent = (brief, *others[: NAMED - 1])
        elif brief.has_name:
            self._mention(brief)

    def _count(self, person: str) -> None:
        people = self.people
        if person in people:
            return
        if isinstance(people, tuple):
            if len(people) < NAMED:
                self.people = (*people, person)
                return
            people = self.people = set(people)
        people.add(person)

    def _mention(self, brief: Brief) -> None:
        """Add a person to the most recent people of the line.

        A person who was dropped returns only with a later event.
        """
        recent, age = self.recent, age_of(brief)
        if len(recent) == NAMED and age < age_of(recent[-1]):
            return
        others = [other for other in recent if other.person != brief.person]
        if len(others) < len(recent):
            before = next(other for other in recent if other.person == brief.person)
            if age <= age_of(before):
                return
        others.append(brief)
        others.sort(key=age_of, reverse=True)
        self.recent = tuple(others[:NAMED])


Thing = Brief | Line | dict[tuple[str, bool], Line]
"""The events about one entity, stored as one event, one line or several lines.

Several lines are keyed by category and by whether their actors are named. Most entities of a very
large window have one event, so this form uses as little memory as possible.
"""


def lines_of(thing: Thing) -> list[Line]:
    """Return the lines of one entity."""
    if isinstance(thing, dict):
        return list(thing.values())
    return [thing if isinstance(thing, Line) else Line(thing)]


def counts_at(brief: Brief) -> datetime:
    """Return the time that is compared with the time at which the reader saw the entity.

    It is the same as `Event.counts_at`.
    """
    return brief.version if brief.source else brief.occurred_at


def earliest_in(thing: Thing) -> datetime:
    """Return the earliest time of the entity's events that counts (`counts_at`)."""
    if isinstance(thing, Brief):
        return counts_at(thing)
    return min(line.earliest for line in lines_of(thing))


def _with(thing: Thing, brief: Brief) -> Thing:
    """Return the entity's events with one more event added."""
    if isinstance(thing, Brief):
        thing = Line(thing)
    if isinstance(thing, Line):
        if thing.holds(brief):
            thing.add(brief)
            return thing
        thing = {(thing.category, thing.has_name): thing}
    key = brief.category, brief.has_name
    if key in thing:
        thing[key].add(brief)
    else:
        thing[key] = Line(brief)
    return thing


@dataclass(slots=True, eq=False)
class Folded:
    """The events of a window, counted by line, and the newest names of people and things."""

    _load: Load
    """A function that returns whole events."""

    things: dict[str, Thing] = field(default_factory=dict, init=False)
    """The lines by entity."""

    latest_at: datetime | None = field(default=None, init=False)
    loaded: dict[str, Event] = field(default_factory=dict, init=False)
    """The events that were loaded so far."""

    _people: dict[str, Brief] = field(default_factory=dict, init=False)
    _pages: dict[str, Brief] = field(default_factory=dict, init=False)
    _avatars: dict[str, Brief] = field(default_factory=dict, init=False)
    _parents: dict[str, Brief] = field(default_factory=dict, init=False)
    _events: int = field(default=0, init=False)

    def __len__(self) -> int:
        """Return the number of events in the window."""
        return self._events

    def add(self, brief: Brief) -> None:
        """Add an event of the window."""
        self._events += 1
        if self.latest_at is None or brief.occurred_at > self.latest_at:
            self.latest_at = brief.occurred_at
        thing = self.things.get(brief.thing)
        self.things[brief.thing] = brief if thing is None else _with(thing, brief)
        if brief.parent:
            _keep_newest(self._parents, brief.parent, brief)
        person = brief.person
        if person is None:
            return
        _keep_newest(self._people, person, brief)
        if brief.has_page:
            _keep_newest(self._pages, person, brief)
        if brief.has_avatar:
            _keep_newest(self._avatars, person, brief)

    def naming(self, line: Line) -> set[str]:
        """Return the ids of the events that contain the newest names of a line's people and
        entity."""
        ids = self._naming_thing(line.latest.thing)
        for brief in (line.latest, *line.recent):
            ids.add(brief.id)
            if brief.person is not None:
                named = (self._people, self._pages, self._avatars)
                ids.update(of[brief.person].id for of in named if brief.person in of)
        return ids

    def naming_parent(self, parent: str) -> set[str]:
        """Return the ids of the events that contain the newest name of a parent entity."""
        return self._naming_thing(parent) if parent in self._parents else set()

    def load(self, ids: Collection[str]) -> None:
        """Load the events with these ids that are not in `loaded` yet.

        Raises Overtaken if an event was moved.
        """
        missing = [each for each in ids if each not in self.loaded]
        if missing:
            self.loaded.update(self._load(missing))

    def _naming_thing(self, key: str) -> set[str]:
        ids = {self._parents[key].id} if key in self._parents else set()
        thing = self.things.get(key)
        if thing is not None:
            ids.add(max((line.named_by for line in lines_of(thing)), key=version_of).id)
        return ids


def fold(events: Iterable[Event]) -> Folded:
    """Group events that are already in memory, and return the `Folded`.

    Event ids are unique, because they are the key of the table.
    """
    known = {event.id: event for event in events}
    folded = Folded(lambda ids: {each: known[each] for each in ids})
    for brief in _with_newest_names(list(map(brief_of, known.values()))):
        folded.add(brief)
    return folded


class Folding:
    """A builder that creates a `Folded` while a window is read. All events of a small window stay
    in memory.

    A window is small if it contains at most `whole` events. In a small window, the newest name of
    an event's actor determines the line of the event. In a larger window, the name in the event
    itself determines the line, and `load` loads the events.
    """

    def __init__(self, load: Load, *, whole: int) -> None:
        self._load, self._whole = load, whole
        self._kept: dict[str, StoredBrief] | None = {}
        self._folded = Folded(load)

    def add(self, stored: StoredBrief) -> None:
        """Add the next event of the window."""
        if self._kept is None:
            self._folded.add(stored.event)
            return
        self._kept[stored.event.id] = stored
        if len(self._kept) > self._whole:
            for each in self._kept.values():
                self._folded.add(each.event)
            self._kept = None

    def folded(self) -> Folded:
        """Return the `Folded` of all events that were added."""
        briefs = self._kept
        if briefs is None:
            return self._folded
        folded = Folded(lambda ids: {each: briefs[each].decode().event for each in ids})
        for brief in _with_newest_names([stored.event for stored in briefs.values()]):
            folded.add(brief)
        return folded


def _with_newest_names(briefs: list[Brief]) -> list[Brief]:
    """Return the briefs, with `has_name` set according to the newest name of each brief's actor."""
    if all(brief.has_name or brief.person is None for brief in briefs):
        return briefs
    newest: dict[str, Brief] = {}
    for brief in briefs:
        if brief.person is not None:
            _keep_newest(newest, brief.person, brief)
    return [
        brief
        if brief.person is None or newest[brief.person].has_name == brief.has_name
        else brief._replace(has_name=not brief.has_name)
        for brief in briefs
    ]


def version_of(brief: Brief) -> tuple[datetime, datetime, str]:
    """Return a key that sorts briefs by the age of their content (naming/newest.py)."""
    return brief.version, brief.occurred_at, brief.id


def age_of(brief: Brief) -> tuple[datetime, str]:
    """Return a key that sorts briefs by the time of their events."""
    return brief.occurred_at, brief.id


def age_of_event(event: Event) -> tuple[datetime, str]:
    """Return a key that sorts whole events by the time at which they occurred."""
    return event.occurred_at, event.id


def _keep_newest(found: dict[str, Brief], key: str, brief: Brief) -> None:
    before = found.setdefault(key, brief)
    if before is not brief and version_of(brief) > version_of(before):
        found[key] = brief
