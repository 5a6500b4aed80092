"""What a reader chose themself, and what the service said meanwhile: each as JSON."""

import json
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

from gazette.adapters.dynamodb.days import read_days, write_days
from gazette.domain.scheduling.recurrence import DigestTimes
from gazette.domain.stored import as_stored
from gazette.domain.subscribers.choices import Preferences, ReaderChoices
from gazette.domain.subscribers.frequency import Frequency, frequencies_as_stored
from gazette.domain.subscribers.history import History


def write_reader_choices(choices: ReaderChoices) -> str:
    """`{field: [[instant, value], …]}`, without the fields that were never chosen; empty: none."""
    written = {
        name: [[_write_instant(at), _WRITE.get(name, _same)(value)] for at, value in history]
        for name in _FIELDS
        if (history := getattr(choices, name))
    }
    return _json(written) if written else ""


def read_reader_choices(text: str | None) -> ReaderChoices:
    """What `write_reader_choices` wrote."""
    histories: dict[str, Any] = {
        name: tuple((datetime.fromisoformat(at), _READ[name](value)) for at, value in history)
        for name, history in json.loads(text or "{}").items()
    }
    return ReaderChoices(**histories)


def write_service_choices(choices: History[Preferences]) -> str:
    """`[[instant, {category: frequency}, hour, minute, weekday, days, pause, zone], …]`."""
    return (
        _json([[_write_instant(at), *_write_preferences(each)] for at, each in choices])
        if choices
        else ""
    )


def read_service_choices(text: str | None) -> History[Preferences]:
    """What `write_service_choices` wrote."""
    return tuple(
        (datetime.fromisoformat(at), _read_preferences(*values))
        for at, *values in json.loads(text or "[]")
    )


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
    until = date.fromisoformat(paused_until) if paused_until else None
    times = DigestTimes(hour, minute, weekly_on, read_days(custom_on), until)
    return Preferences(frequencies_as_stored(chosen), times, time_zone)


def _write_instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def _read_clock(clock: list[Any]) -> tuple[int, int | None]:
    hour, minute = clock
    return hour, minute


def _same(value: Any) -> Any:
    return value


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
_FIELDS = tuple(_READ)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
