"""Histories as JSON in one attribute: one string is a condition, and read fast."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from gazette.domain.stored import as_stored
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequencies, Frequency, frequencies_as_stored
from gazette.domain.subscribers.history import History

ValueT = TypeVar("ValueT")


def write_choices(choices: History[Frequencies]) -> str:
    """`[[instant, {category: frequency}], …]`."""
    return _write(choices, lambda chosen: [dict(chosen)])


def read_choices(text: str) -> History[Frequencies]:
    """The choices that `write_choices` wrote."""
    return _read(text, frequencies_as_stored)


def write_changes(changes: History[FollowState]) -> str:
    """`[[instant, following, frequency or null], …]`, with the title at the end, if any."""
    return _write(
        changes,
        lambda state: [state.following, state.frequency, *([state.title] if state.title else [])],
    )


def read_changes(text: str) -> History[FollowState]:
    """The changes that `write_changes` wrote."""
    return _read(
        text,
        lambda following, frequency, title="": FollowState(
            following, as_stored(Frequency, frequency) if frequency else None, title
        ),
    )


def _write(history: History[ValueT], values: Callable[[ValueT], list[Any]]) -> str:
    return json.dumps(
        [[at.astimezone(UTC).isoformat(), *values(value)] for at, value in history],
        separators=(",", ":"),
    )


def _read(text: str, value: Callable[..., ValueT]) -> History[ValueT]:
    return tuple((datetime.fromisoformat(at), value(*values)) for at, *values in json.loads(text))
