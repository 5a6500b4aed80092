"""Redrive without a task of SQS: receive each message, send it back, delete it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from cli.dead_letters.sqs_queues import Held, Queue, sent_at
from cli.shared.console import NotPossible

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

_FRUITLESS = 20
"""Receives without an old message after which it ends, even if new ones keep coming."""


@dataclass(frozen=True, slots=True)
class Redriven:
    """The outcome of a redrive, in numbers of messages.

    `moved`: redriven, each counted once. `left`: not redriven and still there, also those that
    arrived meanwhile. `came_back`: redriven, and in the queue again. `problem`: why it ended early.
    """

    moved: int
    left: int
    came_back: int = 0
    problem: str = ""

    def __str__(self) -> str:
        """For people."""
        returned = f", {self.came_back} came back" if self.came_back else ""
        return f"redriven {self.moved}, left {self.left}{returned}"


def redrive(
    waiting: Queue,
    target_of: Callable[[str], Queue],
    *,
    started: datetime,
    selects: "Callable[[MessageTypeDef], bool]" = lambda _: True,
    on_moved: "Callable[[MessageTypeDef], None]" = lambda _: None,
) -> Redriven:
    """Move what was in `waiting` at `started`; bodies stay as they are, and say where they go.

    What came later stays: it may be what just went, come back still wrong. So does what is not
    wanted. Each message is deleted after it was sent, so that none is lost: a crash between the two
    repeats it, which every function bears. `on_moved` is called for each message that was moved.
    """
    moved = fruitless = came_back = 0
    problem = ""
    sent: set[str] = set()
    with Held(waiting) as held:
        try:
            while fruitless < _FRUITLESS and (messages := held.receive()):
                old = [message for message in messages if sent_at(message) <= started]
                for message in filter(selects, old):
                    target_of(message["Body"]).send(message["Body"])
                    sent.add(message["MD5OfBody"])
                    waiting.delete(message)
                    held.forget(message)
                    moved += 1
                    on_moved(message)
                came_back += sum(
                    sent_at(message) > started and message["MD5OfBody"] in sent
                    for message in messages
                )
                fruitless = 0 if old else fruitless + 1
        except NotPossible as err:
            problem = str(err)
        there = len(held)
    there = waiting.waiting() if problem else there
    return Redriven(moved, max(0, there - came_back), came_back, problem)
