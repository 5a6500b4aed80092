"""Resolve what the service and the reader chose for the same reader. Pure.

The choices of each are stored apart, with their dates. A reader's choice of a field counts until
the service changes that field afterwards; repeating its earlier value is no change. Each category
is a field of its own. The result follows from the two records alone, so the same messages, in any
order, give the same result.
"""

from collections.abc import Iterable, Iterator
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
    service_times = [(at, preferences.times) for at, preferences in service]

    def now(of_service: Iterable[tuple[datetime, ValueT]], of_reader: History[ValueT]) -> ValueT:
        return _counting(tuple(of_service), of_reader)

    hour, minute = now(
        ((at, (times.hour, times.minute)) for at, times in service_times), reader.clock
    )
    ends: History[date | None] = tuple(reader.paused_until)
    return choices, Preferences(
        frequencies=choices[-1][1],
        times=DigestTimes(
            hour=hour,
            minute=minute,
            weekly_on=now(((at, times.weekly_on) for at, times in service_times), reader.weekly_on),
            custom_on=now(((at, times.custom_on) for at, times in service_times), reader.custom_on),
            paused_until=now(((at, times.paused_until) for at, times in service_times), ends),
        ),
        time_zone=now(((at, each.time_zone) for at, each in service), reader.time_zone),
    )


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
        yield at, in_force.frequencies


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
    def frequencies(self) -> dict[str, Frequency]:
        """The frequencies in force now. DEFAULT hides the service's, too."""
        everything = {**(self._profile or {}), **self._chosen}
        return {category: often for category, often in everything.items() if often != DEFAULT}


def _counting(of_service: History[ValueT], of_reader: History[ValueT]) -> ValueT:
    """The value of one field that counts now; at most one of the two records is empty.

    The first known value of the service is no change: it may have been so before.
    """
    if of_service and of_reader:
        changes = without_repeats(of_service)[1:]
        is_overtaken = bool(changes) and changes[-1][0] > of_reader[-1][0]
        return of_service[-1][1] if is_overtaken else of_reader[-1][1]
    return [*of_service, *of_reader][-1][1]
