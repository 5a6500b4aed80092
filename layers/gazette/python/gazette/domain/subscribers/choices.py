"""Resolve what the service and the reader chose for the same reader. Pure.

The choices of each are stored apart, with their dates. A reader's choice of a field counts until
the service changes that field afterwards; repeating its earlier value is no change. Each category
is a field of its own. The result follows from the two records alone, so the same messages, in any
order, give the same result.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from itertools import groupby
from typing import Any, TypeVar

from gazette.domain.scheduling.calendar import Days, DigestTimes
from gazette.domain.subscribers.frequency import (
    DEFAULT,
    EVERYTHING,
    Frequencies,
    Frequency,
    frequencies,
)
from gazette.domain.subscribers.history import History, in_order, remember, without_repeats

ValueT = TypeVar("ValueT")

_KEPT = 16
"""Changes that are kept of a field whose past counts; of other fields, only the last."""

_MOST_CATEGORIES = 200
"""Categories whose choices are kept, so that a row stays far below what DynamoDB stores."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """Everything that the service chooses at once: how often, when, and in which time zone."""

    frequencies: Frequencies
    times: DigestTimes
    time_zone: str


@dataclass(frozen=True, slots=True)
class Choice:
    """What a reader chose at one instant. None: the field stays as it is.

    `frequency`: of all categories without a choice of their own. `frequencies`: of the categories
    that it names; all others stay as they are. In both, DEFAULT takes an earlier choice back.
    `clock`: the hour, and the minute if one was chosen. A `paused_until` that has come ends a
    pause.
    """

    frequency: Frequency | None = None
    frequencies: Frequencies | None = None
    clock: tuple[int, int | None] | None = None
    weekly_on: int | None = None
    custom_on: Days | None = None
    paused_until: date | None = None
    time_zone: str | None = None


NOTHING = Choice()
"""A choice that changes nothing."""


ByCategory = tuple[tuple[str, History[Frequency]], ...]
"""The choices of each category over time, sorted by category."""


@dataclass(frozen=True, slots=True)
class ReaderChoices:
    """What a reader chose over time, by field of `Choice`; empty if they never chose anything."""

    frequency: History[Frequency] = ()
    frequencies: ByCategory = ()
    clock: History[tuple[int, int | None]] = ()
    weekly_on: History[int] = ()
    custom_on: History[Days] = ()
    paused_until: History[date] = ()
    time_zone: History[str] = ()

    def with_choice(self, at: datetime, choice: Choice) -> "ReaderChoices":
        """These choices with another one. To add the same twice changes nothing."""
        changed: dict[str, Any] = {
            field.name: remember(
                getattr(self, field.name), at, value, longest=_LONGEST.get(field.name, 1)
            )
            for field in fields(Choice)
            if field.name != "frequencies" and (value := getattr(choice, field.name)) is not None
        }
        histories = dict(self.frequencies)
        for category, often in choice.frequencies or ():
            histories[category] = remember(histories.get(category, ()), at, often, longest=_KEPT)
        return replace(self, **changed, frequencies=_kept(histories))

    def after(self, at: datetime) -> "ReaderChoices":
        """The choices that were made after this instant."""
        later: dict[str, Any] = {
            field.name: _after(getattr(self, field.name), at)
            for field in fields(self)
            if field.name != "frequencies"
        }
        by_category = ((name, _after(history, at)) for name, history in self.frequencies)
        return ReaderChoices(**later, frequencies=tuple(each for each in by_category if each[1]))

    @property
    def paused_last(self) -> date | None:
        """The latest end of a pause that the reader chose."""
        return max((until for _, until in self.paused_until), default=None)


def _kept(histories: dict[str, History[Frequency]]) -> ByCategory:
    """All histories, or those chosen last. Of too many, those that mute are dropped last."""

    def rank(history: History[Frequency]) -> tuple[bool, datetime]:
        at, often = history[-1]
        return often is Frequency.NEVER, at

    names = sorted(histories, key=lambda name: (rank(histories[name]), name), reverse=True)
    return tuple(sorted((name, histories[name]) for name in names[:_MOST_CATEGORIES]))


_LONGEST = {"frequency": _KEPT, "paused_until": _KEPT}

NO_CHOICES = ReaderChoices()
"""The choices of a reader who never chose anything."""


def resolve(
    service: History[Preferences], reader: ReaderChoices
) -> tuple[History[Frequencies], Preferences]:
    """What counts: the frequencies over time, and all preferences as they are now.

    `service` is what the service said over time: at least one entry.
    """
    choices = _frequencies_over_time(service, reader)

    def now(field: str) -> Any:
        return _counting(_said_of(field, service), getattr(reader, field))

    hour, minute = now("clock")
    return choices, Preferences(
        frequencies=choices[-1][1],
        times=DigestTimes(
            hour=hour,
            minute=minute,
            weekly_on=now("weekly_on"),
            custom_on=now("custom_on"),
            paused_until=now("paused_until"),
        ),
        time_zone=now("time_zone"),
    )


def without_ended(
    reader: ReaderChoices, service: History[Preferences], *, until: datetime
) -> ReaderChoices:
    """`reader` without the choices up to an instant that the service had ended by then.

    They would count again once the service's record no longer has what ended them.
    """
    said = _until(service, until)
    changed: dict[str, Any] = {
        field: _after(history, until)
        for field in _SAID
        if (history := getattr(reader, field))
        and _is_overtaken(_said_of(field, said), _until(history, until))
    }
    standing = frozenset[str]()
    for at, in_force in _over_time(said, reader):
        if at <= until:
            standing = in_force.chosen
    by_category = (
        (name, history if name in standing else _after(history, until))
        for name, history in reader.frequencies
    )
    kept = tuple((name, history) for name, history in by_category if history)
    return replace(reader, **changed, frequencies=kept)


_SAID: Mapping[str, Callable[[Preferences], Any]] = {
    "clock": lambda said: (said.times.hour, said.times.minute),
    "weekly_on": lambda said: said.times.weekly_on,
    "custom_on": lambda said: said.times.custom_on,
    "paused_until": lambda said: said.times.paused_until,
    "time_zone": lambda said: said.time_zone,
}
"""What the service says of each field that is no frequency."""


def _said_of(field: str, service: History[Preferences]) -> History[Any]:
    return tuple((at, _SAID[field](said)) for at, said in service)


def _frequencies_over_time(
    service: History[Preferences], reader: ReaderChoices
) -> History[Frequencies]:
    """One entry for each instant at which the service or the reader chose a frequency."""
    return in_order(
        [(at, frequencies(chosen)) for at, chosen in frequencies_at_each(service, reader)]
    )


def frequencies_at_each(
    service: History[Preferences], reader: ReaderChoices
) -> Iterator[tuple[datetime, dict[str, Frequency]]]:
    """Yield the frequencies in force from each instant at which either chose one, with EVERYTHING.

    At the same instant the reader's word counts for more than the service's.
    """
    return ((at, in_force.frequencies) for at, in_force in _over_time(service, reader))


def _over_time(
    service: History[Preferences], reader: ReaderChoices
) -> Iterator[tuple[datetime, "_InForce"]]:
    """Yield the choices in force from each instant: one object, which changes as this goes on."""
    entries = [(at, 0, preferences.frequencies) for at, preferences in service]
    entries += [(at, 1, ((EVERYTHING, often),)) for at, often in reader.frequency]
    entries += [
        (at, 1, ((category, often),))
        for category, history in reader.frequencies
        for at, often in history
    ]
    entries.sort(key=lambda each: each[:2])  # stable: histories are in order
    in_force = _InForce()
    for at, at_once in groupby(entries, key=lambda each: each[0]):
        for _, is_reader, chosen in at_once:
            if is_reader:
                in_force.choose(chosen)
            else:
                in_force.put_profile(chosen)
        yield at, in_force


class _InForce:
    """The frequencies that count, while both records are gone through in order of time."""

    def __init__(self) -> None:
        self._profile: dict[str, Frequency] | None = None
        self._named: dict[str, Frequency] = {}
        self._chosen: dict[str, Frequency] = {}

    def put_profile(self, profile: Frequencies) -> None:
        """The service puts a whole profile.

        Where it says something else of a category than it last said and than the reader chose, that
        ends the reader's choice. A category that it does not name, it says nothing of. Its first
        known profile is no change: it may have been so before.
        """
        if self._profile is not None:
            for category, often in profile:
                if often not in {self._named.get(category), self._chosen.get(category)}:
                    self._chosen.pop(category, None)
        self._profile = dict(profile)
        self._named.update(profile)

    def choose(self, chosen: Frequencies) -> None:
        """The reader chooses."""
        self._chosen.update(chosen)

    @property
    def chosen(self) -> frozenset[str]:
        """The categories of which the reader's choice counts now."""
        return frozenset(self._chosen)

    @property
    def frequencies(self) -> dict[str, Frequency]:
        """The frequencies in force now. DEFAULT hides the service's, too."""
        everything = {**(self._profile or {}), **self._chosen}
        return {category: often for category, often in everything.items() if often != DEFAULT}


def _counting(of_service: History[ValueT], of_reader: History[ValueT]) -> ValueT:
    """The value of one field that counts now; at most one of the two records is empty.

    The first known value of the service is no change: it may have been so before.
    """
    if of_service and of_reader:
        return (of_service if _is_overtaken(of_service, of_reader) else of_reader)[-1][1]
    return [*of_service, *of_reader][-1][1]


def _is_overtaken(of_service: History[ValueT], of_reader: History[ValueT]) -> bool:
    changes = without_repeats(of_service)[1:]
    return bool(changes) and bool(of_reader) and changes[-1][0] > of_reader[-1][0]


def _until(history: History[ValueT], instant: datetime) -> History[ValueT]:
    return tuple(entry for entry in history if entry[0] <= instant)


def _after(history: History[ValueT], instant: datetime) -> History[ValueT]:
    return tuple(entry for entry in history if entry[0] > instant)
