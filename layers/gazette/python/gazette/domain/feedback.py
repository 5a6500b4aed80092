"""What the provider reports about a message that it was handed."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.model import RunKey


class MailEvent(StrEnum):
    """What became of a message. Reports come in any order, any number of times, or not at all.

    All of them prove that the provider took the message, and all but `REJECTED` and
    `RENDERING_FAILED` that it handed it on or still tries to: `REJECTED` found a virus in it,
    `RENDERING_FAILED` could not fill in a template of the provider's, which Gazette never uses.
    """

    SENT = "sent"
    DELIVERED = "delivered"
    DELAYED = "delayed"
    BOUNCED = "bounced"
    COMPLAINED = "complained"
    REJECTED = "rejected"
    OPENED = "opened"
    CLICKED = "clicked"
    RENDERING_FAILED = "rendering_failed"
    SUBSCRIPTION = "subscription"


@dataclass(frozen=True, slots=True)
class MailReport:
    """One report about one message of Gazette.

    `run` and `attempt` are what its tags say; None where they name no run, as with the canary,
    or no number. `sent_at` is when the provider took the message, not when the event happened.
    """

    kind: MailEvent
    run: RunKey | None
    attempt: int | None
    message_id: str
    sent_at: datetime
