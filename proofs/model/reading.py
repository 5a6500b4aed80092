"""A worker of steps/delivery up to its claim, one call of a port at a time.

A worker that dies, waits or is overtaken before the claim leaves only its message, which stays
queued until a worker ends the run. It may therefore be delivered at any time and any number of
times.
"""

from collections.abc import Iterator

from gazette.domain.delivery.run import Reason, Status
from gazette.domain.delivery.signals import Cancel, DeadlinePassed, GiveUp, Signal, Skip

from proofs.model.numbered import (
    applied,
    claimed_up_to,
    decided,
    events_in,
    given_up_to,
    is_carried,
    is_final,
    is_to_be_carried,
    run_of,
    sent_up_to,
    since_of,
    until_of,
)
from proofs.model.state import (
    BATCH,
    BEFORE_CLAIM,
    CLAIMED,
    IDLE,
    MARKED,
    RETRACTED,
    At,
    Halt,
    Rule,
    Setup,
    State,
    Worker,
    replaced,
    retracted,
    shown_of_stop,
)

Step = tuple[tuple[object, ...], State]
"""A label template with its values, and the state after the step."""

_ENDS: dict[str, Signal] = {
    "empty": Skip(Reason.EMPTY),
    "unsubscribed": Skip(Reason.UNSUBSCRIBED),
    "batch_cancelled": Cancel(Reason.BATCH_CANCELLED),
}


