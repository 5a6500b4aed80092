"""Conditional writes. A write fails every other worker whose condition it changes.

A worker whose next call must fail moves on immediately to where that failure leads. The writing
worker is removed from the state before the write and added again afterwards.
"""

from gazette.domain.delivery.signals import Stop

from proofs.arming.numbered import ABSENT, NO_RUN, moved
from proofs.arming.state import At, Kind, Rule, Setup, State, Worker

_WRITES = {At.ARM, At.ADVANCE, At.FLAG, At.LEAVE, At.PASS, At.RENUMBER, At.WITHDRAW}


def with_row(state: State, row: int, setup: Setup) -> State:
    """Return the state with the written row. Workers that have read the row fail at their write."""
    workers = (_overtaken(worker, setup) for worker in state.workers)
    return state._replace(row=row, workers=tuple(each for each in workers if each))


def again(worker: Worker, setup: Setup) -> Worker | None:
    """Return a worker that reads again after its write failed, or None if it gives up."""
    match worker.kind, worker.at:
        case Kind.FANOUT, _:
            if not setup.holds(Rule.READ_AGAIN):
                return None
            return Worker(Kind.FANOUT, At.FIND)
        case _, At.WITHDRAW:
            return Worker(worker.kind, At.ROWS, worker.number)
        case Kind.MOVER, At.MOVE:
            return Worker(Kind.MOVER, At.FIND, worker.number)
        case Kind.INGEST, At.MOVE:
            return Worker(Kind.INGEST, At.LATE, worker.number)
        case _:
            return Worker(worker.kind, At.READ, worker.number)


def _overtaken(worker: Worker, setup: Setup) -> Worker | None:
    if worker.kind is Kind.DELIVERY or not worker.is_current:
        return worker
    if worker.kind is Kind.PROFILE and not setup.holds(Rule.BORN_IF_ABSENT):
        return worker
    if worker.at in _WRITES:
        return again(worker, setup)
    if worker.at is At.MOVE:
        return worker if worker.row == ABSENT else again(worker, setup)
    return worker._replace(is_current=False)


def with_epochs_raised(state: State, setup: Setup) -> State:
    """Raise the epochs of the open runs, so that claims and moves based on older reads fail.

    A delivery worker has written no data before its claim, so it is removed.
    """
    raised = {
        number
        for number, run in enumerate(state.runs)
        if run != NO_RUN and moved(run, Stop()) is not None
    }
    if not raised:
        return state
    workers: list[Worker] = []
    for worker in state.workers:
        after: Worker | None = worker
        if worker.at is At.MOVE:
            after = again(worker, setup)
        elif worker.at is At.CLAIM and worker.number in raised:
            after = None
        if after is not None:
            workers.append(after)
    return state._replace(workers=tuple(workers))
