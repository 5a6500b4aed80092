"""Tell a run what happened, whoever else is telling it something at the same time."""

from collections.abc import Iterable

from gazette.domain.delivery.lifecycle import Ignored, transition
from gazette.domain.delivery.run import Reason, Run
from gazette.domain.delivery.signals import Cancel, Claim, Signal, Stop
from gazette.domain.errors import UnreadableRow
from gazette.domain.ports.ledgers import Runs
from gazette.domain.stored import readable


def apply(run: Run, signal: Signal, *, runs: Runs) -> Run:
    """Store what `signal` makes of the run; where somebody else was first, of what they stored.

    A claim is made on what was read and on nothing else: it is not repeated.
    """
    while True:
        after = transition(run, signal)
        if isinstance(after, Ignored):
            return run
        stored = runs.swap(run, after)
        if stored == after or isinstance(signal, Claim):
            return stored
        run = stored


def cancel(run: Run, reason: Reason, *, runs: Runs) -> Run:
    """Cancel a run; one that is claimed, or may have gone out, says that this came too late."""
    return apply(apply(run, Cancel(reason), runs=runs), Stop(), runs=runs)


def make_known(stopped: Iterable[Run | UnreadableRow], *, runs: Runs) -> list[Run]:
    """Raise the epoch of runs that have not ended, after the stop itself was written.

    Whoever read before the stop then fails at the claim and reads again (rule 11). What cannot be
    read is not claimed. Returns the runs as they are then.
    """
    return [apply(run, Stop(), runs=runs) for run in readable(stopped)]
