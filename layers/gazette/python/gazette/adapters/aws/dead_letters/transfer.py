"""Redrive messages one by one: receive, send, delete."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gazette.adapters.aws.dead_letters.queues import Held, Queue, sent_at
from gazette.domain.dead_letters import Interrupted

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

_FRUITLESS = 20
"""The number of consecutive receives without an old message after which a redrive ends."""

_LAST_LOOKS = 3
"""The number of consecutive receives without a wait and without a message after which a redrive
ends. The redrive makes them once it has received as many messages as the queue had.

Otherwise, the last receive of each queue would wait a second.
"""


def always() -> bool:
    """Return True. This is the condition of a redrive without a time limit."""
    return True


@dataclass(frozen=True, slots=True)
class RedriveCounts:
    """The number of messages for each outcome of a redrive."""

    # Messages that were redriven.
    moved: int

    # Messages that were not redriven, including messages that arrived during the redrive.
    remaining: int

    # Messages that were redriven and have returned to the queue.
    came_back: int = 0

    # The reason why the redrive ended early.
    problem: Interrupted | None = None

    # Messages among the remaining ones that the queue reported, but did not give.
    unseen: int = 0

    def __str__(self) -> str:
        """Describe the outcome in words."""
        returned = f", {self.came_back} returned" if self.came_back else ""
        return f"{self.moved} redriven, {self.remaining} remaining{returned}"


def redrive(
    waiting: Queue,
    target_of: Callable[[str], Queue],
    *,
    started: datetime,
    selects: "Callable[[MessageTypeDef], bool]" = lambda _: True,
    on_moved: "Callable[[MessageTypeDef], None]" = lambda _: None,
    goes_on: Callable[[], bool] = always,
    expected: int | None = None,
) -> RedriveCounts:
    """Move the messages that were in a queue when the redrive started. The message body determines
    the target.

    Later messages are not moved, because they may be redriven messages that failed again. Each
    message is sent before it is deleted, so that no message is lost. A crash between the two calls
    duplicates the message, which every function tolerates. `selects` returns True for each message
    to move, and may raise Interrupted. `on_moved` is called after each moved message. `goes_on` is
    called before each receive and before each message. If it returns False, the redrive ends, and
    the other messages remain in the queue. `expected` is the number of messages that the queue had.
    After that many messages, the redrive does not wait for others. It does not receive messages
    that another reader hides, such as those of an interrupted redrive.
    """
    moved = fruitless = came_back = 0
    problem: Interrupted | None = None
    is_ended = False
    sent: set[str] = set()
    with Held(waiting) as hidden:
        try:
            while fruitless < _FRUITLESS and not is_ended:
                is_last = expected is not None and moved + len(hidden) >= expected
                if not (messages := _receive(hidden, is_last=is_last)):
                    break
                old = [message for message in messages if sent_at(message) <= started]
                for message in old:
                    if is_ended := not goes_on():
                        break
                    if not selects(message):
                        continue
                    target_of(message["Body"]).send(message["Body"])
                    sent.add(message["MD5OfBody"])
                    waiting.delete(message)
                    hidden.forget(message)
                    moved += 1
                    on_moved(message)
                came_back += sum(
                    sent_at(message) > started and message["MD5OfBody"] in sent
                    for message in messages
                )
                fruitless = 0 if old else fruitless + 1
                is_ended = is_ended or not goes_on()
        except Interrupted as err:
            problem = err
        remaining = len(hidden)
    if problem or is_ended:
        return RedriveCounts(moved, max(0, waiting.waiting() - came_back), came_back, problem)
    unseen = max(0, (expected or 0) - moved - remaining)
    return RedriveCounts(moved, remaining + unseen - came_back, came_back, unseen=unseen)


def _receive(hidden: Held, *, is_last: bool) -> "list[MessageTypeDef]":
    """Receive messages. If `is_last`, look several times instead of waiting."""
    for _ in range(_LAST_LOOKS if is_last else 1):
        if messages := hidden.receive(waits=not is_last):
            return messages
    return []
