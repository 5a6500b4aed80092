"""The quarantine, which contains events that do not match the event contract."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gazette.adapters.aws.dead_letters.messages import detail_type
from gazette.adapters.aws.dead_letters.queues import Held, Queue, sent_at
from gazette.adapters.aws.dead_letters.transfer import RedriveCounts, always, redrive
from gazette.adapters.mail.reported_events import is_report
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.domain.errors import InvalidEvent

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef


@dataclass(frozen=True, slots=True)
class Quarantined:
    """An event in quarantine. The texts may contain control characters."""

    since: datetime
    detail_type: str

    # The reason, which names the wrong field.
    reason: str


def look_at_quarantine(queue: Queue, *, most: int) -> list[Quarantined]:
    """Return up to `most` events in quarantine, oldest first. The events become visible again
    immediately.
    """
    messages: list[MessageTypeDef] = []
    with Held(queue) as hidden:
        while len(messages) < most and (new := hidden.receive(most - len(messages))):
            messages += new
    return [_read(message) for message in sorted(messages, key=sent_at)]


def redrive_quarantine(
    waiting: Queue,
    *,
    ingest: Queue,
    feedback: Queue,
    started: datetime | None = None,
    goes_on: Callable[[], bool] = always,
    expected: int | None = None,
) -> RedriveCounts:
    """Send the events in quarantine back to their functions.

    Events that arrived after `started` stay. The default is the time at which the queue's URL was
    read.
    """
    return redrive(
        waiting,
        lambda body: feedback if is_delivery_event(body) else ingest,
        started=started or waiting.found_at,
        goes_on=goes_on,
        expected=expected,
    )


def is_delivery_event(body: str) -> bool:
    """Return True for a delivery event of any mail provider, and False for any other event of a
    service.
    """
    if is_report(body):
        return True
    try:
        decode_delivery_event(body)
    except InvalidEvent:
        return False
    return True


def _read(message: "MessageTypeDef") -> Quarantined:
    attributes = message.get("MessageAttributes") or {}
    reason = attributes["reason"].get("StringValue", "") if "reason" in attributes else ""
    return Quarantined(sent_at(message), detail_type(message["Body"]), reason)
