"""Values stored as JSON in one attribute: days, and everything with a history.

A string can be compared in the condition of a write, and decodes three times as fast as a map.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from typing import Any, TypeVar

from gazette.domain.scheduling.calendar import Days, DigestTimes
from gazette.domain.stored import as_stored
from gazette.domain.subscribers.choices import ByCategory, Preferences, ReaderChoices
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequencies, Frequency, frequencies_as_stored
from gazette.domain.subscribers.history import History
from gazette.domain.subscribers.whole_maps import from_whole_maps, to_whole_maps

ValueT = TypeVar("ValueT")

_remembered = lru_cache(maxsize=256)
"""What is read is looked at twice within a moment, and mostly says the same the second time."""


def write_days(days: Days) -> str:
    """`[weekdays, every, phase]`, or `[day of the month]`."""
    if days.month_day is not None:
        return json.dumps([days.month_day])
    return json.dumps([sorted(days.weekdays), days.every, days.phase])


@_remembered
def read_days(text: str) -> Days:
    """The days that `write_days` wrote."""
    match json.loads(text):
        case [month_day]:
            return Days(month_day=month_day)
        case [weekdays, every, phase]:
            return Days(frozenset(weekdays), every, phase)
        case other:
            raise ValueError(f"{other!r} does not name the days of a recurrence")


def write_date(day: date | None) -> str | None:
    """A date as in ISO 8601; None stays None."""
    return day.isoformat() if day else None


def read_date(text: str | None) -> date | None:
    """The date that `write_date` wrote; None where the row has none."""
    return date.fromisoformat(text) if text else None


def write_choices(choices: History[Frequencies]) -> str:
    """`[[instant, {category: frequency}], …]`."""
    return _write_history(choices, lambda chosen: (dict(chosen),))


@_remembered
def read_choices(text: str) -> History[Frequencies]:
    """The choices that `write_choices` wrote."""
    return _read_history(text, frequencies_as_stored)


def write_changes(changes: History[FollowState]) -> str:
    """`[[instant, following, frequency or null], …]`, each with the title at its end, if any."""
    return _write_history(
        changes,
        lambda state: (state.following, state.frequency, *([state.title] if state.title else [])),
    )


def read_changes(text: str) -> History[FollowState]:
    """The changes that `write_changes` wrote."""
    return _read_history(
        text,
        lambda following, frequency, title="": FollowState(
            following, as_stored(Frequency, frequency) if frequency else None, title
        ),
    )


def write_service_choices(choices: History[Preferences]) -> str:
    """`[[instant, {category: frequency}, hour, minute, weekday, days, pause, zone], …]`.

    An empty string for an empty history.
    """
    return _write_history(choices, _write_preferences) if choices else ""


@_remembered
def read_service_choices(text: str | None) -> History[Preferences]:
    """The history that `write_service_choices` wrote."""
    return _read_history(text or "[]", _read_preferences)


def write_reader_choices(choices: ReaderChoices, service: History[Preferences]) -> tuple[str, str]:
    """The attributes `reader_choices` and `reader_categories`; empty strings for what has none.

    `reader_choices` is as the version before reads it, with whole maps under `frequencies`:
    `{field: [[instant, value], …]}` of the fields that were chosen. `reader_categories` has each
    category by itself: `{"maps": digest, "chosen": [[instant, {category: frequency}], …]}`, with
    the digest of the maps that were written beside it.
    """
    maps = to_whole_maps(service, choices)
    written = {
        name: [[_write_instant(at), _WRITE.get(name, _same)(value)] for at, value in history]
        for name in _READ
        if (history := maps if name == _MAPS else getattr(choices, name))
    }
    return _json(written) if written else "", _write_categories(choices.frequencies, maps)


def read_reader_choices(
    text: str | None, categories: str | None, service: History[Preferences]
) -> ReaderChoices:
    """The choices in the two attributes that `write_reader_choices` wrote.

    The version before leaves `reader_categories` as it is. So it counts only beside the maps that
    it was written with; else the maps do.
    """
    choices, maps = _read_fields(text)
    if categories:
        digest, by_category = _read_categories(categories)
        if digest == _digest(maps):
            return replace(choices, frequencies=by_category)
    return replace(choices, frequencies=from_whole_maps(maps, service)) if maps else choices


@_remembered
def _read_fields(text: str | None) -> tuple[ReaderChoices, History[Frequencies]]:
    histories: dict[str, Any] = {
        name: tuple((datetime.fromisoformat(at), _READ[name](value)) for at, value in history)
        for name, history in json.loads(text or "{}").items()
    }
    maps = histories.pop(_MAPS, ())
    return ReaderChoices(**histories), maps


def _write_categories(by_category: ByCategory, maps: History[Frequencies]) -> str:
    patches: dict[tuple[str, int], dict[str, str]] = {}
    for name, history in by_category:
        for place, (at, often) in enumerate(history):
            with_same_instant = sum(then == at for then, _ in history[:place])
            patches.setdefault((_write_instant(at), with_same_instant), {})[name] = often
    chosen = [[instant, patch] for (instant, _), patch in sorted(patches.items())]
    return _json({"maps": _digest(maps), "chosen": chosen}) if chosen else ""


@_remembered
def _read_categories(text: str) -> tuple[str, ByCategory]:
    stored = json.loads(text)
    histories: dict[str, list[tuple[datetime, Frequency]]] = {}
    for at, chosen in stored["chosen"]:
        for name, often in chosen.items():
            change = datetime.fromisoformat(at), as_stored(Frequency, often)
            histories.setdefault(name, []).append(change)
    return stored["maps"], tuple(sorted((name, tuple(each)) for name, each in histories.items()))


@_remembered
def _digest(maps: History[Frequencies]) -> str:
    return hashlib.sha256(write_choices(maps).encode()).hexdigest()[:16]


def _write_preferences(each: Preferences) -> tuple[Any, ...]:
    times = each.times
    return (
        dict(each.frequencies),
        times.hour,
        times.minute,
        times.weekly_on,
        write_days(times.custom_on),
        write_date(times.paused_until),
        each.time_zone,
    )


def _read_preferences(
    chosen: dict[str, str],
    hour: int,
    minute: int | None,
    weekly_on: int,
    custom_on: str,
    paused_until: str | None,
    time_zone: str,
) -> Preferences:
    times = DigestTimes(hour, minute, weekly_on, read_days(custom_on), read_date(paused_until))
    return Preferences(frequencies_as_stored(chosen), times, time_zone)


def _read_clock(clock: list[Any]) -> tuple[int, int | None]:
    hour, minute = clock
    return hour, minute


def _same(value: Any) -> Any:
    return value


_MAPS = "frequencies"
"""In `reader_choices`, what the version before has in the place of choices by category."""

_WRITE: dict[str, Any] = {
    "frequencies": dict,
    "clock": list,
    "custom_on": write_days,
    "paused_until": date.isoformat,
}
_READ: dict[str, Any] = {
    "frequency": partial(as_stored, Frequency),
    "frequencies": frequencies_as_stored,
    "clock": _read_clock,
    "weekly_on": int,
    "custom_on": read_days,
    "paused_until": date.fromisoformat,
    "time_zone": str,
}
"""The fields that a reader can choose, and how each value is decoded."""


def _write_history(history: History[ValueT], values: Callable[[ValueT], tuple[Any, ...]]) -> str:
    return _json([[_write_instant(at), *values(value)] for at, value in history])


def _read_history(text: str, value: Callable[..., ValueT]) -> History[ValueT]:
    return tuple((datetime.fromisoformat(at), value(*values)) for at, *values in json.loads(text))


def _write_instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
