"""The claims of receipts, compared with the emails that the provider accepted.

No receipt may state that an email contains an event if no such email was accepted. No receipt may
state that no email contains an event if one was accepted.
"""

from collections.abc import Collection, Iterable

from gazette.domain.delivery.run import Certainty
from gazette.domain.model import RunKey
from gazette.domain.receipts.receipt import Receipt, State

_PROVEN = frozenset({Certainty.ACCEPTED, Certainty.EVIDENCE})

IN_NO_EMAIL = frozenset(
    {
        State.WAITS_FOR_PROFILE,
        State.WAITING,
        State.COLLECTING,
        State.EXCLUDED,
        State.EXPIRED,
        State.LAPSED,
        State.SEEN,
        State.WITHDRAWN,
    }
)
"""The states that mean that no email contains the event."""


def says_no_email(receipt: Receipt) -> bool:
    """Return True if the receipt states that no email contains the event."""
    if receipt.state is State.RETRACTED:
        return not receipt.emails and receipt.because is None
    return receipt.state in IN_NO_EMAIL


def false_claims(receipt: Receipt, containing: Collection[RunKey]) -> Iterable[str]:
    """Yield the false statements of a receipt.

    `containing` contains the runs of the accepted emails that show the event.
    """
    name = f"{receipt.id} of {receipt.user_id} is {receipt.state}"
    for email in receipt.emails:
        if email.certainty in _PROVEN and email.run.key not in containing:
            yield f"receipt: {name}, but the email {email.email} does not contain it"
    if receipt.state is State.EMAILED and not containing:
        yield f"receipt: {name}, but no email contains it"
    if says_no_email(receipt) and containing:
        yield f"receipt: {name}, but an email contains it: {sorted(map(str, containing))}"
