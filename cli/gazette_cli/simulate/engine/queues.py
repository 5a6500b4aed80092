"""A simulated SQS queue, which counts messages by cohort."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import Generic, TypeVar

from gazette_cli.simulate.engine.timeline import Timeline

KindT = TypeVar("KindT")

_BLOCKS = 4096
"""The number of visible blocks above which blocks of the same kind are merged. Merging does not
preserve the order of messages, and neither does SQS.
"""


@dataclass(slots=True)
class Queue(Generic[KindT]):
    """The delayed and visible messages of a queue.

    Messages of a kind that become visible in the same step form a block, so memory does not grow
    with the number of messages.
    """

    timeline: Timeline

    # The length of a step in seconds.
    step: float = 0.1

    # Called when messages become visible.
    on_visible: Callable[[], None] = lambda: None

    # The visible blocks, oldest first.
    visible: deque[tuple[KindT, int]] = field(default_factory=deque)

    number_visible: int = 0
    number_delayed: int = 0

    # The delayed blocks by step.
    delayed: dict[int, dict[KindT, int]] = field(default_factory=dict)

    # The current and the largest number of blocks.
    blocks: int = 0
    most_blocks: int = 0

    @property
    def waiting(self) -> int:
        """The number of visible and delayed messages."""
        return self.number_visible + self.number_delayed

    def put(self, kind: KindT, number: int, at: float) -> None:
        """Add messages that become visible at an instant. The instant is rounded up to a step."""
        tick = ceil(at / self.step)
        block = self.delayed.get(tick)
        if block is None:
            block = self.delayed[tick] = {}
            self.timeline.at(tick * self.step, lambda: self._show(tick))
        self.blocks += kind not in block
        block[kind] = block.get(kind, 0) + number
        self.number_delayed += number

    def take(self, most: int) -> list[tuple[KindT, int]]:
        """Receive up to `most` messages."""
        received: list[tuple[KindT, int]] = []
        while most and self.visible:
            kind, number = self.visible.popleft()
            some = min(number, most)
            if some < number:
                self.visible.appendleft((kind, number - some))
            else:
                self.blocks -= 1
            received.append((kind, some))
            most -= some
            self.number_visible -= some
        return received

    def contents(self) -> Iterator[tuple[KindT, int]]:
        """Yield all blocks, both visible and delayed."""
        yield from self.visible
        for block in self.delayed.values():
            yield from block.items()

    def _show(self, tick: int) -> None:
        block = self.delayed.pop(tick)
        number = sum(block.values())
        self.number_delayed -= number
        self.number_visible += number
        self.visible.extend(block.items())
        if len(self.visible) > _BLOCKS:
            self._join()
        self.most_blocks = max(self.most_blocks, self.blocks)
        self.on_visible()

    def _join(self) -> None:
        joined: dict[KindT, int] = {}
        for kind, number in self.visible:
            joined[kind] = joined.get(kind, 0) + number
        self.blocks -= len(self.visible) - len(joined)
        self.visible = deque(joined.items())
