"""Histories of values, independent of the order in which messages arrive.

Messages arrive in any order and any number of times. If a result depends on the value at some
instant, all dated values are kept, so that the same messages make the same history in any order.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

ValueT = TypeVar("ValueT")

History = tuple[tuple[datetime, ValueT], ...]
"""Values, oldest first, each with the instant from which it applies."""

LONGEST = 16
"""The maximum number of entries in a history.

If there are more, entries between two equal entries are dropped first.
"""

LATE = timedelta(days=1)
"""The age after which a value that repeats the previous value is dropped."""


def remember(
    history: History[ValueT], at: datetime, value: ValueT, *, longest: int = LONGEST
) -> History[ValueT]:
    """Return `history` with `value` in force from `at`. Adding the same value twice has no effect.

    Of two values with the same instant, the greater one (by `repr`) counts as the later. The result
    is the same for any order of arrival, as long as no value arrives more than a day, or more than
    `longest` changes, after a newer value.
    """
    dated = sorted({*history, (at, value)}, key=lambda entry: (entry[0], repr(entry[1])))
    return in_order(dated, longest=longest)


def in_order(
    dated: Sequence[tuple[datetime, ValueT]], *, longest: int = LONGEST
) -> History[ValueT]:
    """Return a history of dated values, in chronological order; empty if there are no values."""
    entries = [
        entry for entry, is_turn in _with_turns(dated) if is_turn or dated[-1][0] - entry[0] <= LATE
    ]
    while len(entries) > longest:
        del entries[_least_significant(entries)]
    return tuple(entries)


def _least_significant(dated: list[tuple[datetime, ValueT]]) -> int:
    """Return the index of the entry to drop first.

    It is the oldest entry between two entries with the same value, or else the oldest entry.
    """
    between = (
        n for n in range(1, len(dated) - 1) if dated[n - 1][1] == dated[n][1] == dated[n + 1][1]
    )
    return next(between, 0)


def without_repeats(history: History[ValueT]) -> History[ValueT]:
    """Return `history` without entries that repeat the previous value."""
    return tuple(entry for entry, is_turn in _with_turns(history) if is_turn)


def _with_turns(
    dated: Sequence[tuple[datetime, ValueT]],
) -> Iterator[tuple[tuple[datetime, ValueT], bool]]:
    """Yield each entry with a flag: True if the value differs from the previous value."""
    for previous, entry in zip([None, *dated], dated, strict=False):
        yield entry, previous is None or previous[1] != entry[1]


def in_force_since(history: History[ValueT], instant: datetime) -> History[ValueT]:
    """Return the entry in force at `instant` and all later entries.

    Return all entries if the history began later.
    """
    before = [number for number, (at, _) in enumerate(history) if at < instant]
    if not before or any(at == instant for at, _ in history):
        return tuple(entry for entry in history if entry[0] >= instant)
    return history[before[-1] :]
