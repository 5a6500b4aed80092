"""How long open runs stand, and which of them the day holds up."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.delivery.pace import EVER
from gazette.domain.delivery.streams import Streams
from gazette.domain.model import DAILY, RunKey

FreeSince = Callable[[], datetime | None]
"""Since when cap and quota of a stream have had permits left; None: they are used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Open runs: `age` of the oldest that may go, when it was due, and how many may not go.

    `age` is zero and `due_at` None if there is none, or if it is due later in its slot.
    `held_by_day` wait for the next day, because the cap or the quota of their stream is used up.
    `is_cut_off`: not every run was read, so there may be more, and older ones.
    """

    age: timedelta
    held_by_day: int
    due_at: datetime | None = None
    is_cut_off: bool = False


def stands(
    open_runs: Iterable[tuple[RunKey, datetime]], *, free_since: Streams[FreeSince], now: datetime
) -> Standing:
    """Return how long these runs have waited, and how many the day holds up.

    `open_runs` come with when they were due. A run that waits for the next day has no age; behind
    that, its age begins when email could go again. A daily digest never waits so long (rule 21), so
    its age begins when it was due. Asks `free_since` only for a run that may wait.
    """
    oldest, due, held = now, None, 0
    for key, due_at in open_runs:
        free = EVER if key.schedule == DAILY else free_since.of(key.schedule)()
        if free is None:
            held += 1
        elif (since := max(due_at, free)) < oldest:
            oldest, due = since, due_at
    return Standing(age=now - oldest, held_by_day=held, due_at=due)


def together(parts: Sequence[Standing]) -> Standing:
    """Return the standing of all runs from that of each part of them; there is at least one."""
    oldest = max(parts, key=lambda part: part.age)
    held = sum(part.held_by_day for part in parts)
    return Standing(age=oldest.age, held_by_day=held, due_at=oldest.due_at)
