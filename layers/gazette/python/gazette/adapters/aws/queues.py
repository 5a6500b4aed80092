"""SQS queues, and the encoding of messages. Messages contain only keys, never the content of
emails.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from gazette.adapters.aws.clients import Patience, client
from gazette.domain.errors import InvalidEvent, Unavailable
from gazette.domain.model import RunKey
from gazette.domain.ports.queues import MESSAGES_A_CALL, FollowerPage, QueuedRun, Shard, Walk

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import (
        ChangeMessageVisibilityBatchRequestEntryTypeDef,
        SendMessageBatchRequestEntryTypeDef,
    )

MessageT = TypeVar("MessageT")

PATIENCE = Patience(connect=1, read=3, attempts=3)
"""The time-outs and retry limit for calls to SQS. Retries are safe because duplicate messages are
harmless. botocore's defaults allow a minute for each of three attempts, which exceeds a function's
time-out.
https://docs.aws.amazon.com/botocore/latest/reference/config.html"""

_REASON_CHARACTERS = 1000
_GIVEN_UP = "given_up"


@dataclass(frozen=True, slots=True)
class Encoded:
    """The body and the delay of an SQS message. The delay is rounded up to whole seconds."""

    body: str
    delay: timedelta = timedelta(0)


def sqs_client() -> "SQSClient":
    """Return an SQS client with time-outs of a few seconds."""
    sqs: SQSClient = client("sqs", PATIENCE)
    return sqs


class SqsQueue(Generic[MessageT]):
    """Implementation of the `Queue` port backed by SQS. `encode` turns each item into a message."""

    def __init__(
        self, client: "SQSClient", queue_url: str, encode: Callable[[MessageT], Encoded]
    ) -> None:
        self._client = client
        self._queue_url = queue_url
        self._encode = encode

    def send(self, messages: Iterable[MessageT]) -> None:
        """Send the items with one SendMessageBatch per ten messages."""
        encoded = map(self._encode, messages)
        while ten := list(islice(encoded, MESSAGES_A_CALL)):
            self._send(ten)

    def _send(self, messages: Sequence[Encoded]) -> None:
        entries: list[SendMessageBatchRequestEntryTypeDef] = [
            {
                "Id": str(number),
                "MessageBody": message.body,
                "DelaySeconds": math.ceil(message.delay.total_seconds()),
            }
            for number, message in enumerate(messages)
        ]
        try:
            answer = self._client.send_message_batch(QueueUrl=self._queue_url, Entries=entries)
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(f"SQS did not accept {len(entries)} messages: {err}") from err
        failed = answer.get("Failed", [])
        if failed:
            raise Unavailable(
                f"SQS rejected {len(failed)} of {len(entries)} messages: {failed[0].get('Message')}"
            )


class SqsStreamQueues:
    """Implementation of the `RunQueue` port backed by one generate queue for each stream."""

    def __init__(self, client: "SQSClient", *, digest_url: str, immediate_url: str) -> None:
        self._digest = SqsQueue(client, digest_url, encode_run)
        self._immediate = SqsQueue(client, immediate_url, encode_run)

    def send(self, messages: Iterable[QueuedRun]) -> None:
        """Send the runs to their streams' queues with one SendMessageBatch per ten messages of a
        stream.
        """
        runs = list(messages)
        self._immediate.send(run for run in runs if run.key.is_immediate)
        self._digest.send(run for run in runs if not run.key.is_immediate)


