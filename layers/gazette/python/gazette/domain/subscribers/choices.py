"""Resolve what the service and the reader chose for the same reader. Pure.

The choices of each are stored apart, with their dates. A reader's choice of a field counts until
the service changes that field afterwards; repeating its earlier value is no change. The result
follows from the two records alone, so the same messages, in any order, give the same result.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from typing import Any, TypeVar

from gazette.domain.scheduling.calendar import Days, DigestTimes
from gazette.domain.subscribers.frequency import (
    DEFAULT,
    EVERYTHING,
    Frequencies,
    Frequency,
    frequencies,
)
from gazette.domain.subscribers.history import History, remember, without_repeats

ValueT = TypeVar("ValueT")

_KEPT = 16
"""Changes that are kept of a field whose past counts; of other fields, only the last."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """Everything that the service chooses at once: how often, when, and in which time zone."""

    frequencies: Frequencies
    times: DigestTimes
    time_zone: str


@dataclass(frozen=True, slots=True)
class Choice:
    """What a reader chose at one instant. None: the field stays as it is.

    `frequency`: of all categories without an entry in `frequencies`, which replaces all entries
    that the reader chose before; DEFAULT takes an earlier one back. `clock`: the hour, and the
    minute if one was chosen. A `paused_until` that has come ends a pause.
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


@dataclass(frozen=True, slots=True)
class ReaderChoices:
    """What a reader chose over time, by field of `Choice`; empty if they never chose anything."""

    frequency: History[Frequency] = ()
    frequencies: History[Frequencies] = ()
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
            if (value := getattr(choice, field.name)) is not None
        }
        return replace(self, **changed)

    @property
    def paused_last(self) -> date | None:
        """The latest end of a pause that the reader chose."""
        return max((until for _, until in self.paused_until), default=None)


_LONGEST = {"frequency": _KEPT, "frequencies": _KEPT, "paused_until": _KEPT}

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
    chosen_for_them = tuple((at, preferences.frequencies) for at, preferences in service)
    instants = {
        at
        for history in (chosen_for_them, reader.frequencies, reader.frequency)
        for at, _ in history
    }
    over_time: History[Frequencies] = ()
    for instant in sorted(instants):
        first, second = _until(chosen_for_them, instant), _until(reader.frequencies, instant)
        chosen = dict(_counting(first, second)) if first or second else {}
        for _, often in _until(reader.frequency, instant)[-1:]:
            if often != DEFAULT:
                chosen[EVERYTHING] = often
        over_time = remember(over_time, instant, frequencies(chosen))
    return over_time


def _counting(of_service: History[ValueT], of_reader: History[ValueT]) -> ValueT:
    """The value of one field that counts now; at most one of the two records is empty.

    The first known value of the service is no change: it may have been so before.
    """
    if of_service and of_reader:
        changes = without_repeats(of_service)[1:]
        is_overtaken = bool(changes) and changes[-1][0] > of_reader[-1][0]
        return of_service[-1][1] if is_overtaken else of_reader[-1][1]
    return [*of_service, *of_reader][-1][1]


def _until(history: History[ValueT], instant: datetime) -> History[ValueT]:
    return tuple(entry for entry in history if entry[0] <= instant)
