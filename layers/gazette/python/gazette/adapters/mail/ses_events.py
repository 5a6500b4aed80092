"""The events of Amazon SES, as EventBridge or SNS puts them on a queue."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from gazette.adapters.mail.ses_faults import accused
from gazette.domain.errors import InvalidEvent
from gazette.domain.feedback.delivery_events import (
    AGAINST_RECIPIENT,
    DeliveryEvent,
    DeliveryEventType,
)
from gazette.domain.identity import parse_run_id
from gazette.domain.model import RunKey

_SOURCE = "aws.ses"
_RECORDS = {
    DeliveryEventType.BOUNCED: "bounce",
    DeliveryEventType.CLICKED: "click",
    DeliveryEventType.COMPLAINED: "complaint",
    DeliveryEventType.DELIVERED: "delivery",
    DeliveryEventType.DELAYED: "deliveryDelay",
    DeliveryEventType.OPENED: "open",
    DeliveryEventType.SUBSCRIPTION: "subscription",
}
"""Where the record of an event has its own time; the others have none."""

_BY_DETAIL_TYPE = {
    "Email Bounced": DeliveryEventType.BOUNCED,
    "Email Clicked": DeliveryEventType.CLICKED,
    "Email Complaint Received": DeliveryEventType.COMPLAINED,
    "Email Delivered": DeliveryEventType.DELIVERED,
    "Email Delivery Delayed": DeliveryEventType.DELAYED,
    "Email Opened": DeliveryEventType.OPENED,
    "Email Rejected": DeliveryEventType.REJECTED,
    "Email Rendering Failed": DeliveryEventType.RENDERING_FAILED,
    "Email Sent": DeliveryEventType.SENT,
    "Email Subscribed": DeliveryEventType.SUBSCRIPTION,
}
_BY_EVENT_TYPE = {
    "Bounce": DeliveryEventType.BOUNCED,
    "Click": DeliveryEventType.CLICKED,
    "Complaint": DeliveryEventType.COMPLAINED,
    "Delivery": DeliveryEventType.DELIVERED,
    "DeliveryDelay": DeliveryEventType.DELAYED,
    "Open": DeliveryEventType.OPENED,
    "Reject": DeliveryEventType.REJECTED,
    "Rendering Failure": DeliveryEventType.RENDERING_FAILED,
    "Send": DeliveryEventType.SENT,
    "Subscription": DeliveryEventType.SUBSCRIPTION,
}
_GREETING = "Successfully validated SNS topic"
"""What SES puts on a topic that it is told to publish to: plain text, once."""


@dataclass(frozen=True, slots=True)
class _Record:
    """What SES publishes, whoever carried it; `kind` is None where it is not of a message."""

    kind: DeliveryEventType | None
    about: Mapping[str, Any]


def decode_delivery_event(body: str, *, installation: str | None = None) -> DeliveryEvent | None:
    """What the body of an SQS message reports; None where it is not about a message of Gazette.

    That is an event of another source, another detail-type ("Sending Status Disabled"), without
    the tag `run`, or with the tag of another `installation` (None: of any): a stage that was made
    anew has the same names and other tables. EventBridge delivers SES's events at best effort and
    out of order.
    https://docs.aws.amazon.com/ses/latest/dg/monitoring-eventbridge.html
    https://docs.aws.amazon.com/eventbridge/latest/ref/events-ref-ses.html

    `detail` is the record that SES publishes everywhere else too: `mail.tags` holds lists of
    strings, `mail.timestamp` is ISO 8601 in UTC. SNS carries it as the text `Message`, or bare
    where its raw message delivery is on; its name is then `eventType`.
    https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
    https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html

    "Email Rendering Failed" proves that SES took the request and named a message, and as surely
    that no email left: "The email wasn't sent because of a template rendering issue." So it is
    no evidence of a digest that went out. It concerns templates kept in SES, and Gazette sends
    finished text.
    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_EventDestination.html

    Raises InvalidEvent for what is no JSON, no envelope of EventBridge or SNS, or a delivery event
    about a message of Gazette that lacks its id or its time: dropping that would lose evidence
    unseen. What lacks only whom it speaks against is evidence, and says so (`flaw`).
    """
    record = _record(body)
    mail = record.about.get("mail")
    if record.kind is None or not isinstance(mail, dict):
        return None
    tag = _tag(mail, "run")
    if tag is None or installation not in {None, _tag(mail, "installation")}:
        return None
    message_id = mail.get("messageId")
    if not isinstance(message_id, str) or not message_id:
        raise InvalidEvent("mail.messageId of an event of SES must be a text")
    event = DeliveryEvent(
        type=record.kind,
        run=_run(tag),
        attempt=_number(_tag(mail, "attempt")),
        message_id=message_id,
        sent_at=_instant(mail.get("timestamp")),
        at=_happened_at(record.kind, record.about),
    )
    if record.kind not in AGAINST_RECIPIENT:
        return event
    try:
        found = accused(record.kind, record.about, mail)
    except InvalidEvent as err:
        return replace(event, flaw=str(err))
    if found is None:
        return event
    return replace(
        event,
        fault=found.fault,
        address=found.address,
        cause=found.cause,
        unsent=found.unsent,
        is_by_policy=found.is_by_policy,
    )


def _record(body: str) -> _Record:
    if body.startswith(_GREETING):
        return _NOTHING
    envelope = _object(body, "A message on the feedback queue")
    if "Type" in envelope and "source" not in envelope:
        return _notified(envelope)
    if "eventType" in envelope and "source" not in envelope:
        return _published(envelope)
    for name, kind in (("source", str), ("detail-type", str), ("detail", dict)):
        if not isinstance(envelope.get(name), kind):
            raise InvalidEvent(
                f"{name} is missing or of the wrong type: a message on the feedback queue must be "
                "an event from EventBridge, with source, detail-type and detail, untransformed, "
                "or a notification of SNS, with Type and Message"
            )
    is_ours = envelope["source"] == _SOURCE
    named = _BY_DETAIL_TYPE.get(envelope["detail-type"]) if is_ours else None
    return _Record(named, envelope["detail"])


def _notified(envelope: Mapping[str, Any]) -> _Record:
    """Of a topic that somebody subscribed to or left, SNS says so in the same queue."""
    if envelope["Type"] != "Notification":
        return _NOTHING
    message = envelope.get("Message")
    if not isinstance(message, str):
        raise InvalidEvent("Message of a notification of SNS must be a text")
    if message.startswith(_GREETING):
        return _NOTHING
    return _published(_object(message, "Message of a notification of SNS"))


def _published(record: Mapping[str, Any]) -> _Record:
    """A record of an identity's own notifications has no `eventType`, and no tags either."""
    named = record.get("eventType")
    return _Record(_BY_EVENT_TYPE.get(named) if isinstance(named, str) else None, record)


