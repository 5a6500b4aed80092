"""Start the next run of a schedule now, because events wait that it should send."""

from dataclasses import replace
from datetime import timedelta

from gazette.domain.delivery.run import Run
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Runs


def start_behind(
    newest: Run, *, at_least: int = 0, runs: Runs, clock: Clock, check_after: timedelta
) -> Run:
    """Start the run behind `newest`, due now; returns it as stored: another worker may have.

    Its sequence is at least the one that its schedule would use: for a digest `at_least`, which is
    the next sequence of the schedule; for an immediate run the current second.
    """
    now = clock()
    if newest.key.is_immediate:
        at_least = int(now.timestamp())
    key = replace(newest.key, sequence=max(newest.key.sequence + 1, at_least))
    return runs.create(Run(key, due_at=now, check_at=now + check_after))
