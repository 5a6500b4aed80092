"""Make a claim, and recognise it if its answer was lost."""

from gazette.domain.delivery.lifecycle import Ignored, transition
from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import Claim
from gazette.domain.errors import Unavailable
from gazette.domain.ports.ledgers import Runs
from gazette.steps.delivery.predecessors import Predecessors

_CLAIMS = 5
"""Tries of one claim if its answer is lost: the nonce shows whether it was made already."""


def make_claim(run: Run, claim: Claim, older: Predecessors, *, runs: Runs) -> Run | None:
    """Claim the run and return it; None if another worker was faster.

    Repeats the write if no answer came. The same transaction closes the older runs that this run
    carries: evidence that arrives for one of them in the meantime makes the claim fail (rule 5).
    """
    claimed = transition(run, claim)
    if isinstance(claimed, Ignored):
        return None
    for attempt in range(_CLAIMS):
        try:
            if older.carried:
                pairs = ((run, claimed), *older.carried)
                return claimed if runs.swap_together(pairs) else None
            stored = runs.swap(run, claimed)
        except Unavailable:
            if attempt == _CLAIMS - 1:
                raise
        else:
            return stored if stored.is_claimed_like(claimed) else None
    return None