class SqsBacklog:
    """A counter of the messages on a queue, including delayed messages."""

    def __init__(self, client: "SQSClient", queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def count(self) -> int:
        """Return the approximate number of messages with one GetQueueAttributes. Raises
        Unavailable.
        """
        try:
            counts = self._client.get_queue_attributes(
                QueueUrl=self._queue_url,
                AttributeNames=[
                    "ApproximateNumberOfMessages",
                    "ApproximateNumberOfMessagesDelayed",
                ],
            )["Attributes"]
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(f"The number of messages on the queue cannot be read: {err}") from err
        return sum(map(int, counts.values()))


class SqsQuarantine:
    """Implementation of the `Quarantine` port backed by SQS.

    A quarantined message has the original body, and the reason in the `reason` message attribute.
    """

    def __init__(self, client: "SQSClient", queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def keep(self, body: str, reason: str) -> None:
        """Quarantine a message with one SendMessage."""
        printable = re.sub(r"[^\x20-\uD7FF\uE000-\uFFFD]", "?", reason)[:_REASON_CHARACTERS]
        try:
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=body,
                MessageAttributes={"reason": {"DataType": "String", "StringValue": printable}},
            )
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(f"The quarantine queue did not accept a message: {err}") from err


class SqsReceived:
    """A message that a function has received."""

    def __init__(self, client: "SQSClient", queue_url: str, receipt_handle: str) -> None:
        self._client = client
        self._queue_url = queue_url
        self._receipt_handle = receipt_handle

    def hide(self, pause: timedelta) -> None:
        """Hide the message for up to 12 hours with one ChangeMessageVisibility.

        https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
        """
        try:
            self._client.change_message_visibility(
                QueueUrl=self._queue_url,
                ReceiptHandle=self._receipt_handle,
                VisibilityTimeout=math.ceil(pause.total_seconds()),
            )
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(f"The message could not be hidden: {err}") from err


def hide(client: "SQSClient", queue_url: str, pauses: Mapping[str, timedelta]) -> None:
    """Hide up to ten messages with one ChangeMessageVisibilityBatch.

    `pauses` is keyed by receipt handle. Raises Unavailable if the request fails or SQS rejects any
    message. A rejected message stays hidden for the queue's visibility time-out.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibilityBatch.html
    """
    entries: list[ChangeMessageVisibilityBatchRequestEntryTypeDef] = [
        {
            "Id": str(number),
            "ReceiptHandle": handle,
            "VisibilityTimeout": math.ceil(pause.total_seconds()),
        }
        for number, (handle, pause) in enumerate(pauses.items())
    ]
    try:
        answer = client.change_message_visibility_batch(QueueUrl=queue_url, Entries=entries)
    except (BotoCoreError, ClientError) as err:
        raise Unavailable(f"SQS did not hide {len(entries)} messages: {err}") from err
    if failed := answer.get("Failed", []):
        raise Unavailable(
            f"SQS did not hide {len(failed)} of {len(entries)} messages: {failed[0].get('Message')}"
        )


def encode_run(run: QueuedRun) -> Encoded:
    """Encode a message for the generate or resend queue."""
    return Encoded(encode_run_key(run.key), run.delay)


def encode_failed_run(key: RunKey) -> Encoded:
    """Encode a message for the `failed` queue. A flag identifies the message after a redrive to the
    `resend` queue.

    `failed` is not configured as the dead-letter queue of `resend`. If a message was sent to a
    queue instead of moved there by SQS, the console's redrive cannot determine its source and
    fails.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/troubleshooting-dlq-redrive.html
    """
    return Encoded(json.dumps({**asdict(key), _GIVEN_UP: True}))


def encode_run_key(key: RunKey) -> str:
    """Return the body of a message for the generate or resend queue."""
    return json.dumps({"user_id": key.user_id, "schedule": key.schedule, "sequence": key.sequence})


def was_given_up(body: str) -> bool:
    """Return True if a message from the resend queue was redriven from the `failed` queue."""
    return json.loads(body).get(_GIVEN_UP) is True


def decode_run_key(body: str) -> RunKey:
    """Decode the run key in a message from the generate or resend queue. Raises InvalidEvent."""
    try:
        fields = json.loads(body)
        return RunKey(str(fields["user_id"]), str(fields["schedule"]), int(fields["sequence"]))
    except (ValueError, KeyError, TypeError) as err:
        raise InvalidEvent(
            "A message on the generate or resend queue must be a JSON object with user_id, "
            f"schedule and sequence: {err!r}"
        ) from err


def encode_shard(shard: Shard) -> Encoded:
    """Encode a message for the shard queue."""
    since, until = shard.since.isoformat(), shard.until.isoformat()
    ahead = {"ahead": True} if shard.ahead else {}
    return Encoded(json.dumps({"shard": shard.number, "since": since, "until": until, **ahead}))


def decode_shard(body: str) -> Shard:
    """Decode a message from the shard queue. Raises InvalidEvent."""
    try:
        fields = json.loads(body)
        since, until = (datetime.fromisoformat(fields[name]) for name in ("since", "until"))
        return Shard(int(fields["shard"]), since, until, ahead=fields.get("ahead") is True)
    except (ValueError, KeyError, TypeError) as err:
        raise InvalidEvent(
            "A message on the shard queue must be a JSON object with `shard`, `since` and `until`: "
            f"{err!r}"
        ) from err


def encode_partition(number: int, *, tick: datetime | None = None) -> Encoded:
    """Encode a message for the sweep queue. `tick` is the scheduled time of the sweep."""
    at = {"tick": tick.isoformat()} if tick else {}
    return Encoded(json.dumps({"partition": number} | at))


def decode_partition(body: str) -> int:
    """Decode the partition in a message from the sweep queue. Raises InvalidEvent."""
    try:
        return int(json.loads(body)["partition"])
    except (ValueError, KeyError, TypeError) as err:
        raise InvalidEvent(
            f"A message on the sweep queue must be a JSON object with partition: {err!r}"
        ) from err


def decode_tick(body: str) -> datetime | None:
    """Decode the sweep's scheduled time in a message from the sweep queue.

    Returns None for messages of the previous version. Raises InvalidEvent.
    """
    try:
        tick = json.loads(body).get("tick")
        return None if tick is None else datetime.fromisoformat(tick).astimezone(UTC)
    except (ValueError, TypeError, AttributeError, OverflowError) as err:
        raise InvalidEvent(
            f"`tick` in a message on the sweep queue must be a time: {err!r}"
        ) from err


def encode_followers(message: Walk | FollowerPage) -> Encoded:
    """Encode a message for the followers queue."""
    return Encoded(json.dumps(asdict(message)))


def decode_followers(body: str) -> Walk | FollowerPage:
    """Decode a message from the followers queue. Raises InvalidEvent."""
    try:
        fields = {str(name): str(value) for name, value in json.loads(body).items()}
        return FollowerPage(**fields) if "through" in fields else Walk(**fields)
    except (ValueError, AttributeError, TypeError) as err:
        raise InvalidEvent(
            "A message on the followers queue must be a JSON object with entity, activity_id, "
            f"side, after and, for a page, through: {err!r}"
        ) from err
