"""What became of an email after it was sent. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.feedback.experiment import Variant
from gazette.domain.model import RunKey


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
_ACCUSING = {DeliveryEventType.BOUNCED, DeliveryEventType.COMPLAINED}


def engagement_of(event: DeliveryEvent) -> EngagementEvent | None:
    """What the delivery event tells of its email; None where it tells nothing that is remembered.

    So a bounce that is an automatic reply, and a complaint that takes one back: such a delivery
    event has no fault.
    """
    if event.type in _UNTOLD or event.is_of_a_scanner:
        return None
    if event.type in _ACCUSING and event.fault is None:
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
