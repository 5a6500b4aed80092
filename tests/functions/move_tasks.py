"""A model of the message move tasks of SQS, for moto, which does not implement them.

The rules are those of AWS's documentation:

- the source must be the dead-letter queue of another SQS queue
- a queue has at most one active task
- without a destination, each message returns to the queue that SQS moved it from. SQS does not know
  this queue for messages that a service or a function sent, and stops with
  CouldNotDetermineMessageSource
- a task moves at most 500 messages per second
- a moved message is a new message with the same body and attributes

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListMessageMoveTasks.html
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/troubleshooting-dlq-redrive.html
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import boto3
from botocore.exceptions import ClientError

from tests.moto_tables import moto_backend

FASTEST = 500
"""The highest rate of a task, in messages per second."""

NO_SOURCE = "CouldNotDetermineMessageSource"

_BATCH = 10


@dataclass(slots=True)
class Task:
    """A move task, with the names of its queues."""

    source: str
    destination: str | None
    rate: int
    to_move: int
    moved: int = 0
    status: str = "RUNNING"
    problem: str = ""

    def entry(self, started: int) -> dict[str, Any]:
        """Return the task as ListMessageMoveTasks does."""
        failure = {"FailureReason": self.problem} if self.problem else {}
        return {
            "Status": self.status,
            "StartedTimestamp": started,
            "ApproximateNumberOfMessagesMoved": self.moved,
            "ApproximateNumberOfMessagesToMove": self.to_move,
            **failure,
        }


@dataclass(slots=True)
class MoveTasks:
    """The move tasks of an account. `answers` are for `Cloud.answers`; `advance` moves messages."""

    tasks: list[Task] = field(default_factory=list)

    # The queue that SQS moved a message from, by the id of the message.
    _origins: dict[str, str] = field(default_factory=dict)

    @property
    def answers(self) -> Mapping[str, Any]:
        """The operations that the model answers."""
        return {"StartMessageMoveTask": self._start, "ListMessageMoveTasks": self._list}

    def exhaust(self, queue: str) -> None:
        """Receive the messages of a queue until SQS moves them to its dead-letter queue."""
        client, url = _client(), _url(queue)
        policy = _redrive_policy(queue)
        self._origins |= {each.id: queue for each in moto_backend("sqs").get_queue(queue)._messages}
        for _ in range(int(policy["maxReceiveCount"]) + 1):
            client.receive_message(QueueUrl=url, MaxNumberOfMessages=_BATCH, VisibilityTimeout=0)

    def advance(self, seconds: int = 1) -> None:
        """Let the running tasks move messages for some seconds."""
        for task in [each for each in self.tasks if each.status == "RUNNING"]:
            self._move(task, task.rate * seconds)

    def _start(self, request: dict[str, Any]) -> dict[str, Any]:
        source = _existing(request["SourceArn"])
        destination = request.get("DestinationArn")
        rate = request.get("MaxNumberOfMessagesPerSecond", FASTEST)
        if not any(
            _redrive_policy(each).get("deadLetterTargetArn") == _arn(source)
            for each in moto_backend("sqs").queues
        ):
            raise _refused(f"{source} is not the dead-letter queue of an SQS queue.")
        if any(each.status == "RUNNING" for each in self.tasks if each.source == source):
            raise _refused(f"{source} already has an active task.")
        if not 1 <= rate <= FASTEST:
            raise _refused(f"The rate must be 1 to {FASTEST}.")
        to_move = len(moto_backend("sqs").get_queue(source).messages)
        into = _existing(destination) if destination else None
        self.tasks.append(Task(source, into, rate, to_move))
        return {"TaskHandle": f"task {len(self.tasks)}"}

    def _list(self, request: dict[str, Any]) -> dict[str, Any]:
        source = _existing(request["SourceArn"])
        entries = [
            task.entry(started)
            for started, task in enumerate(self.tasks, 1)
            if task.source == source
        ]
        return {"Results": entries[::-1][: request.get("MaxResults", 1)]}

    def _move(self, task: Task, number: int) -> None:
        client, source = _client(), _url(task.source)
        for _ in range(min(number, task.to_move - task.moved)):
            message = client.receive_message(QueueUrl=source, MessageAttributeNames=["All"])[
                "Messages"
            ][0]
            into = task.destination or self._origins.get(message["MessageId"])
            if into is None:
                client.change_message_visibility(
                    QueueUrl=source, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
                )
                task.status, task.problem = "FAILED", NO_SOURCE
                return
            client.send_message(
                QueueUrl=_url(into),
                MessageBody=message["Body"],
                MessageAttributes={
                    name: {"DataType": "String", "StringValue": given["StringValue"]}
                    for name, given in message.get("MessageAttributes", {}).items()
                },
            )
            client.delete_message(QueueUrl=source, ReceiptHandle=message["ReceiptHandle"])
            task.moved += 1
        if task.moved == task.to_move:
            task.status = "COMPLETED"


def _client() -> Any:
    return boto3.client("sqs")


def _url(queue: str) -> str:
    return str(_client().get_queue_url(QueueName=queue)["QueueUrl"])


def _arn(queue: str) -> str:
    return str(moto_backend("sqs").get_queue(queue).queue_arn)


def _redrive_policy(queue: str) -> Mapping[str, Any]:
    attributes = _client().get_queue_attributes(
        QueueUrl=_url(queue), AttributeNames=["RedrivePolicy"]
    )
    policy: Mapping[str, Any] = json.loads(
        attributes.get("Attributes", {}).get("RedrivePolicy", "{}")
    )
    return policy


def _existing(arn: str) -> str:
    """Return the name of the queue with an ARN."""
    name = arn.rpartition(":")[2]
    if name not in moto_backend("sqs").queues:
        raise _refused(f"{name} does not exist.", code="ResourceNotFoundException")
    return name


def _refused(message: str, *, code: str = "AWS.SimpleQueueService.UnsupportedOperation") -> Any:
    return ClientError({"Error": {"Code": code, "Message": message}}, "StartMessageMoveTask")
