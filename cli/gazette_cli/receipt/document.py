"""The JSON output of receipts."""

from gazette.domain.receipts.receipt import (
    ActivityReceipt,
    FollowerOutcomes,
    Receipt,
    ReceiptEmail,
    State,
)

from gazette_cli.shared.answers import Document


def receipt_document(receipt: Receipt) -> Document:
    """Return the JSON object of a receipt."""
    return {
        "user_id": receipt.user_id,
        "id": receipt.id,
        "state": receipt.state,
        "because": receipt.because,
        "why": receipt.why or None,
        "at": receipt.at,
        "category": receipt.category or None,
        "schedule": receipt.schedule or None,
        "next_digest": receipt.next_digest,
        "is_held": receipt.is_held,
        "shown_as": receipt.shown_as or None,
        "known_since": receipt.known_since,
        "emails": [*map(_email, receipt.emails)],
    }


def _email(email: ReceiptEmail) -> Document:
    return {
        "email": email.email,
        "sent_at": email.sent_at,
        "certainty": email.certainty,
        "events": email.events,
        "outcomes": dict(email.outcomes),
    }


def activity_document(receipt: ActivityReceipt, found: FollowerOutcomes | None) -> Document:
    """Return the JSON object of an activity with the count of its followers."""
    after = found.next if found else None
    return {
        "entity": receipt.entity,
        "id": receipt.id,
        "stored": receipt.stored,
        "retracted": receipt.retracted,
        "distributed": receipt.distributed,
        "expires_at": receipt.expires_at,
        "followers": {state: found.outcomes.get(state, 0) for state in State} if found else {},
        "others": found.others if found else 0,
        "unreadable": found.unreadable if found else 0,
        "next": " ".join(after) if after else None,
    }
