"""A fan-out worker, which starts due schedules or makes them idle (rules A3 to A6)."""

from collections.abc import Iterator

from gazette.domain.delivery.run import Reason, Status
from gazette.domain.model import ScheduleState

from proofs.arming.numbered import (
    NO_RUN,
    advanced,
    has_open,
    idle,
    is_spent,
    leaving,
    listed_at,
    next_of,
    occurrence_of_run,
    renumbered,
    sequence_of,
    settled_up_to,
    started,
    state_of,
)
from proofs.arming.state import (
    At,
    Kind,
    Place,
    Rule,
    Setup,
    State,
    Step,
    Worker,
    begun,
    gone,
    with_run,
    with_worker,
    workers_of,
)
from proofs.arming.writing import again, with_row

_WRITES = {
    At.ADVANCE: (advanced, "starts the occurrence after it"),
    At.FLAG: (leaving, "flags the row"),
    At.RENUMBER: (renumbered, "takes the next number"),
    At.PASS: (advanced, "passes the occurrence"),
}


def is_due(state: State) -> bool:
    """Return True if fan-out would start the schedule or make it idle, if it read the row now."""
    return 0 < listed_at(state.row) <= state.now


def is_found(state: State, setup: Setup) -> bool:
    """Return True if a tick reads the slot under which the index shows the row.

    Without A5 it reads only the last slots, which later contain only later occurrences.
    """
    if not 0 < state.shown <= state.now:
        return False
    is_last = state.shown == state.now and not state.is_behind
    return is_last or setup.holds(Rule.LOOK_BACK)


def ticks(state: State, setup: Setup) -> Iterator[Step]:
    """Yield the start of a worker that finds the key in the index. It ignores a row that is not
    due.
    """
    if not is_found(state, setup) or not is_due(state):
        return
    if workers_of(state, Kind.FANOUT) < setup.fanouts:
        label = (f"fan-out finds the row in the index and reads it: {state_of(state.row)}",)
        yield label, begun(state, _reading(state, setup))


def _reading(state: State, setup: Setup) -> Worker:
    return Worker(Kind.FANOUT, _look(setup), row=state.row)


def _look(setup: Setup) -> At:
    return At.CHAIN if setup.holds(Rule.CHAIN_FIRST) else At.EVENTS


