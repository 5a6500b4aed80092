"""Threads that process the items of an invocation side by side."""

from collections import deque
from collections.abc import Callable, Sequence
from threading import Thread
from typing import TypeVar

from gazette.adapters.aws.clients import CONNECTIONS

ItemT = TypeVar("ItemT")


def side_by_side(
    work: Callable[[ItemT], object], items: Sequence[ItemT], *, most: int = CONNECTIONS
) -> None:
    """Call `work` for each item, and return when all calls have ended. Items begin in order.

    At most `most` calls run at the same time, by default one for each connection of a client. The
    calling thread also works, so the items are processed even if no thread can be started. `work`
    must not raise.
    """
    remaining = deque(items)

    def work_off() -> None:
        while True:
            try:
                item = remaining.popleft()
            except IndexError:
                return
            work(item)

    threads: list[Thread] = []
    for _ in range(min(most, len(items)) - 1):
        thread = Thread(target=work_off)
        try:
            thread.start()
        except RuntimeError:  # the process has reached its thread limit
            break
        threads.append(thread)
    work_off()
    for thread in threads:
        thread.join()
