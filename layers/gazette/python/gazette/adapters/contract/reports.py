"""Decoding of the delivery events that services report, from the bus or from another transport."""

from typing import Any

from gazette.adapters.contract.decoding import read_detail
from gazette.adapters.contract.envelope import check_envelope
from gazette.adapters.contract.strict_json import UnreadableError, read_json
from gazette.adapters.contract.wording import REASONS, sentence
from gazette.domain.errors import InvalidEvent, InvalidReport
from gazette.domain.feedback.reports import DeliveryReport
from gazette.domain.sources import DELIVERY_REPORTED, Sources


def decode_report(body: str, *, sources: Sources) -> DeliveryReport:
    """Decode a `delivery.reported` event in the envelope of EventBridge.

    Raises InvalidReport for a source that may not publish it, and for any invalid field.
    """
    try:
        envelope = read_json(body)
        check_envelope(envelope)
    except UnreadableError as err:
        raise InvalidReport(f"The message is {err}.") from err
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
