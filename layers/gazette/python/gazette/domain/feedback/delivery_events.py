"""Delivery events: what the provider reports of an email, and what is remembered of it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from gazette.domain.feedback.experiment import Variant
from gazette.domain.model import RunKey


class DeliveryEventType(StrEnum):
    """What became of a message. Events come in any order, any number of times, or not at all.

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


AGAINST_RECIPIENT = frozenset({DeliveryEventType.BOUNCED, DeliveryEventType.COMPLAINED})
"""The only types that can suppress a recipient."""


class Fault(StrEnum):
    """What a bounce or a complaint says against the address.

    `HARD`: it takes no email, now or later. `SOFT`: it took none this time. `UNDETERMINED`: it took
    none, and nobody knows why. `OF_MESSAGE`: it would have taken another message. `COMPLAINT`:
    whoever reads there does not want it.
    """

    HARD = "hard"
    SOFT = "soft"
    UNDETERMINED = "undetermined"
    OF_MESSAGE = "of_message"
    COMPLAINT = "complaint"


_TOO_SOON = timedelta(minutes=1)
"""After it was sent, within which a link is rather followed by a scanner than by a reader."""


@dataclass(frozen=True, slots=True)
class DeliveryEvent:
    """One report about one message of Gazette.

    `run` and `attempt` are what its tags say; None where they name no run, as with the canary,
    or no number. `sent_at` is when the provider took the message, `at` when the event happened;
    None where it does not say. `fault` is what it says against the address with the hash
    `address`; None, and empty, where it says nothing against any. `cause` is the provider's own
    name for it, fit for a log. `unsent`: the provider did not try, because the address is on the
    account's own list. `is_by_policy`: a mailbox provider refused it for what it thinks of the
    sender, such as DMARC, spam or a block list. `flaw`: why nobody can tell whom it speaks
    against, though it does.
    """

    type: DeliveryEventType
    run: RunKey | None
    attempt: int | None
    message_id: str
    sent_at: datetime
    at: datetime | None = None
    fault: Fault | None = None
    address: str = ""
    cause: str = ""
    unsent: bool = False
    is_by_policy: bool = False
    flaw: str = ""

    @property
    def happened_at(self) -> datetime:
        """When the event happened; when the provider took the message, where it does not say."""
        return self.at or self.sent_at

    @property
    def is_of_a_scanner(self) -> bool:
        """Whether it is a click so soon that it says nothing of the reader.

        Held against the instant of sending, which every delivery event has, and not of delivery: so
        the answer is the same in whatever order delivery events come.
        """
        return (
            self.type is DeliveryEventType.CLICKED and self.happened_at < self.sent_at + _TOO_SOON
        )


class EngagementEvent(StrEnum):
    """What can become of an email; the first instant of each is kept.

    All but one are events that the provider reports, by the same names (DeliveryEventType).
    `UNSUBSCRIBED`: the reader left by a link of this email.
    """

    SENT = "sent"
    DELIVERED = "delivered"
    DELAYED = "delayed"
    BOUNCED = "bounced"
    COMPLAINED = "complained"
    REJECTED = "rejected"
    OPENED = "opened"
    CLICKED = "clicked"
    UNSUBSCRIBED = "unsubscribed"


_UNTOLD = {DeliveryEventType.RENDERING_FAILED, DeliveryEventType.SUBSCRIPTION}


def engagement_of(event: DeliveryEvent) -> EngagementEvent | None:
    """What the delivery event tells of its email; None where it tells nothing that is remembered.

    So a bounce that is an automatic reply, and a complaint that takes one back: such a delivery
    event has no fault.
    """
    if event.type in _UNTOLD or event.is_of_a_scanner:
        return None
    if event.type in AGAINST_RECIPIENT and event.fault is None:
        return None
    return EngagementEvent(event.type.value)


@dataclass(frozen=True, slots=True)
class Engagement:
    """What became of the email of one run, with what reports tell emails apart by.

    `first`: when each event happened first, as far as it was reported. `locale`, `variant` and
    `categories` are those of the run: what was sent.
    """

    key: RunKey
    slot: datetime
    locale: str
    variant: Variant
    categories: tuple[str, ...]
    first: Mapping[EngagementEvent, datetime]