_NOTHING = _Record(None, {})


def _object(text: str, what: str) -> dict[str, Any]:
    """https://docs.aws.amazon.com/eventbridge/latest/ref/events-structure.html"""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as err:
        raise InvalidEvent(f"{what} must be JSON: {type(err).__name__}") from err
    if not isinstance(found, dict):
        raise InvalidEvent(f"{what} must be a JSON object")
    return found


def _tag(mail: Mapping[str, Any], name: str) -> str | None:
    """The value of a message tag, which SES gives as a list of one."""
    tags = mail.get("tags")
    values = tags.get(name) if isinstance(tags, dict) else None
    first = values[0] if isinstance(values, list) and values else None
    return first if isinstance(first, str) else None


def _run(tag: str) -> RunKey | None:
    try:
        return parse_run_id(tag)
    except ValueError:
        return None


def _number(tag: str | None) -> int | None:
    return int(tag) if tag is not None and tag.isascii() and tag.isdecimal() else None


def _happened_at(kind: DeliveryEventType, detail: Mapping[str, Any]) -> datetime | None:
    """When the event happened. What is missing or unreadable here loses no evidence."""
    record = detail.get(_RECORDS.get(kind, ""))
    try:
        return _instant(record.get("timestamp")) if isinstance(record, dict) else None
    except InvalidEvent:
        return None


def _instant(timestamp: Any) -> datetime:
    try:
        instant = datetime.fromisoformat(timestamp)
    except (ValueError, TypeError) as err:
        raise InvalidEvent(
            "mail.timestamp of an event of SES must be an ISO 8601 date and time"
        ) from err
    if instant.tzinfo is None:
        raise InvalidEvent("mail.timestamp of an event of SES must name its time zone")
    return instant.astimezone(UTC)