def fanning_out(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Yield every next step of a fan-out worker."""
    worker = state.workers[w]
    if worker.kind is not Kind.FANOUT:
        return
    if state.deaths:
        yield ("fan-out dies",), gone(state, w)._replace(deaths=state.deaths - 1)
    match worker.at:
        case At.FIND:
            yield _find(state, w, setup)
        case At.CHAIN:
            yield _read_chain(state, w, setup)
        case At.EVENTS:
            yield _read_events(state, w, setup)
            yield from _ask(state, w, setup)
        case At.START:
            yield _start(state, w, setup)
        case At.SPEND:
            yield _spend(state, w, setup)
        case At.LEAVE:
            yield _leave(state, w, setup)
        case At.ADVANCE | At.FLAG | At.RENUMBER | At.PASS:
            yield _write(state, w, setup)


def _find(state: State, w: int, setup: Setup) -> Step:
    label = (f"fan-out reads the row again: {state_of(state.row)}",)
    if is_due(state):
        return label, with_worker(state, w, _reading(state, setup))
    return label, gone(state, w)


def _to(state: State, w: int, worker: Worker, at: At, setup: Setup) -> State:
    """Return the state with the worker at its next call. If that is a write that must fail, treat
    it as overtaken.

    Discard the events that it has read.
    """
    forgetful = worker._replace(at=at, since=0, stamp=0)
    is_write = at in _WRITES or at is At.LEAVE
    found = again(forgetful, setup) if is_write and not worker.is_current else forgetful
    return with_worker(state, w, found) if found else gone(state, w)


def _read_chain(state: State, w: int, setup: Setup) -> Step:
    worker = state.workers[w]
    label = ("fan-out reads the runs",)
    since = settled_up_to(state.runs)
    if has_open(state.runs) or (not setup.holds(Rule.CHAIN_FIRST) and worker.stamp > since):
        return label, _to(state, w, worker, At.START, setup)
    if setup.holds(Rule.CHAIN_FIRST):
        return label, with_worker(state, w, worker._replace(at=At.EVENTS, since=since))
    return label, _nothing_waits(state, w, worker, setup)


def _read_events(state: State, w: int, setup: Setup) -> Step:
    worker = state.workers[w]
    until = state.stamp if setup.holds(Rule.NO_UPPER_END) else state.settled
    stamps = [event.stamp for event in state.events if event.place is Place.HERE]
    newest = max((stamp for stamp in stamps if stamp <= until), default=0)
    found = "something waits" if newest > worker.since else "no event waits"
    if not setup.holds(Rule.CHAIN_FIRST):
        label = ("fan-out reads the events",)
        return label, with_worker(state, w, worker._replace(at=At.CHAIN, stamp=newest))
    label = (f"fan-out reads the events: {found}",)
    if newest > worker.since:
        return label, _to(state, w, worker, At.START, setup)
    return label, _nothing_waits(state, w, worker, setup)


def _ask(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Start a run without waiting events, because the content was not fetched
    for the occurrence.
    """
    worker = state.workers[w]
    is_missed = next_of(advanced(worker.row)) <= state.now
    waits = any(each.place is Place.HERE and each.stamp > worker.since for each in state.events)
    if setup.asks and state.unfetched and not is_missed and not waits:
        label = ("fan-out reads the events: no event waits, and no content was fetched",)
        asked = state._replace(unfetched=state.unfetched - 1)
        yield label, _to(asked, w, worker, At.START, setup)


def _nothing_waits(state: State, w: int, worker: Worker, setup: Setup) -> State:
    """Flag the row, look again, use up the number, and make the schedule idle (rule A3).

    A row with a content source stays in the index. It uses up its number and passes the occurrence.
    """
    if setup.asks:
        at = At.SPEND if setup.holds(Rule.SPENT_NUMBER) else At.PASS
        return _to(state, w, worker, at, setup)
    is_flagged = state_of(worker.row) is ScheduleState.LEAVING
    if not setup.holds(Rule.FLAG) or worker.is_again:
        is_looked_at = True
    else:
        is_looked_at = is_flagged and not setup.holds(Rule.ADOPTED_LOOK)
    if is_looked_at:
        at = At.SPEND if setup.holds(Rule.SPENT_NUMBER) else At.LEAVE
        return _to(state, w, worker._replace(is_again=False), at, setup)
    if is_flagged:
        return _to(state, w, worker._replace(is_again=True), _look(setup), setup)
    return _to(state, w, worker, At.FLAG, setup)


def _run_at(state: State, sequence: int) -> int:
    return state.runs[sequence - 1] if sequence <= len(state.runs) else NO_RUN


def _start(state: State, w: int, setup: Setup) -> Step:
    """Create the run if it is absent. Its message is queued then, or later by the sweep."""
    worker = state.workers[w]
    sequence, due = sequence_of(worker.row), next_of(worker.row)
    found = _run_at(state, sequence)
    label: tuple[object, ...] = ("fan-out finds run {} started", sequence - 1)
    if found == NO_RUN:
        run = started(sequence, due, Status.PENDING, Reason.DUE)
        label = ("fan-out starts run {}", sequence - 1)
        if next_of(advanced(worker.row)) <= state.now:
            run = started(sequence, due, Status.SKIPPED, Reason.TOO_LATE)
            label = ("fan-out ends run {}: the next occurrence is due as well", sequence - 1)
        else:
            state = state._replace(fault=_what_is_wrong(state, sequence, due, setup))
        state = with_run(state, sequence - 1, run)
    elif is_spent(found) or occurrence_of_run(found) != due:
        label = ("fan-out finds that run {} is not that of this occurrence", sequence - 1)
        return label, _to(state, w, worker, At.RENUMBER, setup)
    return label, _to(state, w, worker, At.ADVANCE, setup)


def _what_is_wrong(state: State, sequence: int, due: int, setup: Setup) -> str:
    """Return why no run may start for an occurrence that has not been missed.

    A reader who returns is armed for a later occurrence, so a row with a later due time was passed
    only in searches without dormancy.
    """
    is_left = state_of(state.row) is ScheduleState.IDLE and next_of(state.row) == due
    if is_left and setup.idle_is_final:
        return f"idle: run {sequence} is started for an occurrence without waiting events"
    is_passed = state_of(state.row) is ScheduleState.ARMED and next_of(state.row) > due
    if setup.asks and is_passed and not setup.sunsets:
        return f"passed: run {sequence} is started for an occurrence without new content"
    for run in state.runs:
        if run != NO_RUN and occurrence_of_run(run) == due and not is_spent(run):
            return f"rule 18: run {sequence} is the second of one occurrence"
    return state.fault


def _spend(state: State, w: int, setup: Setup) -> Step:
    worker = state.workers[w]
    sequence, due = sequence_of(worker.row), next_of(worker.row)
    found = _run_at(state, sequence)
    leaves = At.PASS if setup.asks else At.LEAVE
    if found == NO_RUN:
        run = started(sequence, due, Status.SKIPPED, Reason.NOTHING_WAITED)
        after = with_run(state, sequence - 1, run)
        label = ("fan-out spends number {} on an ended run", sequence - 1)
        return label, _to(after, w, worker, leaves, setup)
    label = ("fan-out finds run {} where it would spend its number", sequence - 1)
    if is_spent(found) and occurrence_of_run(found) == due:
        return label, _to(state, w, worker, leaves, setup)
    if occurrence_of_run(found) == due and setup.holds(Rule.FOUND_RUN_COUNTS):
        return label, _to(state, w, worker, At.ADVANCE, setup)
    return label, _to(state, w, worker, At.RENUMBER, setup)


def _leave(state: State, w: int, setup: Setup) -> Step:
    keeps = not setup.holds(Rule.LATER_NUMBER)
    row = idle(state.workers[w].row, keeps_sequence=keeps)
    return ("fan-out takes the row out of the index",), with_row(gone(state, w), row, setup)


def _write(state: State, w: int, setup: Setup) -> Step:
    worker = state.workers[w]
    change, words = _WRITES[worker.at]
    row = change(worker.row)
    after = with_row(gone(state, w), row, setup)
    label = (f"fan-out {words}",)
    if worker.at is At.FLAG:
        at = _look(setup) if setup.holds(Rule.SECOND_LOOK) else At.SPEND
        if at is At.SPEND and not setup.holds(Rule.SPENT_NUMBER):
            at = At.LEAVE
        return label, begun(after, worker._replace(at=at, row=row, is_again=True))
    if is_due(after):
        return label, begun(after, Worker(Kind.FANOUT, At.FIND))
    return label, after
