"""JSON encoding of value histories, each in one DynamoDB attribute.

JSON strings are used because a write condition can compare a string, and because a string is
decoded three times as fast as a map.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, TypeVar

from gazette.adapters.dynamodb.values import (
    day,
    instant,
    read_days,
    remembered,
    text,
    truth,
    whole,
    write_days,
)
from gazette.domain.muting.mutes import Mute, Mutes
from gazette.domain.scheduling.calendar import DigestTimes
from gazette.domain.scheduling.quiet import STAGE_QUIET_HOURS, check_quiet_hours
from gazette.domain.stored import as_stored
from gazette.domain.subscribers.choices import ByCategory, Preferences, ReaderChoices
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequencies, Frequency, frequencies_as_stored
from gazette.domain.subscribers.history import History, without_repeats
from gazette.domain.subscribers.whole_maps import from_whole_maps, to_whole_maps

ValueT = TypeVar("ValueT")


def read_frequencies(chosen: dict[str, Any]) -> Frequencies:
    """Return the frequencies by category. Values that only a different version knows are kept."""
    return frequencies_as_stored({category: text(often) for category, often in chosen.items()})


def write_choices(choices: History[Frequencies]) -> str:
    """Return choices by category as JSON: `[[instant, {category: frequency}], …]`."""
    return _write_history(choices, lambda chosen: (dict(chosen),))


@remembered
def read_choices(stored: str) -> History[Frequencies]:
    """Return the choices that `write_choices` encoded."""
    return _read_history(stored, read_frequencies)


def write_changes(changes: History[FollowState]) -> str:
    """Return the changes of a follow as JSON: `[[instant, following, frequency or null], …]`.

    If a change has a title, the title is appended to its list.
    """
    return _write_history(
        changes,
        lambda state: (state.following, state.frequency, *([state.title] if state.title else [])),
    )


def read_changes(stored: str) -> History[FollowState]:
    """Return the changes that `write_changes` encoded."""
    return _read_history(stored, _read_follow_state)


def _read_follow_state(following: object, frequency: object, title: object = "") -> FollowState:
    often = as_stored(Frequency, text(frequency)) if frequency is not None else None
    return FollowState(truth(following), often, text(title))


def write_mutes(mutes: Mutes) -> str:
    """Return a reader's mutes as JSON, or an empty string if there are none.

    The format is `[[instant, entity, is muted, title], …]`. An empty title is omitted.
    """
    rows = [
        [_write_instant(each.at), each.entity, each.is_muted, *([each.title] if each.title else [])]
        for each in mutes
    ]
    return json.dumps(rows, separators=(",", ":"), ensure_ascii=False) if rows else ""


@remembered
def read_mutes(stored: str) -> Mutes:
    """Return the mutes that `write_mutes` encoded. Further values of a newer version are
    ignored."""
    rows = (
        (text(entity), instant(at), truth(is_muted), text(title[0]) if title else "")
        for at, entity, is_muted, *title in json.loads(stored)
    )
    return tuple(Mute(*row) for row in sorted(rows))


def write_service_choices(choices: History[Preferences]) -> str:
    """Return the service's choices as JSON, or an empty string for an empty history.

    The format is `[[instant, {category: frequency}, hour, minute, weekday, days, pause, zone], …]`.
    """
    return _write_history(choices, _write_preferences) if choices else ""


@remembered
def read_service_choices(stored: str) -> History[Preferences]:
    """Return the history that `write_service_choices` encoded."""
    return _read_history(stored, _read_preferences)


def write_quiet_hours(choices: ReaderChoices, service: History[Preferences]) -> str:
    """Return the quiet hours as JSON, or an empty string if neither party has chosen any.

    The format is `{"service": [[instant, value], …], "reader": [[instant, value], …]}`. They have
    an attribute of their own, because the previous version cannot read further values in the
    attributes of other choices.
    """
    of_service = without_repeats(tuple((at, chosen.quiet_hours) for at, chosen in service))
    if all(value == STAGE_QUIET_HOURS for _, value in of_service):
        of_service = ()
    if not (of_service or choices.quiet_hours):
        return ""
    histories = {"service": of_service, "reader": choices.quiet_hours}
    return _json(
        {
            name: [[_write_instant(at), value] for at, value in history]
            for name, history in histories.items()
            if history
        }
    )


def read_quiet_hours(
    stored: str, choices: ReaderChoices, service: History[Preferences]
) -> tuple[ReaderChoices, History[Preferences]]:
    """Return the choices of the reader and of the service with the quiet hours that
    `write_quiet_hours` encoded.

    A profile that the previous version stored has the quiet hours of the profile before it.
    """
    of_service, of_reader = _read_quiet_hours(stored)
    completed = tuple(
        (at, replace(chosen, quiet_hours=_value_at(at, of_service))) for at, chosen in service
    )
    return replace(choices, quiet_hours=of_reader), completed


@remembered
def _read_quiet_hours(stored: str) -> tuple[History[str], History[str]]:
    content = json.loads(stored)
    of_service, of_reader = (
        tuple((instant(at), _quiet(value)) for at, value in content.get(name, ()))
        for name in ("service", "reader")
    )
    return of_service, of_reader


def _quiet(value: object) -> str:
    """Return a stored value of quiet hours. Raise ValueError if it is not valid."""
    check_quiet_hours(text(value))
    return text(value)


def _value_at(at: datetime, history: History[str]) -> str:
    return next((value for then, value in reversed(history) if then <= at), STAGE_QUIET_HOURS)


def write_reader_choices(choices: ReaderChoices, service: History[Preferences]) -> tuple[str, str]:
    """Encode a reader's choices as the `reader_choices` and `reader_categories` attributes.

    An attribute without a value is an empty string.

    `reader_choices` has the format that the previous version reads: `{field: [[instant, value],
    …]}`, with complete maps under `frequencies`. `reader_categories` has separate entries for
    categories: `{"maps": digest, "chosen": [[instant, {category: frequency}], …]}`. The digest
    identifies the maps that were written at the same time.
    """
    maps = to_whole_maps(service, choices)
    fields = {
        name: [[_write_instant(at), _WRITE.get(name, _same)(value)] for at, value in history]
        for name in _READ
        if (history := maps if name == _MAPS else getattr(choices, name))
    }
    return _json(fields) if fields else "", _write_categories(choices.frequencies, maps)


def read_reader_choices(
    stored: str | None, categories: str | None, service: History[Preferences]
) -> ReaderChoices:
    """Return the choices in the two attributes that `write_reader_choices` encoded.

    The previous version does not update `reader_categories`. So this attribute is used only if its
    digest matches the maps in `reader_choices`. Otherwise the maps are used.
    """
    choices, maps = _read_fields(stored)
    if categories:
        digest, by_category = _read_categories(categories)
        if digest == _digest(maps):
            return replace(choices, frequencies=by_category)
    return replace(choices, frequencies=from_whole_maps(maps, service)) if maps else choices


@remembered
def _read_fields(stored: str | None) -> tuple[ReaderChoices, History[Frequencies]]:
    histories: dict[str, Any] = {
        name: tuple((instant(at), _READ[name](value)) for at, value in history)
        for name, history in json.loads(stored or "{}").items()
    }
    maps = histories.pop(_MAPS, ())
    return ReaderChoices(**histories), maps


def _write_categories(by_category: ByCategory, maps: History[Frequencies]) -> str:
    patches: dict[tuple[str, int], dict[str, str]] = {}
    for name, history in by_category:
        for place, (at, often) in enumerate(history):
            with_same_instant = sum(then == at for then, _ in history[:place])
            patches.setdefault((_write_instant(at), with_same_instant), {})[name] = often
    chosen = [[at, patch] for (at, _), patch in sorted(patches.items())]
    return _json({"maps": _digest(maps), "chosen": chosen}) if chosen else ""


@remembered
def _read_categories(stored: str) -> tuple[str, ByCategory]:
    content = json.loads(stored)
    histories: dict[str, list[tuple[datetime, Frequency]]] = {}
    for at, chosen in content["chosen"]:
        for name, often in chosen.items():
            change = instant(at), as_stored(Frequency, often)
            histories.setdefault(name, []).append(change)
    return content["maps"], tuple(sorted((name, tuple(each)) for name, each in histories.items()))


@remembered
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
        times.paused_until.isoformat() if times.paused_until else None,
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
    times = DigestTimes(
        *_read_clock([hour, minute]),
        _read_weekday(weekly_on),
        read_days(text(custom_on)),
        day(paused_until) if paused_until else None,
    )
    return Preferences(read_frequencies(chosen), times, text(time_zone))


def _read_clock(clock: list[Any]) -> tuple[int, int | None]:
    hour, minute = clock
    return whole(hour, most=23), None if minute is None else whole(minute, most=59)


def _read_weekday(weekday: object) -> int:
    return whole(weekday, 1, 7)


def _same(value: Any) -> Any:
    return value


_MAPS = "frequencies"
"""The field of `reader_choices` in which the previous version stores frequencies by category."""

_WRITE: dict[str, Any] = {
    "frequencies": dict,
    "clock": list,
    "custom_on": write_days,
    "paused_until": date.isoformat,
}
_READ: dict[str, Any] = {
    "frequency": lambda often: as_stored(Frequency, text(often)),
    "frequencies": read_frequencies,
    "clock": _read_clock,
    "weekly_on": _read_weekday,
    "custom_on": lambda days: read_days(text(days)),
    "paused_until": day,
    "time_zone": text,
}
"""Decoders of the fields that a reader can set, by field name."""


def _write_history(history: History[ValueT], values: Callable[[ValueT], tuple[Any, ...]]) -> str:
    return _json([[_write_instant(at), *values(value)] for at, value in history])


def _read_history(stored: str, value: Callable[..., ValueT]) -> History[ValueT]:
    return tuple((instant(at), value(*values)) for at, *values in json.loads(stored))


def _write_instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
