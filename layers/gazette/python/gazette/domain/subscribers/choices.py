"""The combination of a reader's choices with the service's choices for this reader. Pure.

Both are stored separately, with their dates. A reader's choice of a field applies until the service
next changes that field. A repetition of the service's earlier value is not a change. Each category
is a separate field. The result depends only on the two records, so the same messages in any order
give the same result.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from itertools import groupby
from typing import Any, TypeVar

from gazette.domain.scheduling.calendar import Days, DigestTimes
from gazette.domain.scheduling.quiet import STAGE_QUIET_HOURS
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
"""The maximum number of changes stored for a field whose history matters.

Other fields keep only the last change.
"""

_MOST_CATEGORIES = 200
"""The maximum number of categories with stored choices, which keeps a row far below DynamoDB's
limit."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """The service's choices of frequencies, digest times and time zone."""

    frequencies: Frequencies
    times: DigestTimes
    time_zone: str
    quiet_hours: str = STAGE_QUIET_HOURS
    """The quiet hours, or the value that stands for the stage's setting (scheduling/quiet.py)."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice that a reader made at one instant. A field that is None is unchanged."""

    frequency: Frequency | None = None
    """The frequency of all categories without their own choice.

    DEFAULT withdraws an earlier choice.
    """

    frequencies: Frequencies | None = None
    """The frequencies by category. Categories that are not named are unchanged.

    DEFAULT withdraws an earlier choice.
    """

    clock: tuple[int, int | None] | None = None
    """The hour of digests, and the minute if the reader chose a minute."""

    weekly_on: int | None = None
    custom_on: Days | None = None
    paused_until: date | None = None
    """The end date of a pause. A past date ends a pause that is in force."""

    time_zone: str | None = None
    quiet_hours: str | None = None
    """The quiet hours, such as `22:00-07:00` (scheduling/quiet.py)."""


NOTHING = Choice()
"""An empty choice, which has no effect."""


ByCategory = tuple[tuple[str, History[Frequency]], ...]
"""The history of choices for each category, sorted by category."""


@dataclass(frozen=True, slots=True)
class ReaderChoices:
    """The history of a reader's choices for each field of `Choice`; empty if there are none."""

    frequency: History[Frequency] = ()
    frequencies: ByCategory = ()
    clock: History[tuple[int, int | None]] = ()
    weekly_on: History[int] = ()
    custom_on: History[Days] = ()
    paused_until: History[date] = ()
    time_zone: History[str] = ()
    quiet_hours: History[str] = ()

    def with_choice(self, at: datetime, choice: Choice) -> "ReaderChoices":
        """Return these choices with one more choice. Adding the same choice twice has no effect."""
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
        """Return the choices that were made after `at`."""
        later: dict[str, Any] = {
            field.name: _after(getattr(self, field.name), at)
            for field in fields(self)
            if field.name != "frequencies"
        }
        by_category = ((name, _after(history, at)) for name, history in self.frequencies)
        return ReaderChoices(**later, frequencies=tuple(each for each in by_category if each[1]))

    @property
    def paused_last(self) -> date | None:
        """The latest end date of all pauses that the reader chose."""
        return max((until for _, until in self.paused_until), default=None)


def _kept(histories: dict[str, History[Frequency]]) -> ByCategory:
    """Return the histories of all categories, or of the most recently changed ones if there are too
    many.

    Muted categories are dropped last.
    """

    def rank(history: History[Frequency]) -> tuple[bool, datetime]:
        at, often = history[-1]
        return often is Frequency.NEVER, at

    names = sorted(histories, key=lambda name: (rank(histories[name]), name), reverse=True)
    return tuple(sorted((name, histories[name]) for name in names[:_MOST_CATEGORIES]))


_LONGEST = {"frequency": _KEPT, "paused_until": _KEPT}

NO_CHOICES = ReaderChoices()
"""The choices of a reader who has never made a choice."""


