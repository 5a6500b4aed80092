"""Descriptions of dead letters. They contain keys, but no email content and no addresses."""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gazette.adapters.aws.dead_letters.queues import Held, Queue, received_times, sent_at
from gazette.adapters.aws.queues import (
    decode_followers,
    decode_partition,
    decode_run_key,
    decode_shard,
    was_given_up,
)
from gazette.adapters.content.fetch_messages import decode_fetch
from gazette.adapters.mail.reported_events import is_report
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.domain.dead_letters import DeadLetter, DeadQueue
from gazette.domain.errors import ForeignEvent, InvalidEvent
from gazette.domain.feedback.delivery_events import DeliveryEventType
from gazette.domain.feedback.reports import read_reference
from gazette.domain.identity import SCHEDULE_NAME, USER_ID, run_id
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_id
from gazette.domain.scheduling.instants import moment
from gazette.domain.sources import DELIVERY_REPORTED

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

_SHOWN = 40
"""The maximum number of characters to show of a message that Gazette did not send."""


def look(dead: DeadQueue, queue: Queue, *, most: int) -> list[DeadLetter]:
    """Return up to `most` messages of a queue, oldest first. The messages become visible again
    immediately.

    Reading counts as a receive. A dead-letter queue does not limit the number of receives.
    """
    messages: list[MessageTypeDef] = []
    with Held(queue) as hidden:
        while len(messages) < most and (new := hidden.receive(most - len(messages))):
            messages += new
    return [read(dead, message) for message in sorted(messages, key=sent_at)]


def read(dead: DeadQueue, message: "MessageTypeDef") -> DeadLetter:
    """Decode a message of a dead-letter queue."""
    body, message_id = message["Body"], message["MessageId"]
    since, received = sent_at(message), received_times(message)
    try:
        if dead.names_runs:
            key = _run_key(body)
            given_up = dead.source == "resend" and was_given_up(body)
            return DeadLetter(dead, run_id(key), since, received, key, given_up, id=message_id)
        about = _ABOUT.get(dead.source or "", _tick)(body)
    except (InvalidEvent, RecursionError, OverflowError):
        what = f"not a Gazette message: {_shortened(body)}"
        return DeadLetter(dead, what, since, received, is_ours=False, id=message_id)
    return DeadLetter(dead, about, since, received, id=message_id)


def detail_type(body: str) -> str:
    """Return the detail type of a message in the ingest queue. If the message has none, return the
    reason in parentheses.
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return "(not JSON)"
    value = content.get("detail-type") if isinstance(content, dict) else None
    return value if isinstance(value, str) and value else "(none)"


def _run_key(body: str) -> RunKey:
    key = decode_run_key(body)
    if not (USER_ID.fullmatch(key.user_id) and SCHEDULE_NAME.fullmatch(key.schedule)):
        raise InvalidEvent("The key does not name a run.")
    return key


def _shard(body: str) -> str:
    shard = decode_shard(body)
    return f"shard {shard.number}, slots {slot_id(shard.since)} to {slot_id(shard.until)}"


def _followers(body: str) -> str:
    message = decode_followers(body)
    return f"activity {message.activity_id} on {message.entity}"


def _fetch(body: str) -> str:
    fetch = decode_fetch(body)
    if not (USER_ID.fullmatch(fetch.user_id) and SCHEDULE_NAME.fullmatch(fetch.schedule)):
        raise InvalidEvent("The message does not name a schedule of a reader.")
    return f"items for schedule {fetch.schedule} of {fetch.user_id}, due {moment(fetch.due_at)}"


def _partition(body: str) -> str:
    return f"partition {decode_partition(body)}"


def _delivery_event(body: str) -> str:
    try:
        delivery_event = decode_delivery_event(body)
    except ForeignEvent:
        if is_report(body):
            return _report(body)
        return f"{detail_type(body)}; a redrive returns the event to the quarantine"
    if delivery_event is None:
        return "a delivery event for an email that Gazette did not send"
    return (
        f"{delivery_event.type} of {run_id(delivery_event.run) if delivery_event.run else 'no run'}"
    )


def _report(body: str) -> str:
    """Describe a service's report, whose reference has not been checked."""
    detail = json.loads(body).get("detail")
    try:
        run = run_id(read_reference(detail["reference"]).run)
        return f"{DeliveryEventType(detail['type'])} of {run}"
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"{DELIVERY_REPORTED}; a redrive returns the event to the quarantine"


def _tick(body: str) -> str:
    """Describe a tick.

    If a tick did not reach its function, the message is the function's input. If the function
    failed, Lambda wraps the input in a record:
    https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html
    """
    try:
        record = json.loads(body)
        tick = record.get("requestPayload", record)
        return f"tick of {tick['time']}"
    except (ValueError, AttributeError, KeyError, TypeError) as err:
        raise InvalidEvent("A tick must have a time.") from err


_ABOUT: Mapping[str, Callable[[str], str]] = {
    "ingest": detail_type,
    "followers": _followers,
    "shard": _shard,
    "content": _fetch,
    "sweep": _partition,
    "feedback": _delivery_event,
}
"""The function that describes the messages of each source queue."""


def _shortened(body: str) -> str:
    return body if len(body) <= _SHOWN else f"{body[:_SHOWN]}…"
