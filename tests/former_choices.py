"""Choices as the version before reads them from a row, for tests of a rollback.

A copy of what that version does with the attributes `reader_choices` and `service_choices`, as far
as frequencies are concerned.
"""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from gazette.domain.subscribers.choices import Preferences
from gazette.domain.subscribers.frequency import (
    DEFAULT,
    EVERYTHING,
    Frequencies,
    Frequency,
    frequencies_as_stored,
)
from gazette.domain.subscribers.history import History, remember, without_repeats

KNOWN: dict[str, Callable[[Any], Any]] = {
    "frequency": lambda text: Frequency(text) if text != DEFAULT else DEFAULT,
    "frequencies": frequencies_as_stored,
    "clock": tuple,
    "weekly_on": int,
    "custom_on": str,
    "paused_until": str,
    "time_zone": str,
}
"""The fields that it knows. Any other one makes the row unreadable."""


def former_reading(reader_choices: str) -> dict[str, Any]:
    """The histories in `reader_choices`. Raises KeyError for a field that is not known."""
    return {
        name: tuple((datetime.fromisoformat(at), KNOWN[name](value)) for at, value in history)
        for name, history in json.loads(reader_choices or "{}").items()
    }


def former_choice(
    maps: History[Frequencies], at: datetime, chosen: Frequencies
) -> History[Frequencies]:
    """The whole maps after a choice by category, which replaces all earlier ones."""
    return remember(maps, at, chosen, longest=16)


def former_frequencies(
    service: History[Preferences],
    maps: History[Frequencies],
    everything: History[Frequency] = (),
    *,
    at: datetime,
) -> dict[str, Frequency]:
    """What counts at an instant, EVERYTHING included."""
    of_service = tuple((then, each.frequencies) for then, each in service if then <= at)
    of_reader = tuple(entry for entry in maps if entry[0] <= at)
    chosen = dict(_counting(of_service, of_reader)) if of_service or of_reader else {}
    for _, often in [entry for entry in everything if entry[0] <= at][-1:]:
        if often != DEFAULT:
            chosen[EVERYTHING] = often
    return chosen


def is_overtaken(
    service: History[Preferences], maps: History[Frequencies], *, at: datetime
) -> bool:
    """Whether the service has said anything else since the reader chose by category."""
    of_service = tuple((then, each.frequencies) for then, each in service if then <= at)
    of_reader = tuple(entry for entry in maps if entry[0] <= at)
    changes = without_repeats(of_service)[1:]
    return bool(of_reader and changes) and changes[-1][0] > of_reader[-1][0]


def _counting(of_service: History[Frequencies], of_reader: History[Frequencies]) -> Frequencies:
    if of_service and of_reader:
        changes = without_repeats(of_service)[1:]
        overtaken = bool(changes) and changes[-1][0] > of_reader[-1][0]
        return of_service[-1][1] if overtaken else of_reader[-1][1]
    return [*of_service, *of_reader][-1][1]