def resolve(
    service: History[Preferences], reader: ReaderChoices
) -> tuple[History[Frequencies], Preferences]:
    """Return the history of the frequencies in force, and all current preferences.

    `service` is the history of the service's choices, with at least one entry.
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
        quiet_hours=now("quiet_hours"),
    )


def without_ended(
    reader: ReaderChoices, service: History[Preferences], *, until: datetime
) -> ReaderChoices:
    """Return the reader's choices, except those that the service overrode at or before `until`.

    Such choices would apply again once the service's record no longer contains the overriding
    value.
    """
    earlier_service = _until(service, until)
    changed: dict[str, Any] = {
        field: _after(history, until)
        for field in VALUE_OF
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


VALUE_OF: Mapping[str, Callable[[Preferences], Any]] = {
    "clock": lambda chosen: (chosen.times.hour, chosen.times.minute),
    "weekly_on": lambda chosen: chosen.times.weekly_on,
    "custom_on": lambda chosen: chosen.times.custom_on,
    "paused_until": lambda chosen: chosen.times.paused_until,
    "time_zone": lambda chosen: chosen.time_zone,
    "quiet_hours": lambda chosen: chosen.quiet_hours,
}
"""The functions that return the value of each preference that is not a frequency."""


def _service_values(field: str, service: History[Preferences]) -> History[Any]:
    return tuple((at, VALUE_OF[field](chosen)) for at, chosen in _in_force(service))


def _in_force(service: History[Preferences]) -> Iterable[tuple[datetime, Preferences]]:
    """Return the last profile of each instant. The others at that instant were never in force."""
    return dict(service).items()


def _frequencies_over_time(
    service: History[Preferences], reader: ReaderChoices
) -> History[Frequencies]:
    """Return one entry for each time at which the service or the reader chose a frequency."""
    return in_order(
        [(at, frequencies(chosen)) for at, chosen in frequencies_at_each(service, reader)]
    )


def frequencies_at_each(
    service: History[Preferences], reader: ReaderChoices
) -> Iterator[tuple[datetime, dict[str, Frequency]]]:
    """Yield the frequencies in force after each choice of a frequency by the service or the reader.

    The frequencies include EVERYTHING. At the same instant, the reader's choice overrides the
    service's choice.
    """
    return ((at, in_force.frequencies) for at, in_force in _over_time(service, reader))


def chosen_by_reader(
    service: History[Preferences], reader: ReaderChoices
) -> Mapping[str, Frequency]:
    """Return the reader's choices of frequencies that are in force, by category.

    EVERYTHING is the choice for all categories without their own choice. DEFAULT is a choice that
    restores the default.
    """
    chosen: Mapping[str, Frequency] = {}
    for _, in_force in _over_time(service, reader):
        chosen = in_force.chosen_frequencies
    return chosen


def _over_time(
    service: History[Preferences], reader: ReaderChoices
) -> Iterator[tuple[datetime, "_InForce"]]:
    """Yield each instant with the choices in force from then on.

    The same object is yielded each time, with changed values.
    """
    entries = [(at, 0, preferences.frequencies) for at, preferences in _in_force(service)]
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
    """The frequencies in force at one point in time, as the two histories are read
    chronologically."""

    def __init__(self) -> None:
        self._profile: dict[str, Frequency] | None = None
        self._named: dict[str, Frequency] = {}
        self._chosen: dict[str, Frequency] = {}

    def put_profile(self, profile: Frequencies) -> None:
        """Apply a whole profile that the service published.

        If the profile's value for a category differs from the service's last value and from the
        reader's choice, it ends the reader's choice. A category that is missing from the profile is
        unchanged. The first known profile is not a change, because the value may have been the same
        before.
        """
        if self._profile is not None:
            for category, often in profile:
                if often not in {self._named.get(category), self._chosen.get(category)}:
                    self._chosen.pop(category, None)
        self._profile = dict(profile)
        self._named.update(profile)

    def choose(self, chosen: Frequencies) -> None:
        """Apply a choice that the reader made."""
        self._chosen.update(chosen)

    @property
    def chosen(self) -> frozenset[str]:
        """The categories in which the reader's choice is in force."""
        return frozenset(self._chosen)

    @property
    def chosen_frequencies(self) -> dict[str, Frequency]:
        """The reader's choices in force, including DEFAULT."""
        return dict(self._chosen)

    @property
    def frequencies(self) -> dict[str, Frequency]:
        """The frequencies in force. DEFAULT also overrides the service's frequency."""
        everything = {**(self._profile or {}), **self._chosen}
        return {category: often for category, often in everything.items() if often != DEFAULT}


def _counting(of_service: History[ValueT], of_reader: History[ValueT]) -> ValueT:
    """Return the current value of one field. At most one of the two histories is empty.

    The first known value of the service is not a change, because the value may have been the same
    before.
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
