"""What a dead letter is about: its keys, never content or an address."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gazette.adapters.aws.queues import (
    decode_followers,
    decode_partition,
    decode_run_key,
    decode_shard,
    was_given_up,
)
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.domain.errors import ForeignEvent, InvalidEvent
from gazette.domain.identity import SCHEDULE_NAME, USER_ID, run_id
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_id

from cli.dead_letters.queues import DeadQueue
from cli.dead_letters.sqs_queues import Held, Queue, received_times, sent_at
from cli.events.envelopes import detail_type
from cli.shared.console import printable

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

_SHOWN = 40
"""Characters of a message that is not one of Gazette."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A dead letter of the queue `dead`.

    `about`: what its keys name; `key`: of its run, where it names one. `since`: when it came into
    its first queue, by the clock of SQS; `received`: how often so far. `given_up`: its run had
    failed, so that it starts the next one. `is_ours`: whether its function can read it at all.
    """

    dead: DeadQueue
    about: str
    since: datetime
    received: int
    key: RunKey | None = None
    given_up: bool = False
    is_ours: bool = True


def look(dead: DeadQueue, queue: Queue, *, most: int) -> list[DeadLetter]:
    """Up to `most` of its messages, oldest first. Nothing is removed, and all are let go at once.

    Looking counts as a receive, of which a dead-letter queue takes any number.
    """
    found: list[MessageTypeDef] = []
    with Held(queue) as held:
        while len(found) < most and (new := held.receive(most - len(found))):
            found += new
    return [read(dead, message) for message in sorted(found, key=sent_at)]


def read(dead: DeadQueue, message: "MessageTypeDef") -> DeadLetter:
    """A message of the queue `dead`."""
    body = message["Body"]
    since, received = sent_at(message), received_times(message)
    try:
        if dead.names_runs:
            key = _run_key(body)
            given_up = dead.source == "resend" and was_given_up(body)
            return DeadLetter(dead, printable(run_id(key)), since, received, key, given_up)
        about = _ABOUT.get(dead.source or "", _tick)(body)
    except (InvalidEvent, RecursionError, OverflowError):
        what = f"not a message of Gazette: {_shortened(body)}"
        return DeadLetter(dead, printable(what), since, received, is_ours=False)
    return DeadLetter(dead, printable(about), since, received)


def _run_key(body: str) -> RunKey:
    key = decode_run_key(body)
    if not (USER_ID.fullmatch(key.user_id) and SCHEDULE_NAME.fullmatch(key.schedule)):
        raise InvalidEvent("The key names no run.")
    return key


def _shard(body: str) -> str:
    shard = decode_shard(body)
    return f"shard {shard.number}, slots {slot_id(shard.since)} to {slot_id(shard.until)}"


def _followers(body: str) -> str:
    message = decode_followers(body)
    return f"activity {message.activity_id} on {message.entity}"


def _partition(body: str) -> str:
    return f"partition {decode_partition(body)}"


def _delivery_event(body: str) -> str:
    try:
        delivery_event = decode_delivery_event(body)
    except ForeignEvent:
        return f"{detail_type(body)}, which goes back to the quarantine"
    if delivery_event is None:
        return "a delivery event of another email"
    return (
        f"{delivery_event.type} of {run_id(delivery_event.run) if delivery_event.run else 'no run'}"
    )


def _tick(body: str) -> str:
    """A tick that never reached its function is its input; one that failed there holds it.

    https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html
    """
    try:
        told = json.loads(body)
        told = told.get("requestPayload", told)
        return f"tick of {told['time']}"
    except (ValueError, AttributeError, KeyError, TypeError) as err:
        raise InvalidEvent("A tick carries its time.") from err


_ABOUT: Mapping[str, Callable[[str], str]] = {
    "ingest": detail_type,
    "followers": _followers,
    "shard": _shard,
    "sweep": _partition,
    "feedback": _delivery_event,
}
"""By the queue that a redrive brings them to."""


def _shortened(body: str) -> str:
    return body if len(body) <= _SHOWN else f"{body[:_SHOWN]}…"
