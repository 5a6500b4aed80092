"""Every write is conditional on what was read; whoever has read that before is overtaken.

A worker whose next call can only fail goes on at once where that failure would take it. Whoever
writes is taken out of the state before, and put back after.
"""

from gazette.domain.delivery.signals import Stop

from proofs.arming.numbered import ABSENT, NO_RUN, moved
from proofs.arming.state import At, Kind, Rule, Setup, State, Worker

_WRITES = {At.ARM, At.ADVANCE, At.FLAG, At.LEAVE, At.PASS, At.RENUMBER, At.WITHDRAW}


def with_row(state: State, row: int, setup: Setup) -> State:
    """The row as somebody else has written it: whoever has read it fails at their write."""
    workers = (_overtaken(worker, setup) for worker in state.workers)
    return state._replace(row=row, workers=tuple(each for each in workers if each))


def again(worker: Worker, setup: Setup) -> Worker | None:
    """A worker whose write has failed, where it reads again; None: it gives up."""
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
    """With the epochs of the open runs raised: claims and moves on older reads fail.

    Before its claim a worker of delivery has written nothing, so it is gone.
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
