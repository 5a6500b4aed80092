"""The messages about the bodies, and the workers that process them."""

from collections.abc import Iterator

from proofs.happening.rows import COMMENT, DAILY, NOW, body_of, changed, settled
from proofs.happening.state import (
    At,
    Choices,
    Message,
    Row,
    Rule,
    Setup,
    State,
    Step,
    Worker,
    begun,
    gone,
    with_worker,
)
from proofs.happening.writing import (
    is_as_read,
    needs_guard,
    settle_row,
    with_epochs_raised,
    with_reader_changed,
    with_row,
    with_run,
)

_STOPS = {Message.RETRACT_COMMENT, Message.RETRACT_MENTION, Message.MUTE, Message.UNFOLLOW}
_REMOVALS = {Message.RETRACT_COMMENT, Message.RETRACT_MENTION}
_CHANGES = {Message.MUTE, Message.UNFOLLOW}
_TASKS = set(Message)


def messages(state: State, setup: Setup) -> Iterator[Step]:
    """Yield the delivery of each message to a worker."""
    busy = [worker.task for worker in state.workers if worker.task in _TASKS]
    if len(busy) >= setup.workers:
        return
    for number, message in enumerate(setup.messages):
        is_repeat = state.messages[number] == 1 or message in busy
        if is_repeat and not state.repeats:
            continue
        after = state._replace(repeats=state.repeats - is_repeat)
        label = (f"the {message} is delivered{' again' if is_repeat else ''}",)
        yield label, begun(after, Worker(message, _first_call(message, setup)))


def _first_call(message: Message, setup: Setup) -> At:
    if message in _CHANGES or message is Message.RETRACT_COMMENT:
        return At.WRITE_CHOICE
    if message is Message.RETRACT_MENTION:
        return At.TRACE
    if message is Message.MENTION and not setup.holds(Rule.WITH_POINTER):
        return At.POINTER
    return At.INPUTS


