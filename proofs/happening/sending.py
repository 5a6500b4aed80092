"""Fan-out, and the runs that read, claim and send the row."""

from collections.abc import Iterator

from gazette.domain.model import ScheduleState

from proofs.happening.promises import claimed_too_late, sent_too_late
from proofs.happening.rows import DAILY, NOW, settled
from proofs.happening.state import At, Rule, Setup, State, Step, Worker, begun, gone, with_worker
from proofs.happening.writing import (
    needs_guard,
    settle_row,
    unguarded,
    with_row,
    with_run,
    with_schedule,
)

_FANOUT, _DELIVERY = "fan-out", "delivery"
_TWICE = "told twice: the happening is in two emails"


def sending(state: State, setup: Setup) -> Iterator[Step]:
    """Yield the occurrences of the digest, and the reads of open runs."""
    tasks = {worker.task for worker in state.workers}
    is_listed = state.schedule in {ScheduleState.ARMED, ScheduleState.LEAVING}
    if state.ticks and is_listed and _FANOUT not in tasks:
        yield _tick(state._replace(ticks=state.ticks - 1))
    if _DELIVERY in tasks:
        return
    for place in state.runs:
        others = tuple(each for each in state.runs if each != place)
        yield _read_window(state._replace(runs=others), place)
    if state.critical_row == NOW:
        sent = state._replace(critical_row="sent")
        yield ("the email of the critical mention is sent",), sent


def _waits(state: State) -> bool:
    row = state.row
    return row is not None and bool(row.shown) and row.place == DAILY and not state.attempt


def _tick(state: State) -> Step:
    if _waits(state):
        return ("fan-out starts a digest",), unguarded(with_run(state, DAILY))
    flagged = with_schedule(state, "flag")
    return ("fan-out flags the schedule",), begun(flagged, Worker(_FANOUT, At.LOOK))


def _read_window(state: State, place: str) -> Step:
    """Read the row, or end a run that has nothing to send."""
    row = state.row
    if row is None or not row.shown or row.place != place or state.attempt:
        return (f"the run of {place} ends without events",), unguarded(state)
    at = At.ROUTE if state.is_marked else At.CLAIM
    worker = Worker(_DELIVERY, at, row=row, place=place)
    return (f"the run of {place} reads the row with {row.shown} shown",), begun(state, worker)


def fanning_out(state: State, w: int) -> Iterator[Step]:
    """Yield the next step of a worker that has flagged the schedule."""
    worker = state.workers[w]
    if worker.task != _FANOUT:
        return
    if worker.at is At.LOOK:
        if _waits(state):
            yield ("fan-out finds the row",), with_run(with_schedule(gone(state, w), "arm"), DAILY)
        else:
            looked = worker._replace(at=At.IDLE, is_fresh=True)
            yield ("fan-out finds no row",), with_worker(state, w, looked)
    elif state.schedule is not ScheduleState.LEAVING:
        yield ("fan-out finds the schedule armed",), gone(state, w)
    elif not worker.is_fresh:
        yield (
            ("fan-out finds the schedule changed",),
            with_worker(state, w, worker._replace(at=At.LOOK)),
        )
    else:
        yield ("fan-out removes the schedule",), with_schedule(gone(state, w), "idle")


def delivering(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Yield every next step of a worker that sends a run."""
    worker = state.workers[w]
    if worker.task != _DELIVERY:
        return
    if state.deaths and worker.at is not At.CALL:
        dead = with_run(gone(state, w), worker.place)._replace(deaths=state.deaths - 1)
        yield ("the worker of a run dies",), dead
    match worker.at:
        case At.ROUTE:
            yield _route_again(state, w, setup)
        case At.WRITE:
            yield _write(state, w, setup)
        case At.CLAIM:
            yield _claim(state, w, setup)
        case _:
            yield from _call(state, w, setup)


def _read_again(state: State, w: int) -> State:
    return with_run(gone(state, w), state.workers[w].place)


def _route_again(state: State, w: int, setup: Setup) -> Step:
    """Move a row that the reader now wants elsewhere (rule 15)."""
    worker = state.workers[w]
    row = worker.row
    if row is None or not setup.holds(Rule.FOLLOWS_AT_DELIVERY):
        return ("the run does not route again",), with_worker(
            state, w, worker._replace(at=At.CLAIM)
        )
    after = settled(row.bodies, state.choices, setup, row, stays=False)
    if after == row:
        return ("the run routes again",), with_worker(state, w, worker._replace(at=At.CLAIM))
    if state.row != row:
        return ("the run finds the row changed",), _read_again(state, w)
    state = settle_row(state, after) if needs_guard(row, after, setup) else state
    moving = worker._replace(at=At.WRITE, after=after, is_guarded=True)
    return ("the run routes again: the row changes",), with_worker(state, w, moving)


def _write(state: State, w: int, setup: Setup) -> Step:
    worker = state.workers[w]
    if state.row != worker.row or not worker.is_guarded:
        return ("the run finds the row changed",), _read_again(state, w)
    written = settle_row(with_row(state, worker.row, worker.after, setup), worker.after)
    return ("the run writes the row",), _read_again(written, w)


def _claim(state: State, w: int, setup: Setup) -> Step:
    worker = state.workers[w]
    if not worker.is_fresh:
        return ("the run is overtaken before its claim",), _read_again(state, w)
    if not worker.is_reader_fresh:
        return ("the run finds a changed reader",), _read_again(state, w)
    state = state._replace(fault=claimed_too_late(state, worker, setup) or state.fault)
    if _is_its_row(state, worker):
        state = state._replace(attempt=1)
    calling = with_worker(unguarded(state), w, worker._replace(at=At.CALL))
    return (f"the run of {worker.place} is claimed",), calling


def _is_its_row(state: State, worker: Worker) -> bool:
    if state.row is None or worker.row is None:
        return False
    return state.row.stamp == worker.row.stamp


def _call(state: State, w: int, setup: Setup) -> Iterator[Step]:
    worker = state.workers[w]
    unsent = state._replace(attempt=0) if _is_its_row(state, worker) else state
    if not worker.is_reader_fresh:
        yield ("the last look finds a changed reader",), unguarded(_read_again(unsent, w))
        return
    fault = sent_too_late(state, worker, setup) or state.fault
    sent = gone(state, w)._replace(emails=state.emails + 1, fault=fault)
    if state.emails:
        sent = sent._replace(fault=_TWICE)
    if _is_its_row(state, worker):
        sent = sent._replace(attempt=2)
    yield (
        (f"the provider accepts the email with {worker.row and worker.row.shown}",),
        unguarded(sent),
    )
    if state.refusals:
        refused = unguarded(_read_again(unsent, w))._replace(refusals=state.refusals - 1)
        yield ("the provider refuses the email for now",), refused
