"""The result of the service's and the reader's choices for the same reader. Pure.

Both are stored separately, with their dates. A reader's choice of a field counts until the service
changes that field afterwards; a repetition of its earlier value is not a change. Each category is a
separate field. The result follows from the two records alone, so the same messages, in any order,
give the same result.
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
"""The number of changes stored for a field whose past counts.

For other fields, only the last one.
"""

_MOST_CATEGORIES = 200
"""The number of categories with stored choices, so that a row stays far below DynamoDB's limit."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """The service's choice of frequencies, times and time zone."""

    frequencies: Frequencies
    times: DigestTimes
    time_zone: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A reader's choice at one instant. None: the field is unchanged."""

    frequency: Frequency | None = None
    """The frequency of all categories without their own choice.

    DEFAULT withdraws an earlier choice.
    """

    frequencies: Frequencies | None = None
    """The frequencies of the named categories; others are unchanged.

    DEFAULT withdraws an earlier choice.
    """

    clock: tuple[int, int | None] | None = None
    """The hour, and the minute if one was chosen."""

    weekly_on: int | None = None
    custom_on: Days | None = None
    paused_until: date | None = None
    """The end of a pause. A date in the past ends a pause."""

    time_zone: str | None = None


NOTHING = Choice()
"""A choice that changes nothing."""


ByCategory = tuple[tuple[str, History[Frequency]], ...]
"""The choices of each category over time, sorted by category."""


@dataclass(frozen=True, slots=True)
class ReaderChoices:
    """The choices of a reader over time, by field of `Choice`; empty if there are none."""

    frequency: History[Frequency] = ()
    frequencies: ByCategory = ()
    clock: History[tuple[int, int | None]] = ()
    weekly_on: History[int] = ()
    custom_on: History[Days] = ()
    paused_until: History[date] = ()
    time_zone: History[str] = ()

    def with_choice(self, at: datetime, choice: Choice) -> "ReaderChoices":
        """Return these choices with another one. Adding the same choice twice changes nothing."""
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
        """Return the choices that were made after this instant."""
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
    """Return all histories, or the most recent ones.

    If too many, muted categories are dropped last.
    """

    def rank(history: History[Frequency]) -> tuple[bool, datetime]:
        at, often = history[-1]
        return often is Frequency.NEVER, at

    names = sorted(histories, key=lambda name: (rank(histories[name]), name), reverse=True)
    return tuple(sorted((name, histories[name]) for name in names[:_MOST_CATEGORIES]))


_LONGEST = {"frequency": _KEPT, "paused_until": _KEPT}

NO_CHOICES = ReaderChoices()
"""The choices of a reader who never made one."""


def resolve(
    service: History[Preferences], reader: ReaderChoices
) -> tuple[History[Frequencies], Preferences]:
    """Return the frequencies over time, and all current preferences.

    `service`: the service's choices over time, at least one entry.
    """
    choices = _frequencies_over_time(service, reader)

    def now(field: str) -> Any:
        return _counting(_service_values(field, service), getattr(reader, field))

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
    """Return `reader` without the choices up to an instant that the service had overridden by then.

    They would count again once the service's record no longer contains the overriding value.
    """
    earlier_service = _until(service, until)
    changed: dict[str, Any] = {
        field: _after(history, until)
        for field in _SERVICE_VALUE
        if (history := getattr(reader, field))
        and _is_overtaken(_service_values(field, earlier_service), _until(history, until))
    }
    standing = frozenset[str]()
    for at, in_force in _over_time(earlier_service, reader):
        if at <= until:
            standing = in_force.chosen
    by_category = (
        (name, history if name in standing else _after(history, until))
        for name, history in reader.frequencies
    )
    remaining = tuple((name, history) for name, history in by_category if history)
    return replace(reader, **changed, frequencies=remaining)


_SERVICE_VALUE: Mapping[str, Callable[[Preferences], Any]] = {
    "clock": lambda chosen: (chosen.times.hour, chosen.times.minute),
    "weekly_on": lambda chosen: chosen.times.weekly_on,
    "custom_on": lambda chosen: chosen.times.custom_on,
    "paused_until": lambda chosen: chosen.times.paused_until,
    "time_zone": lambda chosen: chosen.time_zone,
}
"""The service's value of each field that is not a frequency."""


def _service_values(field: str, service: History[Preferences]) -> History[Any]:
    return tuple((at, _SERVICE_VALUE[field](chosen)) for at, chosen in service)


def _frequencies_over_time(
    service: History[Preferences], reader: ReaderChoices
) -> History[Frequencies]:
    """Return one entry for each instant at which the service or the reader chose a frequency."""
    return in_order(
        [(at, frequencies(chosen)) for at, chosen in frequencies_at_each(service, reader)]
    )


def frequencies_at_each(
    service: History[Preferences], reader: ReaderChoices
) -> Iterator[tuple[datetime, dict[str, Frequency]]]:
    """Yield the frequencies in force from each instant at which either chose one, with EVERYTHING.

    At the same instant, the reader's choice overrides the service's.
    """
    return ((at, in_force.frequencies) for at, in_force in _over_time(service, reader))


def _over_time(
    service: History[Preferences], reader: ReaderChoices
) -> Iterator[tuple[datetime, "_InForce"]]:
    """Yield the choices in force from each instant. The yielded object is the same and changes."""
    entries = [(at, 0, preferences.frequencies) for at, preferences in service]
    entries += [(at, 1, ((EVERYTHING, often),)) for at, often in reader.frequency]
    entries += [
        (at, 1, ((category, often),))
        for category, history in reader.frequencies
        for at, often in history
    ]
    entries.sort(key=lambda each: each[:2])  # stable, because histories are in order
    in_force = _InForce()
    for at, at_once in groupby(entries, key=lambda each: each[0]):
        for _, is_reader, chosen in at_once:
            if is_reader:
                in_force.choose(chosen)
            else:
                in_force.put_profile(chosen)
        yield at, in_force


class _InForce:
    """The frequencies in force, while both records are read in order of time."""

    def __init__(self) -> None:
        self._profile: dict[str, Frequency] | None = None
        self._named: dict[str, Frequency] = {}
        self._chosen: dict[str, Frequency] = {}

    def put_profile(self, profile: Frequencies) -> None:
        """Apply a whole profile of the service.

        If the profile differs, for a category, from the service's last value and from the reader's
        choice, it ends the reader's choice. A category that is missing from the profile is
        unchanged. The first known profile is not a change, because it may have been the same
        before.
        """
        if self._profile is not None:
            for category, often in profile:
                if often not in {self._named.get(category), self._chosen.get(category)}:
                    self._chosen.pop(category, None)
        self._profile = dict(profile)
        self._named.update(profile)

    def choose(self, chosen: Frequencies) -> None:
        """Apply a choice of the reader."""
        self._chosen.update(chosen)

    @property
    def chosen(self) -> frozenset[str]:
        """The categories in which the reader's choice is in force."""
        return frozenset(self._chosen)

    @property
    def frequencies(self) -> dict[str, Frequency]:
        """The frequencies in force. DEFAULT also hides the service's frequency."""
        everything = {**(self._profile or {}), **self._chosen}
        return {category: often for category, often in everything.items() if often != DEFAULT}


def _counting(of_service: History[ValueT], of_reader: History[ValueT]) -> ValueT:
    """Return the current value of one field. At most one of the two records is empty.

    The first known value of the service is not a change, because it may have been the same before.
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
