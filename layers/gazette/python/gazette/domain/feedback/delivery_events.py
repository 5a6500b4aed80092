"""The provider's delivery events: their meanings, and the data that is stored about them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from gazette.domain.feedback.experiment import Variant
from gazette.domain.model import RunKey


class DeliveryEventType(StrEnum):
    """The type of a delivery event.

    Events arrive in any order, any number of times, or not at all. Every event proves that the
    provider accepted the message. Every event except REJECTED and RENDERING_FAILED also proves that
    the provider tried to deliver the message or is still trying.
    """

    SENT = "sent"
    DELIVERED = "delivered"
    DELAYED = "delayed"
    BOUNCED = "bounced"
    COMPLAINED = "complained"
    REJECTED = "rejected"
    """The provider rejected the message because it contained a virus."""

    OPENED = "opened"
    CLICKED = "clicked"
    RENDERING_FAILED = "rendering_failed"
    """The provider could not render one of its own templates, which Gazette never uses."""

    SUBSCRIPTION = "subscription"


AGAINST_RECIPIENT = frozenset({DeliveryEventType.BOUNCED, DeliveryEventType.COMPLAINED})
"""The only types of delivery events that can suppress an address."""


class Fault(StrEnum):
    """The kind of fault that a bounce or a complaint reports about an address."""

    HARD = "hard"
    """The address will never accept email."""

    SOFT = "soft"
    """The address did not accept this email."""

    UNDETERMINED = "undetermined"
    """The address did not accept the email, for an unknown reason."""

    OF_MESSAGE = "of_message"
    """The address would have accepted a different message."""

    COMPLAINT = "complaint"
    """The reader marked the email as spam."""


_TOO_SOON = timedelta(minutes=1)
"""The time after sending in which clicks are attributed to a link scanner instead of the reader."""


@dataclass(frozen=True, slots=True)
class DeliveryEvent:
    """One delivery event for one of Gazette's messages."""

    type: DeliveryEventType
    run: RunKey | None
    """The run in the message's tags; None for a message without a run, such as a canary."""

    attempt: int | None
    """The attempt in the message's tags; None if the tags contain no number."""

    message_id: str
    sent_at: datetime
    """The time at which the provider accepted the message."""

    at: datetime | None = None
    """The time of the event; None if unknown."""

    fault: Fault | None = None
    """The fault of `address` that the event reports; None if there is none."""

    address: str = ""
    """The hash of the address at fault; empty if there is no fault."""

    cause: str = ""
    """The provider's name for the fault, which is safe to log."""

    unsent: bool = False
    """True if the provider did not try to send, because the address is on the account's suppression
    list."""

    is_by_policy: bool = False
    """True if a mailbox provider rejected the sender because of DMARC, spam or a block list."""

    flaw: str = ""
    """The reason why the address at fault cannot be determined."""

    is_reported: bool = False
    """True if a service reported the event. Not every provider reports acceptance separately."""

    @property
    def happened_at(self) -> datetime:
        """The time of the event, or else the time at which the provider accepted the message."""
        return self.at or self.sent_at

    @property
    def is_of_a_scanner(self) -> bool:
        """Return True for a click so soon after sending that a link scanner must have made it.

        The time is measured from sending, which every delivery event contains, and not from
        delivery, so that the order of delivery events does not matter.
        """
        return (
            self.type is DeliveryEventType.CLICKED and self.happened_at < self.sent_at + _TOO_SOON
        )


class EngagementEvent(StrEnum):
    """An event that happened to an email. Only the first time of each event is stored.

    All except UNSUBSCRIBED are delivery events with the same name (DeliveryEventType).
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
    """The reader unsubscribed through a link in this email."""


_NOT_STORED = {DeliveryEventType.RENDERING_FAILED, DeliveryEventType.SUBSCRIPTION}


_ARRIVED = {
    DeliveryEventType.DELIVERED,
    DeliveryEventType.OPENED,
    DeliveryEventType.CLICKED,
}


def acceptance_of(event: DeliveryEvent) -> DeliveryEvent | None:
    """Return the event that a provider accepted the email, if `event` has to stand for it too.

    SES reports acceptance itself, but many providers do not. Their first report that an email
    arrived then also counts as sent. A bounce or a complaint does not count as sent. Otherwise, a
    service that reports only bounces would put every category on hold.
    """
    if not event.is_reported or event.type not in _ARRIVED:
        return None
    return DeliveryEvent(
        type=DeliveryEventType.SENT,
        run=event.run,
        attempt=event.attempt,
        message_id=event.message_id,
        sent_at=event.sent_at,
        is_reported=True,
    )


def engagement_of(event: DeliveryEvent) -> EngagementEvent | None:
    """Return the engagement event for a delivery event; None if there is none to store.

    Out-of-office bounces and withdrawn complaints have no fault and are not stored.
    """
    if event.type in _NOT_STORED or event.is_of_a_scanner:
        return None
    if event.type in AGAINST_RECIPIENT and event.fault is None:
        return None
    return EngagementEvent(event.type.value)


class Mark(StrEnum):
    """The kinds of delivery events that count towards the rates of a category.

    `BOUNCED` counts hard bounces only.
    """

    SENT = "sent"
    BOUNCED = "bounced"
    COMPLAINED = "complained"


def mark_of(event: DeliveryEvent) -> Mark | None:
    """Return the category statistic that a delivery event increments.

    Return None if the event does not count in these statistics.

    A bounce or complaint because of the account's suppression list does not count. SES did not try
    to send the email, and does not count it either.
    https://docs.aws.amazon.com/ses/latest/dg/sending-email-suppression-list.html

    A refusal by policy does not count either, because it concerns the sender's domain, which all
    categories share. A hold on a category would not help, and would hide the problem. The refusal
    has its own alarm.
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
    """The engagement events of one run's email, with the dimensions for statistics.

    `locale`, `variant`, `categories` and `templates` describe the email that was sent.
    """

    key: RunKey
    slot: datetime
    locale: str
    variant: Variant
    categories: tuple[str, ...]
    first: Mapping[EngagementEvent, datetime]
    """The first time at which each event was reported."""

    templates: int = 0
    """The template version of the email."""