def routing(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Yield every next step of a worker that processes a message."""
    worker = state.workers[w]
    if worker.task not in _TASKS:
        return
    if state.deaths:
        label = (f"the worker of the {worker.task} dies",)
        yield label, gone(state, w)._replace(deaths=state.deaths - 1)
    words, after = _next(state, w, setup)
    yield (f"{worker.task}: {words}",), after


def _next(state: State, w: int, setup: Setup) -> tuple[str, State]:
    worker = state.workers[w]
    match worker.at:
        case At.WRITE_CHOICE:
            return _write_choice(state, w)
        case At.MARK:
            marked = with_reader_changed(state._replace(is_marked=True))
            if worker.task == Message.MUTE:
                return "stores routes_since, and is acknowledged", _done(marked, w, setup)
            return "stores routes_since", _at(marked, w, At.INPUTS)
        case At.POINTER:
            if state.pointer == "trace":
                return "its id was retracted", _done(state, w, setup)
            return "writes the pointer", _at(state._replace(pointer="body"), w, At.INPUTS)
        case At.TRACE:
            return _write_trace(state, w, setup)
        case At.INPUTS:
            reading = worker._replace(at=At.READ, seen=state.choices)
            return "reads choices and follows", with_worker(state, w, reading)
        case At.READ:
            return _read(state, w, setup)
        case At.GUARD:
            return _guard(state, w, setup)
        case At.WRITE:
            return _write(state, w, setup)
        case At.EPOCHS:
            place = worker.after.place if worker.after else ""
            return "raises the epochs", _at(with_epochs_raised(state, place), w, At.SETTLE)
        case At.SETTLE:
            return _settle(state, w, setup)
        case _:
            return _again(state, w, setup)


def _at(state: State, w: int, at: At) -> State:
    return with_worker(state, w, state.workers[w]._replace(at=at))


def _done(state: State, w: int, setup: Setup) -> State:
    """Return the state in which the message of a worker is acknowledged."""
    number = setup.messages.index(Message(state.workers[w].task))
    acknowledged = (*state.messages[:number], 1, *state.messages[number + 1 :])
    return gone(state, w)._replace(messages=acknowledged)


def _write_trace(state: State, w: int, setup: Setup) -> tuple[str, State]:
    """Replace the pointer with the trace of the retraction, before the body is removed."""
    if state.pointer == "trace" and not setup.holds(Rule.REMOVED_AGAIN):
        return "finds the trace", _done(state, w, setup)
    return "writes the trace", _at(state._replace(pointer="trace"), w, At.INPUTS)


def _write_choice(state: State, w: int) -> tuple[str, State]:
    match state.workers[w].task:
        case Message.MUTE:
            after = with_reader_changed(
                state._replace(choices=state.choices._replace(is_muted=True))
            )
            return "writes the choice", _at(after, w, At.INPUTS)
        case Message.UNFOLLOW:
            after = state._replace(choices=state.choices._replace(is_unfollowed=True))
            return "writes the follow", _at(after, w, At.MARK)
        case _:
            return "writes the activity", _at(state._replace(is_retracted=True), w, At.INPUTS)


def _read(state: State, w: int, setup: Setup) -> tuple[str, State]:
    """Read the row and, for a message of the mention, its pointer. Store a new comment at once."""
    worker = state.workers[w]._replace(row=state.row, pointer=state.pointer, is_guarded=False)
    is_of_mention = worker.task in {Message.MENTION, Message.RETRACT_MENTION}
    if is_of_mention and setup.critical and setup.holds(Rule.CRITICAL_ALONE):
        return _route_alone(state, w, setup)
    words = f"reads the row: {_named(state.row)}"
    if worker.task == Message.MENTION and state.pointer == "trace":
        return f"{words}; its id was retracted", _done(state, w, setup)
    is_waiting = state.row is not None and bool(state.row.shown) and state.row.place == DAILY
    if worker.task in _CHANGES and not is_waiting:
        return f"{words}; none waits for a digest", _at(state, w, At.AGAIN)
    if state.row and state.row.retracted == COMMENT == body_of(worker.task):
        worker = worker._replace(after=state.row)
        return f"{words}; it was retracted", with_worker(state, w, worker._replace(at=At.EPOCHS))
    worker = worker._replace(after=_intended(worker, setup, stays=False))
    if worker.task == Message.COMMENT and state.row is None and worker.after:
        stored = with_row(state, None, worker.after, setup)
        return "stores the row", with_worker(stored, w, worker._replace(at=At.SETTLE, wrote=True))
    return words, with_worker(state, w, worker._replace(at=_after_read(worker, setup)))


def _after_read(worker: Worker, setup: Setup) -> At:
    """Return the next call of a worker that has decided what to write."""
    before, after = worker.row, worker.after
    is_pointer_written = worker.task == Message.MENTION and not worker.pointer
    if needs_guard(before, after, setup):
        return At.GUARD
    if before != after or is_pointer_written:
        return At.WRITE
    is_retraction = worker.task in _REMOVALS or worker.removes
    is_repeat = is_retraction or worker.task == Message.MENTION or bool(before and before.others)
    return At.EPOCHS if before and is_repeat else At.SETTLE


def _intended(worker: Worker, setup: Setup, *, stays: bool) -> Row | None:
    """Return the row that the worker would write."""
    row, task = worker.row, worker.task
    before = row.bodies if row else frozenset[str]()
    removes = task in _REMOVALS or worker.removes
    name = body_of(task)
    if removes and name not in before and not worker.wrote:
        return row
    if removes and name == COMMENT and not setup.holds(Rule.ONLY_ITS_BODY):
        return _mark(row, COMMENT)
    after = changed(before, task, removes=removes)
    result = settled(after, worker.seen, setup, row, stays=stays)
    if result is None and row and removes:
        return _mark(row, name)
    return row if result is None and (stays or not before) else result


def _mark(row: Row | None, name: str) -> Row | None:
    """Return the row without bodies, which keeps its place."""
    return row and row._replace(shown="", others=(), retracted=name)


def _guard(state: State, w: int, setup: Setup) -> tuple[str, State]:
    """Read the runs of both places. A row that may have been sent stays in its place."""
    worker = state.workers[w]
    row = worker.row
    is_same = state.row is not None and row is not None and state.row.stamp == row.stamp
    if is_same and state.attempt and setup.holds(Rule.SENT_STAYS):
        after = _intended(worker, setup, stays=True)
        at = At.WRITE if after != row or worker.task in _TASKS - _CHANGES else At.AGAIN
        staying = worker._replace(at=at, after=after, is_guarded=False)
        return "finds that the row may have been sent", with_worker(state, w, staying)
    if worker.after and worker.after.place == NOW:
        state = with_run(state, NOW)
    guarded = worker._replace(at=At.WRITE, is_guarded=True)
    return "reads the runs", with_worker(state, w, guarded)


def _write(state: State, w: int, setup: Setup) -> tuple[str, State]:
    worker = state.workers[w]
    before, after = worker.row, worker.after
    is_changed = (
        not is_as_read(state, worker, setup)
        or (needs_guard(before, after, setup) and not worker.is_guarded)
        or (worker.task == Message.MENTION and not _is_pointer_as_read(state, worker, setup))
    )
    if is_changed:
        return "finds that the row has changed", _at(state, w, At.INPUTS)
    written = with_row(state, before, after, setup)
    if worker.task == Message.MENTION and (setup.holds(Rule.WITH_POINTER)):
        written = written._replace(pointer="body" if after != before else state.pointer)
    is_in_place = bool(before and after and before.stamp == after.stamp)
    at = At.EPOCHS if is_in_place else At.SETTLE
    if at is At.EPOCHS and not setup.holds(Rule.EPOCHS_RAISED):
        at = At.SETTLE
    return f"writes the row: {_named(after)}", with_worker(
        written, w, worker._replace(at=at, wrote=True)
    )


def _is_pointer_as_read(state: State, worker: Worker, setup: Setup) -> bool:
    return state.pointer == worker.pointer or not setup.holds(Rule.WITH_POINTER)


def _settle(state: State, w: int, setup: Setup) -> tuple[str, State]:
    """Arm the schedule under which the row waits, or start its run."""
    worker = state.workers[w]
    is_omitted = (worker.task in _STOPS and not setup.holds(Rule.ARM_AFTER_STOP)) or (
        not worker.wrote and not setup.holds(Rule.ARM_AGAIN)
    )
    row = worker.after
    if is_omitted or row is None or not row.shown:
        return "has no run to start", _at(state, w, At.AGAIN)
    return "arms the schedule or starts the run", _at(settle_row(state, row), w, At.AGAIN)


def _again(state: State, w: int, setup: Setup) -> tuple[str, State]:
    """Read choices, follows and the activity again."""
    worker = state.workers[w]
    if worker.task == Message.COMMENT and state.is_retracted and not worker.removes:
        removing = worker._replace(at=At.INPUTS, removes=True, wrote=False)
        return "reads the activity again: retracted", with_worker(state, w, removing)
    if setup.holds(Rule.READ_AGAIN) and _decides_otherwise(worker, state.choices):
        return "reads choices and follows again: changed", _at(state, w, At.INPUTS)
    if worker.task == Message.MUTE:
        return "reads choices and follows again", _at(state, w, At.MARK)
    return "reads choices and follows again, and is acknowledged", _done(state, w, setup)


def _decides_otherwise(worker: Worker, choices: Choices) -> bool:
    """Return True if choices or follows have changed since the worker read them.

    A mention has no follow, and its worker does not read the follows of the other bodies again.
    The worker that changes them finds the row, or a run routes it again. A retraction can move the
    row from a thread to a digest behind a change, so its worker reads all of them again.
    """
    if worker.task == Message.MENTION:
        return worker.seen.is_muted != choices.is_muted
    return worker.seen != choices


def _route_alone(state: State, w: int, setup: Setup) -> tuple[str, State]:
    """Store or retract a critical mention in a row of its own, as today."""
    if state.workers[w].task == Message.RETRACT_MENTION:
        alone = "trace" if state.critical_row != "sent" else "sent"
        return "retracts its own row", _done(state._replace(critical_row=alone), w, setup)
    alone = state.critical_row or "now"
    return "stores a row of its own", _done(state._replace(critical_row=alone), w, setup)


def _named(row: Row | None) -> str:
    if row is None:
        return "absent"
    if not row.shown:
        return f"a mark of {row.retracted}"
    return f"{row.shown} of {''.join(sorted(row.bodies))} {row.place}"
