"""Make a claim, whatever becomes of its answer."""

from gazette.domain.delivery.lifecycle import Ignored, transition
from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import Claim
from gazette.domain.errors import Unavailable
from gazette.domain.ports.ledgers import Runs
from gazette.steps.delivery.predecessors import Preceding

_CLAIMS = 5
"""Times that a claim is made whose answer does not come: a nonce tells whether it was made."""


def make_claim(run: Run, claim: Claim, older: Preceding, *, runs: Runs) -> Run | None:
    """The run as claimed by this call; None where somebody was faster.

    Asked again where no answer came. With it, and not before, older runs are closed whose events
    it takes over: evidence that comes for one of them meanwhile makes the claim fail (rule 5).
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
