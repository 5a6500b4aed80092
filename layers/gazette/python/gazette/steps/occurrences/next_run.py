"""The next run of a schedule, for events that are waiting."""

from dataclasses import replace
from datetime import datetime, timedelta

from gazette.domain.delivery.run import Run


def next_run(
    newest: Run,
    *,
    at_least: int = 0,
    sources: tuple[str, ...] = (),
    now: datetime,
    check_after: timedelta,
) -> Run:
    """Return the run after `newest`, due now.

    Create it, and use the stored row, because it may exist.

    Its sequence is at least the next sequence of its schedule: for a digest `at_least`, for an
    immediate run the current second. `sources`: the schedule's. The run shows their stored items,
    and waits for none, because it belongs to no occurrence.
    """
    if newest.key.is_immediate:
        at_least = int(now.timestamp())
    key = replace(newest.key, sequence=max(newest.key.sequence + 1, at_least))
    return Run(key, due_at=now, check_at=now + check_after, created_at=now, sources=sources)
