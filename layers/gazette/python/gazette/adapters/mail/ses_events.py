"""Decoding of Amazon SES events that EventBridge or SNS delivers to the feedback queue."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from gazette.adapters.mail.ses_faults import address_fault
from gazette.domain.errors import ForeignEvent, InvalidEvent
from gazette.domain.feedback.delivery_events import (
    AGAINST_RECIPIENT,
    DeliveryEvent,
    DeliveryEventType,
)
from gazette.domain.identity import parse_run_id
from gazette.domain.model import RunKey
from gazette.domain.scheduling.instants import read_instant

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
"""The name of the field that contains the time of the event, by event type. Event types that are
not listed have no such field.
"""

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
"""The beginning of the plain-text message that SES publishes once to a new SNS topic."""


@dataclass(frozen=True, slots=True)
class _Record:
    """A record from SES, received through EventBridge or SNS."""

    kind: DeliveryEventType | None
    """The type of the event, or None if the record does not concern a message."""

    about: Mapping[str, Any]


def decode_delivery_event(body: str, *, installation: str | None = None) -> DeliveryEvent | None:
    """Decode the delivery event in the body of an SQS message. Return None for other SES events.

    Returns None for a different detail-type (such as "Sending Status Disabled"), for a record
    without the `run` tag, and for a record with the tag of a different installation. If
    `installation` is None, any installation is accepted. A stage that was deleted and redeployed
    has the same names but different tables. EventBridge delivers SES events on a best-effort basis
    and out of order.
    https://docs.aws.amazon.com/ses/latest/dg/monitoring-eventbridge.html
    https://docs.aws.amazon.com/eventbridge/latest/ref/events-ref-ses.html

    `detail` is the record that SES publishes to all destinations. `mail.tags` contains lists of
    strings; `mail.timestamp` is in ISO 8601 and UTC. SNS sends the record as the string `Message`,
    or unchanged if raw message delivery is enabled. The record's type is then in `eventType`.
    https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
    https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html

    "Email Rendering Failed" proves that SES accepted the request but did not send the email: "The
    email wasn't sent because of a template rendering issue." So the event is not evidence of a sent
    digest. It applies to templates stored in SES, which Gazette does not use.
    https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_EventDestination.html

    Raises ForeignEvent for an event from a different source, which was redriven to the wrong queue.
    Raises InvalidEvent if the body is not JSON or has no EventBridge or SNS envelope. Also raises
    InvalidEvent for a delivery event of Gazette without a message id or time, because dropping the
    event would silently lose evidence. An event that lacks only the faulty address still counts as
    evidence, with a `flaw`.
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
        raise InvalidEvent("mail.messageId of an SES event must be a string")
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
        address_at_fault = address_fault(record.kind, record.about, mail)
    except InvalidEvent as err:
        return replace(event, flaw=str(err))
    if address_at_fault is None:
        return event
    return replace(
        event,
        fault=address_at_fault.fault,
        address=address_at_fault.address,
        cause=address_at_fault.cause,
        unsent=address_at_fault.unsent,
        is_by_policy=address_at_fault.is_by_policy,
    )


def _record(body: str) -> _Record:
    if body.startswith(_GREETING):
        return _NOTHING
    envelope = _object(body, "A message on the feedback queue")
    if "Type" in envelope and "source" not in envelope:
        return _notified(envelope)
    if "eventType" in envelope and "source" not in envelope:
        return _published(envelope)
    source = envelope.get("source")
    if isinstance(source, str) and source != _SOURCE:
        raise ForeignEvent(
            f"An event from source {source} is not an SES delivery event. Redrive it to the "
            "ingest queue."
        )
    for name, kind in (("source", str), ("detail-type", str), ("detail", dict)):
        if not isinstance(envelope.get(name), kind):
            raise InvalidEvent(
                f"{name} is missing or of the wrong type. A message on the feedback queue must be "
                "an untransformed EventBridge event with source, detail-type and detail, or an "
                "SNS notification with Type and Message"
            )
    return _Record(_BY_DETAIL_TYPE.get(envelope["detail-type"]), envelope["detail"])


def _notified(envelope: Mapping[str, Any]) -> _Record:
    """Return the SES record in an SNS message. Ignore messages about new and ended
    subscriptions.
    """
    if envelope["Type"] != "Notification":
        return _NOTHING
    message = envelope.get("Message")
    if not isinstance(message, str):
        raise InvalidEvent("Message of an SNS notification must be a string")
    if message.startswith(_GREETING):
        return _NOTHING
    return _published(_object(message, "Message of an SNS notification"))


def _published(record: Mapping[str, Any]) -> _Record:
    """Return an SES record together with the type of its event, if any.

    Records of an identity's feedback notifications have neither `eventType` nor tags.
    """
    event_type = record.get("eventType")
    return _Record(_BY_EVENT_TYPE.get(event_type) if isinstance(event_type, str) else None, record)


_NOTHING = _Record(None, {})


def _object(text: str, subject: str) -> dict[str, Any]:
    """Parse a text that must be a JSON object.

    Raise InvalidEvent.
    https://docs.aws.amazon.com/eventbridge/latest/ref/events-structure.html
    """
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as err:
        raise InvalidEvent(f"{subject} must be JSON: {type(err).__name__}") from err
    if not isinstance(parsed, dict):
        raise InvalidEvent(f"{subject} must be a JSON object")
    return parsed


def _tag(mail: Mapping[str, Any], name: str) -> str | None:
    """Return the value of a message tag, which SES stores as a list with one element."""
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
    """Return the time of the event, or None if the time is missing or malformed.

    An event without a time is still evidence.
    """
    record = detail.get(_RECORDS.get(kind, ""))
    try:
        return _instant(record.get("timestamp")) if isinstance(record, dict) else None
    except InvalidEvent:
        return None


def _instant(timestamp: Any) -> datetime:
    try:
        instant = read_instant(timestamp)
    except (ValueError, TypeError, AttributeError) as err:
        raise InvalidEvent(
            "mail.timestamp of an SES event must be an ISO 8601 date and time"
        ) from err
    if instant.tzinfo is None:
        raise InvalidEvent("mail.timestamp of an SES event must have a time zone")
    return instant
