"""The SQS queues of a stage, for redriving their messages."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from gazette.adapters.aws.clients import client
from gazette.domain.dead_letters import Interrupted

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

HOLD = 120
"""The visibility timeout of a received message, in seconds."""

POLL = 1
"""The wait time of a receive, in seconds. Without a wait time, SQS queries only some of its
servers.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html
"""

BATCH = 10
"""The maximum number of messages in one SQS call."""


_CLOCKS_APART = timedelta(seconds=2)


class QueueUnavailable(Interrupted):
    """A call to a queue that failed with an error of the AWS SDK."""

    def __init__(self, queue: str, error: BotoCoreError | ClientError | ValueError) -> None:
        super().__init__(f"The queue {queue} cannot be used: {error}")
        self.queue = queue
        self.error = error


@contextmanager
def refusals_of(queue: str) -> Iterator[None]:
    """Convert errors of the AWS SDK to QueueUnavailable."""
    try:
        yield
    except (BotoCoreError, ClientError, ValueError) as err:  # ValueError: an invalid endpoint
        raise QueueUnavailable(queue, err) from err


@dataclass(frozen=True, slots=True)
class Queue:
    """An SQS queue of a stage."""

    name: str
    url: str
    client: "SQSClient"

    # The time at which the URL was read, by the SQS clock.
    found_at: datetime

    def send(self, body: str) -> None:
        """Send a message to the queue, with one SendMessage call."""
        with refusals_of(self.name):
            self.client.send_message(QueueUrl=self.url, MessageBody=body)

    def delete(self, message: "MessageTypeDef") -> None:
        """Delete a message from the queue, with one DeleteMessage call."""
        with refusals_of(self.name):
            self.client.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])

    def waiting(self) -> int:
        """Return the approximate number of messages, including those in flight or delayed."""
        with refusals_of(self.name):
            counts = self.client.get_queue_attributes(
                QueueUrl=self.url,
                AttributeNames=[
                    "ApproximateNumberOfMessages",
                    "ApproximateNumberOfMessagesNotVisible",
                    "ApproximateNumberOfMessagesDelayed",
                ],
            )["Attributes"]
        return sum(map(int, counts.values()))

    def arn(self) -> str:
        """Return the ARN of the queue, with one GetQueueAttributes call."""
        with refusals_of(self.name):
            return self.client.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])[
                "Attributes"
            ]["QueueArn"]


def queues(stage: str, *kinds: str, optional: Collection[str] = ()) -> Iterator[Queue]:
    """Yield the queues `gazette-<stage>-<kind>`. Skip optional queues that do not exist.

    Raises QueueUnavailable if a required queue does not exist.
    """
    for kind in kinds:
        name = f"gazette-{stage}-{kind}"
        with refusals_of(name):
            sqs: SQSClient = client("sqs")
            try:
                answer = sqs.get_queue_url(QueueName=name)
            except sqs.exceptions.QueueDoesNotExist:
                if kind in optional:
                    continue
                raise
        yield Queue(name, answer["QueueUrl"], sqs, service_time(answer, datetime.now(UTC)))


def service_time(answer: Any, now: datetime) -> datetime:
    """Return the time of an SQS response by the SQS clock. `now` is the local time at which the
    response arrived.

    The Date header has whole seconds. If both clocks agree, `now` is more precise and is returned.
    """
    date = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
    if date is None:
        return now
    by_sqs = parsedate_to_datetime(date)
    return now if abs(now - by_sqs) <= _CLOCKS_APART else by_sqs + timedelta(seconds=1)


class Held:
    """Received messages. They are hidden from other consumers until the `with` block ends, but for
    at most HOLD seconds.
    """

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._by_id: dict[str, MessageTypeDef] = {}

    def __enter__(self) -> "Held":
        return self

    def __exit__(self, *_: object) -> None:
        messages = list(self._by_id.values())
        for start in range(0, len(messages), BATCH):
            self._release(messages[start : start + BATCH])

    def __len__(self) -> int:
        return len(self._by_id)

    def receive(self, most: int = BATCH, *, waits: bool = True) -> "list[MessageTypeDef]":
        """Receive messages with one ReceiveMessage call. Return only messages that were not
        received before.

        If `waits` is False, SQS queries only some of its servers, so it may miss messages.
        If a message is received again, its newest receipt handle is kept.
        """
        queue = self._queue
        with refusals_of(queue.name):
            received = queue.client.receive_message(
                QueueUrl=queue.url,
                MaxNumberOfMessages=min(most, BATCH),
                MessageAttributeNames=["reason"],
                MessageSystemAttributeNames=["SentTimestamp", "ApproximateReceiveCount"],
                VisibilityTimeout=HOLD,
                WaitTimeSeconds=POLL if waits else 0,
            ).get("Messages", [])
        new = [each for each in received if each["MessageId"] not in self._by_id]
        self._by_id |= {each["MessageId"]: each for each in received}
        return new

    def forget(self, message: "MessageTypeDef") -> None:
        """Forget a message that was deleted from the queue."""
        del self._by_id[message["MessageId"]]

    def _release(self, messages: "list[MessageTypeDef]") -> None:
        try:
            self._queue.client.change_message_visibility_batch(
                QueueUrl=self._queue.url,
                Entries=[
                    {
                        "Id": str(number),
                        "ReceiptHandle": message["ReceiptHandle"],
                        "VisibilityTimeout": 0,
                    }
                    for number, message in enumerate(messages)
                ],
            )
        except (BotoCoreError, ClientError):
            return  # the messages become visible after HOLD seconds


def sent_at(message: "MessageTypeDef") -> datetime:
    """Return the time at which a message was sent to the queue, by the SQS clock."""
    return datetime.fromtimestamp(int(message["Attributes"]["SentTimestamp"]) / 1000, UTC)


def received_times(message: "MessageTypeDef") -> int:
    """Return the approximate number of times that a message was received."""
    return int(message["Attributes"].get("ApproximateReceiveCount", 1))
