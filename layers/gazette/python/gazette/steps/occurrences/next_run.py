"""The next run of a schedule, started out of turn: because something waits that it should send."""

from dataclasses import replace
from datetime import timedelta

from gazette.domain.delivery.run import Run
from gazette.domain.ports.ledgers import Runs
from gazette.domain.ports.outside import Clock


def start_behind(
    newest: Run, *, at_least: int = 0, runs: Runs, clock: Clock, check_after: timedelta
) -> Run:
    """The run behind `newest`, due now, as it is stored: somebody else may have started it.

    Numbered as what its schedule starts: digests from `at_least`, the schedule's own next number;
    what goes out at once from the second in which it begins.
    """
    now = clock()
    if newest.key.is_immediate:
        at_least = int(now.timestamp())
    key = replace(newest.key, sequence=max(newest.key.sequence + 1, at_least))
    return runs.create(Run(key, due_at=now, check_at=now + check_after))