def before_claim(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Yield every next step of worker `w` up to its claim."""
    worker = state.workers[w]
    if worker.at is At.IDLE:
        for index in range(len(state.runs)):
            if state.queued >> index & 1:
                yield from _begin(state, w, index, setup)
        return
    if worker.at not in BEFORE_CLAIM:
        return
    yield ("worker {} dies or gives up before its claim of run {}", w, worker.run), idle(state, w)
    match worker.at:
        case At.SETTLE:
            yield from _settle(state, w, setup)
        case At.READ:
            yield _read(state, w, setup)
        case At.STOPS:
            yield _look_for_stops(state, w, setup)
        case At.END:
            yield _end(state, w)


def with_worker(state: State, w: int, worker: Worker) -> State:
    """Return the state with the new state of worker `w`."""
    return state._replace(workers=replaced(state.workers, w, worker))


def idle(state: State, w: int) -> State:
    """Return the state with worker `w` ready for another message."""
    return state._replace(workers=replaced(state.workers, w, IDLE))


def unqueued(state: State, index: int) -> State:
    """Return the state without the message of a run."""
    return state._replace(queued=state.queued & ~(1 << index))


def is_expired(state: State, index: int, attempt: int) -> bool:
    """Return True if the deadline of a claim may have passed; no claimant is alive before it."""
    return not any(
        worker.at in CLAIMED
        and worker.run == index
        and not worker.is_late
        and run_of(worker.chain[0]).attempt == attempt
        for worker in state.workers
    )


def _begin(state: State, w: int, index: int, setup: Setup) -> Iterator[Step]:
    """Receive the message and read the chain consistently, back to the last sent run before it."""
    own = state.runs[index]
    status, attempt = run_of(own).status, run_of(own).attempt
    is_overdue = status is Status.SENDING and is_expired(state, index, attempt)
    if status not in {Status.PENDING, Status.RETRYING} and not is_overdue:
        label = (f"worker {{}} finds run {{}} {status}, and deletes its message", w, index)
        yield label, unqueued(state, index)
        return
    first = index
    while first and (first == index or run_of(state.runs[first]).status is not Status.SENT):
        first -= 1
    worker = Worker(At.SETTLE, index, state.runs[first : index + 1])
    label = ("worker {} reads run {} and those before it", w, index)
    yield label, _go_on(state, w, worker, setup)


def _next_to_settle(worker: Worker, setup: Setup) -> tuple[int, Signal | None] | None:
    """Return the newest run to settle and its signal, or None as signal if the worker must wait
    (rule 3).
    """
    chain = worker.chain
    last = len(chain) - 1
    if run_of(chain[last]).status is Status.SENDING:
        return last, DeadlinePassed(run_of(chain[last]).attempt)
    for position in range(last - 1, -1, -1):
        run = run_of(chain[position])
        if run.status is Status.PENDING or (run.status is Status.RETRYING and not run.uncertain):
            if setup.holds(Rule.SUPERSEDE):
                return position, Cancel(Reason.SUPERSEDED)
            continue
        if not setup.holds(Rule.WAIT_FOR_PREDECESSOR):
            continue
        if run.status is Status.SENDING:
            return position, DeadlinePassed(run.attempt)
        if run.status is Status.UNKNOWN and not is_carried(chain[position]):
            return position, None
    for position in range(last - 1, -1, -1):
        until = until_of(chain[position]) or 0
        since = max(sent_up_to(chain[:last]), _given_up_to(worker, setup))
        if is_carried(chain[position]) and until <= since:
            return position, GiveUp()
    return None


def _go_on(state: State, w: int, worker: Worker, setup: Setup) -> State:
    """Return the state in which the worker has a run to settle, events to read, or must wait."""
    own = run_of(worker.chain[-1])
    if own.status not in {Status.PENDING, Status.RETRYING, Status.SENDING}:
        return unqueued(idle(state, w), worker.run)
    match _next_to_settle(worker, setup):
        case None:
            return with_worker(state, w, worker._replace(at=At.READ))
        case (_, None):
            return idle(state, w)
        case _:
            return with_worker(state, w, worker._replace(at=At.SETTLE))


def _settle(state: State, w: int, setup: Setup) -> Iterator[Step]:
    worker = state.workers[w]
    found = _next_to_settle(worker, setup)
    assert found is not None
    position, signal = found
    assert signal is not None
    index = worker.run - len(worker.chain) + 1 + position
    read = worker.chain[position]
    is_overdue = isinstance(signal, DeadlinePassed)
    if is_overdue and not is_expired(state, index, run_of(read).attempt):
        return
    if is_overdue and not setup.holds(Rule.OVERDUE_ATTEMPT) and not is_final(state.runs[index]):
        read = state.runs[index]
        signal = DeadlinePassed(run_of(read).attempt)
    told = decided(read, state.runs[index], signal)
    if told is None:
        yield ("worker {} is overtaken before it settles run {}", w, index), idle(state, w)
        return
    stored = state.runs[index] if told == read else told
    after = state._replace(runs=replaced(state.runs, index, stored))
    worker = worker._replace(chain=replaced(worker.chain, position, told))
    words = "finds run {} overdue" if is_overdue else "cancels run {} as superseded"
    if isinstance(signal, GiveUp):
        words = "gives run {} up"
    yield (f"worker {{}} {words}", w, index), _go_on(after, w, worker, setup)


def _read(state: State, w: int, setup: Setup) -> Step:
    """Choose `until`, compute `since` and read the events, in one step.

    One step suffices because no event is stored behind `until`. Events are stamped up to `stored`.
    Without the settle lag, an event that is still being written may be stamped before `until`.
    """
    worker = state.workers[w]
    older, own = worker.chain[:-1], worker.chain[-1]
    since = sent_up_to(older)
    if not setup.holds(Rule.WINDOW_FROM_SENT_RUNS):
        since = claimed_up_to(older)
    if not setup.holds(Rule.SINCE_AT_EACH_ATTEMPT):
        first = since_of(own)
        since = since if first is None else first
    since = max(since, _given_up_to(worker, setup))
    until = until_of(own)
    if until is None:
        lag = 0 if setup.holds(Rule.SETTLE_LAG) or state.stored == setup.events else 1
        until = max(since, state.stored + lag)
    stored = events_in(0, state.stored) & ~retracted(state, setup)
    events = events_in(since, until) & stored
    at, outcome = (At.STOPS, "") if events else (At.END, "empty")
    worker = worker._replace(at=at, since=since, until=until, events=events, outcome=outcome)
    label = (
        "worker {} reads the events of run {} in ({}, {}]",
        w,
        worker.run,
        since - 1,
        until - 1,
    )
    after = with_worker(state, w, worker)
    if at is At.STOPS and setup.halt is Halt.NOTHING:
        _, after = _look_for_stops(after, w, setup)
    return label, after


def _given_up_to(worker: Worker, setup: Setup) -> int:
    """Return the end of the events with two unknown attempts, which get no third (rule 9)."""
    return given_up_to(worker.chain) if setup.holds(Rule.TWO_UNKNOWN) else 0


def _look_for_stops(state: State, w: int, setup: Setup) -> Step:
    worker = state.workers[w]._replace(seen=shown_of_stop(state, setup))
    outcome = ""
    if setup.halt is Halt.CHOICE:
        worker = _routed_again(worker, setup)
        if not worker.events:
            outcome = "empty"
    elif state.stop:
        if setup.halt is Halt.SUBSCRIBER:
            outcome = "unsubscribed"
        elif setup.halt is Halt.BATCH and worker.run == BATCH:
            outcome = "batch_cancelled"
    if outcome:
        worker = worker._replace(at=At.END, outcome=outcome)
    elif setup.holds(Rule.ONE_TRANSACTION) or not any(
        is_to_be_carried(read, worker.since) for read in worker.chain[:-1]
    ):
        worker = worker._replace(at=At.CLAIM)
    else:
        worker = worker._replace(at=At.CLOSE)
    return ("worker {} looks for stops before run {}", w, worker.run), with_worker(state, w, worker)


def _routed_again(worker: Worker, setup: Setup) -> Worker:
    """Remove muted events from the window after a choice (rule 15).

    Events that may have been sent stay with their run or its successor.
    """
    if any(run_of(each).uncertain for each in worker.chain):
        return worker._replace(is_spared=True)
    if worker.seen < MARKED or not setup.holds(Rule.ROUTED_AGAIN):
        return worker
    return worker._replace(events=worker.events & ~RETRACTED)


def _end(state: State, w: int) -> Step:
    worker = state.workers[w]
    index = worker.run
    runs = list(state.runs)
    first = index - len(worker.chain) + 1
    overtaken = ("worker {} is overtaken before it ends run {}", w, index)
    if worker.outcome == "empty":
        for position, read in enumerate(worker.chain[:-1]):
            if not is_to_be_carried(read, worker.since):
                continue
            given_up = decided(read, runs[first + position], GiveUp())
            if given_up is None:
                return overtaken, idle(state, w)._replace(runs=tuple(runs))
            if given_up != read:
                runs[first + position] = given_up
    own, signal = worker.chain[-1], _ENDS[worker.outcome]
    if worker.outcome == "batch_cancelled":
        runs[index], told = applied(own, runs[index], signal)
    else:
        found = decided(own, runs[index], signal)
        if found is None:
            return overtaken, idle(state, w)._replace(runs=tuple(runs))
        runs[index] = told = found
    after = idle(state, w)._replace(runs=tuple(runs))
    if is_final(told):
        after = unqueued(after, index)
    return (f"worker {{}} ends run {{}} as {worker.outcome}", w, index), after
