"""Delivery events from the provider: what each means, and what is stored of it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from gazette.domain.feedback.experiment import Variant
from gazette.domain.model import RunKey


class DeliveryEventType(StrEnum):
    """What became of a message. Events come in any order, any number of times, or not at all.

    All types prove that the provider accepted the message. All but two prove that it delivered the
    message or still tries to: `REJECTED` means that it found a virus, `RENDERING_FAILED` that it
    could not fill in one of its own templates, which Gazette never uses.
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
    """What a bounce or a complaint means for the address.

    `HARD`: it will never accept email. `SOFT`: it did not accept this email. `UNDETERMINED`: it did
    not accept it, for an unknown reason. `OF_MESSAGE`: it would have accepted another message.
    `COMPLAINT`: the reader marked the email as spam.
    """

    HARD = "hard"
    SOFT = "soft"
    UNDETERMINED = "undetermined"
    OF_MESSAGE = "of_message"
    COMPLAINT = "complaint"


_TOO_SOON = timedelta(minutes=1)
"""Clicks within this time after sending count as those of a link scanner, not of the reader."""


@dataclass(frozen=True, slots=True)
class DeliveryEvent:
    """One delivery event of one message of Gazette.

    `run` and `attempt` come from the message's tags; None if the tags name no run, as with the
    canary, or no number. `sent_at`: when the provider accepted the message. `at`: when the event
    happened; None if the event does not say. `fault`: what it means for the address with the hash
    `address`; None, with an empty `address`, if it means nothing. `cause`: the provider's name for
    the fault, safe for logs. `unsent`: the provider did not try, because the address is on the
    account's suppression list. `is_by_policy`: a mailbox provider refused the sender, because of
    DMARC, spam or a block list. `flaw`: why the address at fault cannot be determined.
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
        """When the event happened, or else when the provider accepted the message."""
        return self.at or self.sent_at

    @property
    def is_of_a_scanner(self) -> bool:
        """Whether it is a click so soon after sending that a link scanner made it.

        Measured from the sending time, which every delivery event has, and not from delivery, so
        that the order of delivery events does not matter.
        """
        return (
            self.type is DeliveryEventType.CLICKED and self.happened_at < self.sent_at + _TOO_SOON
        )


class EngagementEvent(StrEnum):
    """What can become of an email. The first instant of each is stored.

    All but one are delivery events of the same name (DeliveryEventType). `UNSUBSCRIBED`: the
    reader unsubscribed by a link in this email.
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
    """The engagement event of a delivery event; None if nothing is stored for it.

    None also for a bounce that is an out-of-office reply, and a complaint that takes another back:
    these have no fault.
    """
    if event.type in _UNTOLD or event.is_of_a_scanner:
        return None
    if event.type in AGAINST_RECIPIENT and event.fault is None:
        return None
    return EngagementEvent(event.type.value)


class Mark(StrEnum):
    """What is counted of an email in the rates of its categories. `BOUNCED`: hard bounces only."""

    SENT = "sent"
    BOUNCED = "bounced"
    COMPLAINED = "complained"


def mark_of(event: DeliveryEvent) -> Mark | None:
    """What a delivery event counts as in the rates of its email's categories; None if not at all.

    A bounce or complaint because of the account's suppression list does not count: SES did not
    try to send, and does not count it either.
    https://docs.aws.amazon.com/ses/latest/dg/sending-email-suppression-list.html

    Nor does a refusal by policy: it concerns the sender's domain, which all categories share.
    Holding a category would not help, and would hide the problem; it has its own alarm.
    """
    if event.type is DeliveryEventType.SENT:
        return Mark.SENT
    if event.unsent:
        return None
    match event.fault:
        case Fault.HARD:
            return Mark.BOUNCED
        case Fault.COMPLAINT:
            return Mark.COMPLAINED
        case _:
            return None


@dataclass(frozen=True, slots=True)
class Engagement:
    """What became of the email of one run, with the dimensions of statistics.

    `first`: when each reported event first happened. `locale`, `variant`, `categories` and
    `templates`, the version, are those of the email that was sent.
    """

    key: RunKey
    slot: datetime
    locale: str
    variant: Variant
    categories: tuple[str, ...]
    first: Mapping[EngagementEvent, datetime]
    templates: int = 0
