"""The redrive of an order from the support page, message by message and within a time limit."""

from collections.abc import Callable, Iterator, Sequence

from gazette.adapters.aws.dead_letters.messages import read
from gazette.adapters.aws.dead_letters.quarantine import redrive_quarantine
from gazette.adapters.aws.dead_letters.queues import QueueUnavailable, queues
from gazette.adapters.aws.dead_letters.transfer import RedriveCounts, redrive
from gazette.adapters.console.values import Moved, MovedQueue
from gazette.domain.console.orders import EVERY_QUEUE, RedriveOrder
from gazette.domain.dead_letters import QUARANTINE, DeadQueue, DueAt


def ordered(order: RedriveOrder, known: Sequence[DeadQueue]) -> tuple[DeadQueue, ...]:
    """Return the dead-letter queues of an order. The quarantine is not one of them."""
    by_run = order.selection.run or order.selection.batch or order.selection.on
    return tuple(
        dead
        for dead in known
        if dead.source
        and order.queue in {dead.name, EVERY_QUEUE}
        and (dead.names_runs or not by_run)
    )


def carry_out(
    order: RedriveOrder,
    known: Sequence[DeadQueue],
    *,
    stage: str,
    due_at: DueAt,
    goes_on: Callable[[], bool],
) -> Moved:
    """Redrive the messages of an order until `goes_on` returns False.

    Messages that arrived after `order.before` stay, so carrying out an order twice moves no message
    twice. An error ends the redrive. Messages that were not moved remain in their queues.
    """
    results: list[MovedQueue] = []
    for name, act in _acts(order, known, stage, due_at, goes_on):
        if not goes_on():
            return Moved(results, is_complete=False)
        try:
            counts = act()
        except QueueUnavailable as err:
            counts = RedriveCounts(0, 0, problem=err)
        numbers = (counts.moved, counts.remaining, counts.came_back, counts.unseen)
        results.append(MovedQueue(name, *numbers))
        if counts.problem:
            return Moved(results, is_complete=False, failed_at=name, problem=counts.problem)
        if order.selection.message and counts.moved:
            return Moved(results, is_complete=True)
    return Moved(results, is_complete=goes_on())


def _acts(
    order: RedriveOrder,
    known: Sequence[DeadQueue],
    stage: str,
    due_at: DueAt,
    goes_on: Callable[[], bool],
) -> Iterator[tuple[str, Callable[[], RedriveCounts]]]:
    if order.queue == QUARANTINE:
        yield QUARANTINE, lambda: _of_quarantine(order, stage, goes_on)
    for dead in ordered(order, known):
        yield dead.name, lambda dead=dead: _of_queue(dead, order, stage, due_at, goes_on)  # type: ignore[misc]


def _of_quarantine(order: RedriveOrder, stage: str, goes_on: Callable[[], bool]) -> RedriveCounts:
    waiting, ingest, feedback = queues(stage, QUARANTINE, "ingest", "feedback")
    if not (expected := waiting.waiting()):
        return RedriveCounts(0, 0)
    return redrive_quarantine(
        waiting,
        ingest=ingest,
        feedback=feedback,
        started=order.before,
        goes_on=goes_on,
        expected=expected,
    )


def _of_queue(
    dead: DeadQueue, order: RedriveOrder, stage: str, due_at: DueAt, goes_on: Callable[[], bool]
) -> RedriveCounts:
    (waiting,) = queues(stage, dead.name)
    if not (expected := waiting.waiting()):
        return RedriveCounts(0, 0)
    target = next(queues(stage, str(dead.source)))
    moved = 0

    def count(_: object) -> None:
        nonlocal moved
        moved += 1

    return redrive(
        waiting,
        lambda _: target,
        started=order.before,
        selects=lambda message: order.selection.includes(read(dead, message), due_at),
        on_moved=count,
        goes_on=lambda: goes_on() and not (order.selection.message and moved),
        expected=expected,
    )
