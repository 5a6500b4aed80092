"""The next run of a schedule, which sends waiting events."""

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
    """Create and return the run after `newest`, due now. If the run exists, return the stored run.

    The sequence is at least the schedule's next sequence: `at_least` for a digest, the current
    second for an immediate run. `sources` contains the schedule's content sources. The run shows
    stored items, but does not wait for further items, because it belongs to no occurrence.
    """
    if newest.key.is_immediate:
        at_least = int(now.timestamp())
    key = replace(newest.key, sequence=max(newest.key.sequence + 1, at_least))
    return Run(
        key,
        due_at=now,
        check_at=now + check_after,
        created_at=now,
        sources=sources,
        step=newest.step,
    )
