"""The queues that must be empty, read at the same time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.adapters.aws.dead_letters.messages import look
from gazette.adapters.aws.dead_letters.quarantine import Quarantined, look_at_quarantine
from gazette.adapters.aws.dead_letters.queues import QueueUnavailable, queues
from gazette.adapters.threads import side_by_side
from gazette.domain.dead_letters import QUARANTINE, DeadLetter, DeadQueue
from gazette.domain.ports.clock import Clock

FRESH_FOR = timedelta(minutes=5)
"""The time for which messages are not received again if the number of messages is the same.

Each receive counts. After a thousand receives, SQS moves a message to the next queue (decision 95),
and a dashboard may be refreshed every ten seconds.
"""


@dataclass(frozen=True, slots=True)
class QueueRead:
    """A queue with the messages that were read. `waiting` is None if the queue cannot be read."""

    name: str
    waiting: int | None = None
    letters: Sequence[DeadLetter] = ()
    events: Sequence[Quarantined] = ()
    problem: QueueUnavailable | None = None


def count_messages(stage: str, names: Sequence[str]) -> dict[str, QueueRead]:
    """Return the queues by name, with their numbers of messages. No message is received.

    One GetQueueUrl and one GetQueueAttributes for each queue.
    """
    reads: dict[str, QueueRead] = {}

    def read(name: str) -> None:
        try:
            (queue,) = queues(stage, name)
            reads[name] = QueueRead(name, queue.waiting())
        except QueueUnavailable as err:
            reads[name] = QueueRead(name, problem=err)

    side_by_side(read, names)
    return {name: reads[name] for name in names}


@dataclass(frozen=True, slots=True)
class _Kept:
    read: QueueRead
    most: int
    at: datetime

    @property
    def is_complete(self) -> bool:
        """True if all messages of the queue were read."""
        return len(self.read.letters or self.read.events) >= (self.read.waiting or 0)


class QueueReader:
    """A reader of a stage's queues. It keeps the messages that it has read for FRESH_FOR."""

    def __init__(self, stage: str, *, clock: Clock) -> None:
        self._stage = stage
        self._clock = clock
        self._kept: dict[str, _Kept] = {}

    def read(
        self, known: Sequence[DeadQueue], *, most: int, with_quarantine: bool
    ) -> dict[str, QueueRead]:
        """Return the queues by name, with up to `most` messages each.

        One GetQueueUrl and one GetQueueAttributes for each queue. A queue with messages takes one
        or more ReceiveMessage and one ChangeMessageVisibilityBatch in addition, unless its messages
        are fresh.
        """
        reads: dict[str, QueueRead] = {}
        work: dict[str, Callable[[], QueueRead]] = {
            dead.name: lambda dead=dead: self._dead(dead, most)  # type: ignore[misc]
            for dead in known
        }
        if with_quarantine:
            work[QUARANTINE] = lambda: self._quarantine(most)

        def read(name: str) -> None:
            try:
                reads[name] = work[name]()
            except QueueUnavailable as err:
                reads[name] = QueueRead(name, problem=err)

        side_by_side(read, [*work])
        return {name: reads[name] for name in work}

    def _dead(self, dead: DeadQueue, most: int) -> QueueRead:
        (queue,) = queues(self._stage, dead.name)
        waiting = queue.waiting()
        if fresh := self._recent(dead.name, waiting, most):
            return fresh
        letters = look(dead, queue, most=min(most, waiting)) if waiting else []
        return self._keep(QueueRead(dead.name, max(waiting, len(letters)), letters), most)

    def _quarantine(self, most: int) -> QueueRead:
        (queue,) = queues(self._stage, QUARANTINE)
        waiting = queue.waiting()
        if fresh := self._recent(QUARANTINE, waiting, most):
            return fresh
        events = look_at_quarantine(queue, most=min(most, waiting)) if waiting else []
        read = QueueRead(QUARANTINE, max(waiting, len(events)), events=events)
        return self._keep(read, most)

    def _recent(self, name: str, waiting: int, most: int) -> QueueRead | None:
        fresh = self._kept.get(name)
        is_fresh = (
            fresh is not None
            and fresh.read.waiting == waiting
            and (fresh.most >= most or fresh.is_complete)
            and timedelta(0) <= self._clock() - fresh.at < FRESH_FOR
        )
        if fresh is None or not is_fresh:
            return None
        read = fresh.read
        return QueueRead(name, waiting, read.letters[:most], read.events[:most])

    def _keep(self, read: QueueRead, most: int) -> QueueRead:
        if read.letters or read.events:
            self._kept[read.name] = _Kept(read, most, self._clock())
        return read
