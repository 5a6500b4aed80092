"""Decoding of the messages on the feedback queue: events of SES, and reports of services."""

import json
from collections.abc import Callable
from datetime import datetime

from gazette.domain.errors import ForeignEvent
from gazette.domain.feedback.delivery_events import DeliveryEvent
from gazette.domain.feedback.reports import DeliveryReport, Prover, event_of
from gazette.domain.sources import DELIVERY_REPORTED


def decode_either(
    body: str,
    *,
    by_ses: Callable[[str], DeliveryEvent | None],
    decode_report: Callable[[str], DeliveryReport],
    prover: Prover,
    clock: Callable[[], datetime],
) -> DeliveryEvent | None:
    """Decode an event of SES or a proven report of a service. Return None for other SES events.

    Events of SES are decoded first, because most stages get no reports. A report's source cannot
    begin with `aws.`, because EventBridge rejects such entries of PutEvents.
    https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsRequestEntry.html

    Raises ForeignEvent for any other event of a service, InvalidReport for a report that is invalid
    or not proven, and InvalidEvent for an event of SES that cannot be decoded.
    """
    try:
        return by_ses(body)
    except ForeignEvent:
        if not is_report(body):
            raise
    return event_of(decode_report(body), prover=prover, now=clock())


def is_report(body: str) -> bool:
    """Return True if a message is a service's report about an email, valid or not."""
    try:
        envelope = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(envelope, dict) and envelope.get("detail-type") == DELIVERY_REPORTED
