"""Change runs while other workers may also be changing them."""

from collections.abc import Iterable, Sequence

from gazette.domain.delivery.lifecycle import Ignored, transition
from gazette.domain.delivery.run import Reason, Run
from gazette.domain.delivery.signals import Cancel, Claim, Signal, Stop
from gazette.domain.errors import Overtaken, Unavailable, UnreadableRow
from gazette.domain.identity import run_id
from gazette.domain.ports.ledgers import Runs
from gazette.domain.stored import is_of_one_row, readable

_CLAIMS = 5
"""The maximum number of tries of one claim if responses are lost.

The nonce shows whether the claim was already made.
"""

Change = tuple[Run, Run]
"""A run before and after a change."""


class Changes:
    """The changes of runs that a decision requires, in the order in which `store` stores them."""

    def __init__(self) -> None:
        self.decided: list[Change] = []

    def apply(self, run: Run, signal: Signal) -> Run:
        """Apply `signal` to the run. Record the change, if any, and return the new run."""
        return self.replace(run, changed(run, signal))

    def replace(self, run: Run, after: Run) -> Run:
        """Record that `after` replaces the run, if it differs, and return it."""
        if after != run:
            self.decided.append((run, after))
        return after


def changed(run: Run, signal: Signal) -> Run:
    """Return the run after `signal`, or the run itself if it ignores the signal."""
    after = transition(run, signal)
    return run if isinstance(after, Ignored) else after


def store(changes: Sequence[Change], *, runs: Runs) -> None:
    """Store the recorded changes. Raises Overtaken if a run has changed since it was read."""
    for before, after in changes:
        if runs.swap(before, after) != after:
            raise Overtaken(f"Run {run_id(before.key)} has changed since it was read.")


def apply(run: Run, signal: Signal, *, runs: Runs) -> Run:
    """Apply `signal` to the run, store the result, and return the stored run.

    If another worker changed the run first, the signal is applied to the changed run. Claims are an
    exception, because a claim applies only to the run that was read.
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
    """Cancel a run.

    A run that is claimed, or may have been sent, is marked as overtaken instead.
    """
    return apply(apply(run, Cancel(reason), runs=runs), Stop(), runs=runs)


def raise_epochs(stopped: Iterable[Run | UnreadableRow], *, runs: Runs) -> list[Run]:
    """Raise the epoch of each run that has not ended, after a stop or another change was written.

    A worker that read the data before the write fails at its claim and reads again (rule 11).
    Unreadable rows are skipped, because no worker can claim them. Returns the stored runs. If one
    run causes an error, the error is raised after all other runs were processed.
    """
    raised: list[Run] = []
    failed: list[Exception] = []
    for run in readable(stopped):
        try:
            raised.append(apply(run, Stop(), runs=runs))
        except Exception as err:
            if not is_of_one_row(err):
                raise
            failed.append(err)
    if failed:
        raise failed[0]
    return raised


def make_claim(run: Run, claim: Claim, carried: Sequence[Change], *, runs: Runs) -> Run | None:
    """Claim the run and return it, or return None if another worker was faster.

    Retries the write if no response arrived. The same transaction closes the older runs that this
    run carries, so evidence that arrives for one of them in the meantime makes the claim fail (rule
    5).
    """
    claimed = transition(run, claim)
    if isinstance(claimed, Ignored):
        return None
    for attempt in range(_CLAIMS):
        try:
            if carried:
                pairs = ((run, claimed), *carried)
                return claimed if runs.swap_together(pairs) else None
            stored = runs.swap(run, claimed)
        except Unavailable:
            if attempt == _CLAIMS - 1:
                raise
        else:
            return stored if stored.is_claimed_like(claimed) else None
    return None
