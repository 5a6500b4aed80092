"""The queues of a stage, as the commands use them: look, hold, move, let go."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from cli.shared.aws_errors import refusals_in_words

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

HOLD = 120
"""Seconds for which a message that was received is hidden."""

POLL = 1
"""Seconds that a receive waits. Without, it asks only some of the servers, and may find nothing.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html
"""

BATCH = 10
"""Messages in one call of SQS."""


_CLOCKS_APART = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue by name, and where it is. `found_at`: when it was looked up, by the clock of SQS."""

    name: str
    url: str
    client: "SQSClient"
    found_at: datetime

    def send(self, body: str) -> None:
        """One SendMessage."""
        with refusals_in_words(self.name):
            self.client.send_message(QueueUrl=self.url, MessageBody=body)

    def delete(self, message: "MessageTypeDef") -> None:
        """One DeleteMessage."""
        with refusals_in_words(self.name):
            self.client.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])

    def waiting(self) -> int:
        """How many messages it has, hidden ones too; SQS gives it only roughly."""
        with refusals_in_words(self.name):
            given = self.client.get_queue_attributes(
                QueueUrl=self.url,
                AttributeNames=[
                    "ApproximateNumberOfMessages",
                    "ApproximateNumberOfMessagesNotVisible",
                ],
            )["Attributes"]
        return sum(map(int, given.values()))

    def arn(self) -> str:
        """One GetQueueAttributes."""
        with refusals_in_words(self.name):
            return self.client.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])[
                "Attributes"
            ]["QueueArn"]


def queues(stage: str, *kinds: str, optional: Collection[str] = ()) -> Iterator[Queue]:
    """The queues `gazette-<stage>-<kind>`. Raises NotPossible where one cannot be found.

    Of the `optional` kinds, those that the stage does not have are left out.
    """
    client: SQSClient | None = None
    for kind in kinds:
        name = f"gazette-{stage}-{kind}"
        with refusals_in_words(name):
            client = client or boto3.client("sqs")
            try:
                answer = client.get_queue_url(QueueName=name)
            except client.exceptions.QueueDoesNotExist:
                if kind in optional:
                    continue
                raise
        yield Queue(name, answer["QueueUrl"], client, service_time(answer, datetime.now(UTC)))


def service_time(answer: Any, now: datetime) -> datetime:
    """When SQS gave `answer`, which came at `now`, by its own clock.

    It tells whole seconds, so `now` is better as long as the two clocks agree.
    """
    told = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
    if told is None:
        return now
    by_sqs = parsedate_to_datetime(told)
    return now if abs(now - by_sqs) <= _CLOCKS_APART else by_sqs + timedelta(seconds=1)


class Held:
    """Messages of a queue, hidden from others for as long as the `with` lasts, HOLD at most."""

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

    def receive(self, most: int = BATCH) -> "list[MessageTypeDef]":
        """One ReceiveMessage. Of messages that are held already only the newest handle is kept.

        What is returned was not held before; nothing, once all that waits is.
        """
        queue = self._queue
        with refusals_in_words(queue.name):
            received = queue.client.receive_message(
                QueueUrl=queue.url,
                MaxNumberOfMessages=min(most, BATCH),
                MessageAttributeNames=["reason"],
                MessageSystemAttributeNames=["SentTimestamp", "ApproximateReceiveCount"],
                VisibilityTimeout=HOLD,
                WaitTimeSeconds=POLL,
            ).get("Messages", [])
        new = [each for each in received if each["MessageId"] not in self._by_id]
        self._by_id |= {each["MessageId"]: each for each in received}
        return new

    def forget(self, message: "MessageTypeDef") -> None:
        """It is no longer on the queue."""
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
            return  # they show by themselves when HOLD is over


def sent_at(message: "MessageTypeDef") -> datetime:
    """When it came into the queue, by the clock of SQS."""
    return datetime.fromtimestamp(int(message["Attributes"]["SentTimestamp"]) / 1000, UTC)


def received_times(message: "MessageTypeDef") -> int:
    """How often it was received so far, roughly."""
    return int(message["Attributes"].get("ApproximateReceiveCount", 1))
