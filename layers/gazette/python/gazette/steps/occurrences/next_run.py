"""The next run of a schedule, because events wait that it should send."""

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
    """Return the run behind `newest`, due now. Create it, and use it as stored: it may exist.

    Its sequence is at least the one that its schedule would use: for a digest `at_least`, which is
    the next sequence of the schedule; for an immediate run the current second. `sources`: of the
    schedule. The run shows what they have brought, and waits for none: it is of no occurrence.
    """
    if newest.key.is_immediate:
        at_least = int(now.timestamp())
    key = replace(newest.key, sequence=max(newest.key.sequence + 1, at_least))
    return Run(key, due_at=now, check_at=now + check_after, created_at=now, sources=sources)
