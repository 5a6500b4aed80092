"""What was said over time, whatever the order in which it arrived.

Messages reach Gazette in any order and any number of times. Where an answer depends on what held
at some moment, the moments are kept: a history is a set of dated values, so the same messages
make the same history however they arrive.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

ValueT = TypeVar("ValueT")

History = tuple[tuple[datetime, ValueT], ...]
"""Values with the instant from which each holds, oldest first."""

LONGEST = 16
"""Entries that a history keeps: of more, what stands between two that say the same goes first."""

LATE = timedelta(days=1)
"""Older than this, a value that repeats the one before it is dropped."""


def remember(
    history: History[ValueT], at: datetime, value: ValueT, *, longest: int = LONGEST
) -> History[ValueT]:
    """`history` with `value` from `at` on. The same twice changes nothing.

    Of two values with the same instant the greater one (by `repr`) came last. The outcome is the
    same for any order of arrival as long as nothing arrives more than a day, or more than
    `longest` changes, behind the newest.
    """
    dated = sorted({*history, (at, value)}, key=lambda entry: (entry[0], repr(entry[1])))
    newest = dated[-1][0]
    kept = [entry for entry, is_turn in _with_turns(dated) if is_turn or newest - entry[0] <= LATE]
    while len(kept) > longest:
        del kept[_least_telling(kept)]
    return tuple(kept)


def _least_telling(dated: list[tuple[datetime, ValueT]]) -> int:
    """The oldest entry between two that say the same as it, else the oldest of all."""
    between = (
        n for n in range(1, len(dated) - 1) if dated[n - 1][1] == dated[n][1] == dated[n + 1][1]
    )
    return next(between, 0)


def turns(history: History[ValueT]) -> History[ValueT]:
    """`history` without the entries that repeat the one before them: when it really changed."""
    return tuple(entry for entry, is_turn in _with_turns(history) if is_turn)


def _with_turns(
    dated: Sequence[tuple[datetime, ValueT]],
) -> Iterator[tuple[tuple[datetime, ValueT], bool]]:
    """Each entry, and whether it says something else than the one before it."""
    for previous, entry in zip([None, *dated], dated, strict=False):
        yield entry, previous is None or previous[1] != entry[1]


def in_force_since(history: History[ValueT], instant: datetime) -> History[ValueT]:
    """What held at `instant` and everything after it; all of it where it began later."""
    before = [number for number, (at, _) in enumerate(history) if at < instant]
    if not before or any(at == instant for at, _ in history):
        return tuple(entry for entry in history if entry[0] >= instant)
    return history[before[-1] :]
