"""The move or restamp of an event, under the guard of steps/routing/move.py."""

from collections.abc import Iterator

from proofs.arming.numbered import ABSENT, NO_RUN, possibly_sent_up_to, run_of, sequence_of
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
    done,
    gone,
    with_event,
    with_worker,
)
from proofs.arming.writing import again, with_epochs_raised, with_row


def changes_of_mind(state: State, setup: Setup) -> Iterator[Step]:
    """Yield changes of preferences that move an event to this schedule or the other."""
    for number, event in enumerate(state.events):
        is_held = any(each.kind is Kind.MOVER and each.number == number for each in state.workers)
        if event.to is Place.NOWHERE or not event.is_known or is_held or state.now > setup.hasty:
            continue
        words = f"a reader wants event {{}} {event.to}"
        yield (words, number), begun(state, Worker(Kind.MOVER, At.FIND, number))


def moving(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Yield every next step of a worker that moves an event. `storing` covers its death."""
    match state.workers[w].kind, state.workers[w].at:
        case Kind.MOVER, At.FIND:
            yield _find(state, w, setup)
        case Kind.MOVER, At.CHAIN:
            yield _prepare(state, w)
        case _, At.MOVE:
            yield _move(state, w, setup)


def _find(state: State, w: int, setup: Setup) -> Step:
    worker = state.workers[w]
    event = state.events[worker.number]
    label = ("the mover of event {} reads event and row", worker.number)
    if event.place is event.to is Place.HERE and setup.holds(Rule.ARM_AGAIN):
        return label, with_worker(state, w, worker._replace(at=At.READ))
    if event.place is event.to or event.mails & 2:
        return label, done(gone(state, w), worker)
    return label, with_worker(state, w, worker._replace(at=At.CHAIN, row=state.row))


def _prepare(state: State, w: int) -> Step:
    """Read the runs after the row. Events that may have been sent do not move."""
    worker = state.workers[w]
    event = state.events[worker.number]
    label = ("the mover of event {} reads the runs", worker.number)
    if event.place is Place.HERE and event.stamp <= possibly_sent_up_to(state.runs):
        return label, done(gone(state, w), worker)
    if not worker.is_current and worker.row != ABSENT:
        return label, with_worker(state, w, Worker(Kind.MOVER, At.FIND, worker.number))
    stamped = state._replace(stamp=state.stamp + 1)
    after = worker._replace(
        at=At.MOVE,
        is_current=True,
        stamp=stamped.stamp,
        runs=state.runs,
        is_again=event.place is Place.HERE,
    )
    return label, with_worker(stamped, w, after)


def _move(state: State, w: int, setup: Setup) -> Step:
    """Move the event in one transaction. `writing` handles the conditions on row and epochs.

    `is_again` is True if the event was already here when it was read.
    """
    worker = state.workers[w]
    event = state.events[worker.number]
    others = gone(state, w)
    to = event.to if worker.kind is Kind.MOVER else Place.HERE
    sequence = max(sequence_of(worker.row), len(worker.runs) + 1)
    is_started = any(run != NO_RUN for run in state.runs[sequence - 1 : sequence])
    is_settled = any(
        read != NO_RUN and read != now and not run_of(read).status.is_final
        for read, now in zip(worker.runs, state.runs, strict=False)
    )
    is_elsewhere = (event.place is Place.HERE) is not worker.is_again or bool(event.mails & 2)
    if is_elsewhere or is_started or is_settled:
        found = again(worker, setup)
        assert found is not None
        label = ("the transaction for event {} fails", worker.number)
        return label, begun(others, found)
    after = with_epochs_raised(others, setup)
    if worker.row != ABSENT:
        after = with_row(after, state.row, setup)
    stamp = worker.stamp if to is Place.HERE else 0
    after = with_event(after, worker.number, event._replace(place=to, stamp=stamp))
    words = f"event {{}} is moved {to}" if worker.kind is Kind.MOVER else "event {} is stamped anew"
    if to is Place.AWAY:
        return (words, worker.number), done(after, worker)
    reading = Worker(worker.kind, At.READ, worker.number)
    return (words, worker.number), begun(after, reading)
