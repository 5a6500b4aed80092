"""The age of open runs, and the number of runs that wait for the next day."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.delivery.pace import EVER
from gazette.domain.delivery.streams import Streams
from gazette.domain.model import DAILY, RunKey

FreeSince = Callable[[], datetime | None]
"""A function that returns the time since which a stream's cap and quota have permits left. Returns
None if either is used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The age and number of open runs."""

    age: timedelta
    """The age of the oldest run that may be sent.

    Zero if there is no such run, or if it is due later in its slot.
    """

    held_by_day: int
    """The number of runs that wait for the next day, because their stream's cap or quota is used
    up."""

    due_at: datetime | None = None
    """The time at which the oldest run was due; None if there are no runs."""

    is_cut_off: bool = False
    """True if not all runs were read. Runs that were not read may be older than `age`."""


def standing_of(
    open_runs: Iterable[tuple[RunKey, datetime]], *, free_since: Streams[FreeSince], now: datetime
) -> Standing:
    """Return the age of the oldest run that may be sent, and the number of runs that wait for the
    next day.

    `open_runs` are pairs of a key and a due time. A run that waits for the next day has no age;
    after the wait, its age begins when email could be sent again. A daily digest never waits so
    long (rule 21), so its age begins when it was due. `free_since` is called only for a run that
    may wait.
    """
    oldest, due, waiting_for_day = now, None, 0
    for key, due_at in open_runs:
        free = EVER if key.schedule == DAILY else free_since.of(key.schedule)()
        if free is None:
            waiting_for_day += 1
        elif (since := max(due_at, free)) < oldest:
            oldest, due = since, due_at
    return Standing(age=now - oldest, held_by_day=waiting_for_day, due_at=due)


def combined(parts: Sequence[Standing]) -> Standing:
    """Combine the standing of each part into the standing of all runs."""
    oldest = max(parts, key=lambda part: part.age)
    waiting_for_day = sum(part.held_by_day for part in parts)
    return Standing(age=oldest.age, held_by_day=waiting_for_day, due_at=oldest.due_at)
