"""SQS in memory: standard queues that hide received messages, in any order."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import format_datetime
from itertools import count
from random import Random
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError

from tests.builders import SettableClock

_DURATION = timedelta(milliseconds=10)
"""The duration of a call."""

Around = Callable[[str, dict[str, Any], Callable[[], Any]], Any]
"""A function that gets the name of an operation, its request and the call; returns its answer."""


class QueueDoesNotExist(ClientError):
    """The error for a missing queue."""


@dataclass
class FakeMessage:
    """A message of a queue. `handle` is its newest receipt handle."""

    id: str
    body: str
    sent_at: datetime
    visible_at: datetime
    received: int = 0
    handle: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass
class FakeSqs:
    """The client of SQS. Each call takes 10 ms, and `around` sees it.

    A receive without a wait misses some messages, as SQS queries only some of its servers then.
    """

    clock: SettableClock
    random: Random
    names: Sequence[str]
    around: Around = lambda _, __, call: call()

    def __post_init__(self) -> None:
        self.queues: dict[str, dict[str, FakeMessage]] = {name: {} for name in self.names}
        self.exceptions = SimpleNamespace(QueueDoesNotExist=QueueDoesNotExist)
        self._ids = count(1)

    def get_queue_url(self, **request: Any) -> dict[str, Any]:
        return self._call("GetQueueUrl", request)

    def get_queue_attributes(self, **request: Any) -> dict[str, Any]:
        return self._call("GetQueueAttributes", request)

    def send_message(self, **request: Any) -> dict[str, Any]:
        return self._call("SendMessage", request)

    def receive_message(self, **request: Any) -> dict[str, Any]:
        return self._call("ReceiveMessage", request)

    def delete_message(self, **request: Any) -> dict[str, Any]:
        return self._call("DeleteMessage", request)

    def change_message_visibility_batch(self, **request: Any) -> dict[str, Any]:
        return self._call("ChangeMessageVisibilityBatch", request)

    def bodies(self, name: str) -> list[str]:
        """The bodies of all messages of a queue, including hidden ones."""
        return [message.body for message in self.queues[name].values()]

    def bring_back(self, source: str, dead: str, message: FakeMessage) -> None:
        """Move a message that was received too often. SQS keeps its id and its time."""
        self.queues[source].pop(message.id, None)
        message.visible_at = self.clock()
        self.queues[dead][message.id] = message

    def _call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        self.clock.now += _DURATION
        answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "GetQueueUrl": self._url,
            "GetQueueAttributes": self._attributes,
            "SendMessage": self._send,
            "ReceiveMessage": self._receive,
            "DeleteMessage": self._delete,
            "ChangeMessageVisibilityBatch": self._change,
        }
        answer: dict[str, Any] = self.around(
            operation, request, lambda: answers[operation](request)
        )
        return answer

    def _url(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["QueueName"] not in self.queues:
            error = {"Code": "AWS.SimpleQueueService.NonExistentQueue", "Message": "no queue"}
            raise QueueDoesNotExist({"Error": error}, "GetQueueUrl")  # type: ignore[typeddict-item]
        date = format_datetime(self.clock(), usegmt=True)
        return {
            "QueueUrl": request["QueueName"],
            "ResponseMetadata": {"HTTPHeaders": {"date": date}},
        }

    def _attributes(self, request: dict[str, Any]) -> dict[str, Any]:
        messages = self.queues[request["QueueUrl"]].values()
        hidden = sum(message.visible_at > self.clock() for message in messages)
        numbers = {
            "ApproximateNumberOfMessages": len(messages) - hidden,
            "ApproximateNumberOfMessagesNotVisible": hidden,
            "ApproximateNumberOfMessagesDelayed": 0,
        }
        return {"Attributes": {name: str(numbers[name]) for name in request["AttributeNames"]}}

    def _send(self, request: dict[str, Any]) -> dict[str, Any]:
        now = self.clock()
        message = FakeMessage(f"m{next(self._ids)}", request["MessageBody"], now, now)
        message.attributes = dict(request.get("MessageAttributes", {}))
        self.queues[request["QueueUrl"]][message.id] = message
        return {"MessageId": message.id}

    def _receive(self, request: dict[str, Any]) -> dict[str, Any]:
        now = self.clock()
        queue = self.queues[request["QueueUrl"]].values()
        visible = [each for each in queue if each.visible_at <= now]
        if not request.get("WaitTimeSeconds"):
            visible = [each for each in visible if self.random.random() < 0.8]
        elif not visible:
            self.clock.now += timedelta(seconds=request["WaitTimeSeconds"])
        most = min(request.get("MaxNumberOfMessages", 1), len(visible))
        chosen = self.random.sample(visible, most)
        for message in chosen:
            message.received += 1
            message.handle = f"{message.id}-{message.received}"
            message.visible_at = now + timedelta(seconds=request["VisibilityTimeout"])
        return {"Messages": [*map(_received, chosen)]} if chosen else {}

    def _delete(self, request: dict[str, Any]) -> dict[str, Any]:
        if message := self._held(request["QueueUrl"], request["ReceiptHandle"]):
            del self.queues[request["QueueUrl"]][message.id]
        return {}

    def _change(self, request: dict[str, Any]) -> dict[str, Any]:
        for entry in request["Entries"]:
            if message := self._held(request["QueueUrl"], entry["ReceiptHandle"]):
                pause = timedelta(seconds=entry["VisibilityTimeout"])
                message.visible_at = self.clock() + pause
        return {}

    def _held(self, url: str, handle: str) -> FakeMessage | None:
        """Return the message with this newest receipt handle."""
        message = self.queues[url].get(handle.rpartition("-")[0])
        return message if message and message.handle == handle else None


def _received(message: FakeMessage) -> dict[str, Any]:
    return {
        "MessageId": message.id,
        "ReceiptHandle": message.handle,
        "Body": message.body,
        "MD5OfBody": hashlib.md5(message.body.encode(), usedforsecurity=False).hexdigest(),
        "Attributes": {
            "SentTimestamp": str(int(message.sent_at.timestamp() * 1000)),
            "ApproximateReceiveCount": str(message.received),
        },
        "MessageAttributes": message.attributes,
    }


def counted(bodies: Sequence[str]) -> dict[str, int]:
    """The number of messages with each body."""
    numbers: dict[str, int] = defaultdict(int)
    for body in bodies:
        numbers[body] += 1
    return numbers
