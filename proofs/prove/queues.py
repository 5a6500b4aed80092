"""Simulated SQS queues, which redeliver a message until it is deleted or becomes a dead letter.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import repeat

from gazette.domain.content.ports import QueuedFetch
from gazette.domain.model import RunKey
from gazette.domain.ports.bus import BusCommand
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.queues import LONGEST_DELAY, FollowerPage, QueuedRun, Shard, Walk
from gazette.domain.redelivery import MANY, pause_before

from tests.fakes import FakeBus, FakeQueue

_NOTHING = timedelta(0)
_BETWEEN_COPIES = timedelta(seconds=40)
"""The delay between a message and its duplicate."""


@dataclass(eq=False)
class Message:
    """A queued message. `given_up` marks one that resend itself moved to the dead-letter queue."""

    body: object
    sent_at: datetime
    visible_at: datetime
    given_up: bool = False
    receives: int = 0
    died_at: datetime | None = None


@dataclass
class Queue:
    """A queue with its dead-letter queue. `visibility` is the visibility timeout."""

    clock: Clock
    visibility: timedelta
    max_receives: int
    pauses: Sequence[timedelta] = MANY
    copies: int = 1
    delays: Iterator[timedelta] = field(default_factory=lambda: repeat(_NOTHING))
    messages: list[Message] = field(default_factory=list)
    dead: list[Message] = field(default_factory=list)

    def put(self, body: object, delay: timedelta = _NOTHING) -> None:
        """Send a message and its duplicates."""
        assert delay <= LONGEST_DELAY, "SQS rejects the message"
        for number in range(self.copies):
            now = self.clock()
            delay += next(self.delays)
            self.messages.append(Message(body, now, now + delay + _BETWEEN_COPIES * number))

    def next_at(self) -> datetime | None:
        """Return the time at which the next message becomes visible."""
        return min((message.visible_at for message in self.messages), default=None)

    def receive(self) -> Message | None:
        """Receive the message visible longest. Move those received too often to the dead-letter
        queue.
        """
        now = self.clock()
        visible = [message for message in self.messages if message.visible_at <= now]
        for message in sorted(visible, key=lambda message: message.visible_at):
            if message.receives >= self.max_receives:
                self.messages.remove(message)
                self.bury(message)
                continue
            message.receives += 1
            message.visible_at = now + self.visibility
            return message
        return None

    def come_back(self, message: Message) -> None:
        """Make a message visible before its timeout, because its worker reported a failure."""
        pause = pause_before(message.receives, pauses=self.pauses, random=0.5)
        message.visible_at = self.clock() + pause

    def delete(self, message: Message) -> None:
        """Delete a message."""
        if message in self.messages:
            self.messages.remove(message)

    def bury(self, message: Message) -> None:
        """Move a message to the dead-letter queue."""
        message.died_at = self.clock()
        self.dead.append(message)

    def purge(self) -> None:
        """Delete all messages, as an operator may."""
        self.messages.clear()
        self.dead.clear()

    def redrive(self) -> None:
        """Return every dead letter to the queue, like the redrive button of the console."""
        buried, self.dead = self.dead, []
        for message in buried:
            now = self.clock()
            self.messages.append(Message(message.body, now, now, message.given_up))


class RunMessages(FakeQueue[QueuedRun]):
    """The port `RunQueue`, on a simulated queue."""

    def __init__(self, queue: Queue) -> None:
        super().__init__()
        self._queue = queue

    def send(self, messages: Iterable[QueuedRun]) -> None:
        runs = list(messages)
        super().send(runs)
        for run in runs:
            self._queue.put(run.key, run.delay)


class GivenUp(FakeQueue[RunKey]):
    """The port `DeadLetters`, on a simulated queue."""

    def __init__(self, queue: Queue) -> None:
        super().__init__()
        self._queue = queue

    def send(self, messages: Iterable[RunKey]) -> None:
        now = self._queue.clock()
        for key in messages:
            self._queue.bury(Message(key, now, now, given_up=True))


class ShardMessages(FakeQueue[Shard]):
    """The port `ShardQueue`, on a simulated queue."""

    def __init__(self, queue: Queue) -> None:
        super().__init__()
        self._queue = queue

    def send(self, messages: Iterable[Shard]) -> None:
        for shard in messages:
            self._queue.put(shard)


class SweepMessages(FakeQueue[int]):
    """The port `SweepQueue`, which skips partitions without a reader because they are empty."""

    def __init__(self, queue: Queue, inhabited: frozenset[int]) -> None:
        super().__init__()
        self._queue = queue
        self._inhabited = inhabited

    def send(self, messages: Iterable[int]) -> None:
        for partition in messages:
            if partition in self._inhabited:
                self._queue.put(partition)


class BusMessages(FakeBus):
    """The port `Bus`, which delivers to ingest."""

    def __init__(self, queue: Queue) -> None:
        super().__init__()
        self._queue = queue

    def put(self, commands: Sequence[BusCommand]) -> bool:
        for one in commands:
            self._queue.put(one)
        return super().put(commands)


class FetchMessages(FakeQueue[QueuedFetch]):
    """The port `FetchQueue`, on a simulated queue."""

    def __init__(self, queue: Queue) -> None:
        super().__init__()
        self._queue = queue

    def send(self, messages: Iterable[QueuedFetch]) -> None:
        for message in messages:
            self._queue.put(message.fetch, message.delay)


class FollowerMessages(FakeQueue[Walk | FollowerPage]):
    """The port `FollowersQueue`, on a simulated queue."""

    def __init__(self, queue: Queue) -> None:
        super().__init__()
        self._queue = queue

    def send(self, messages: Iterable[Walk | FollowerPage]) -> None:
        for message in messages:
            self._queue.put(message)
