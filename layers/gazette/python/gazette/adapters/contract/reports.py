"""The delivery events that services report, from the bus or through the API."""

import json
from typing import Any

from gazette.adapters.contract.decoding import read_detail
from gazette.adapters.contract.deliveries import DeliveryReported
from gazette.adapters.contract.envelope import OF_THE_API, check_envelope, is_from_the_api
from gazette.adapters.contract.strict_json import UnreadableError, read_json
from gazette.adapters.contract.wording import REASONS, sentence
from gazette.domain.errors import InvalidEvent, InvalidReport
from gazette.domain.feedback.reports import DeliveryReport
from gazette.domain.sources import DELIVERY_REPORTED, SERVICES, Sources


def message_of(detail: DeliveryReported) -> str:
    """Return the message in which the API passes a delivery event to feedback."""
    return json.dumps(
        {
            "source": SERVICES,
            "detail-type": DELIVERY_REPORTED,
            **OF_THE_API,
            "detail": detail.model_dump(mode="json", exclude_unset=True),
        }
    )


def decode_report(body: str, *, sources: Sources) -> DeliveryReport:
    """Decode a `delivery.reported` event, in the envelope of EventBridge or from the API.

    IAM has authorized the caller of the API, so `sources` concerns only events on the bus. Raises
    InvalidReport for a source that may not publish the event, and for any invalid field.
    """
    try:
        envelope = read_json(body)
    except UnreadableError as err:
        raise InvalidReport(f"The message is {err}.") from err
    if is_from_the_api(envelope):
        return read_report(envelope.get("detail"))
    try:
        check_envelope(envelope)
    except InvalidEvent as err:
        raise InvalidReport(str(err)) from err
    if refusal := sources.refusal(DELIVERY_REPORTED, envelope["source"]):
        raise InvalidReport(refusal)
    return read_report(envelope["detail"])


def read_report(detail: Any) -> DeliveryReport:
    """Return the report in a detail, which is parsed JSON. The caller is already authorized.

    Raises InvalidReport, which names each invalid field.
    """
    reading = read_detail(DELIVERY_REPORTED, detail)
    if isinstance(reading.command, DeliveryReport):
        return reading.command
    raise InvalidReport(sentence(DELIVERY_REPORTED, reading.problems, reasons=REASONS))
