"""Workers that store or move an event here and then arm the row (rules A1 and A2)."""

from collections.abc import Iterator

from gazette.domain.model import ScheduleState

from proofs.arming.numbered import armed, created, listed_at, possibly_sent_up_to, state_of
from proofs.arming.state import (
    At,
    Event,
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
    workers_of,
)
from proofs.arming.writing import with_epochs_raised, with_row


def messages(state: State, setup: Setup) -> Iterator[Step]:
    """Yield the receipt of an event's message, the first or a repeated one."""
    if state.now > setup.hasty:
        return
    for number, event in enumerate(state.events):
        is_held = any(each.kind is Kind.INGEST and each.number == number for each in state.workers)
        if event.is_asked and workers_of(state, Kind.INGEST) < setup.ingests:
            if not is_held:
                yield _take(state, number, setup)
            elif state.repeats:
                yield _take(state._replace(repeats=state.repeats - 1), number, setup)
        if state.repeats and not event.is_asked and event.is_known:
            fewer = state._replace(repeats=state.repeats - 1)
            after = with_event(fewer, number, event._replace(is_asked=True))
            yield ("the message of event {} comes again", number), after


def _take(state: State, number: int, setup: Setup) -> Step:
    event = state.events[number]
    worker = Worker(Kind.INGEST, At.STORE, number)
    if event.place is not Place.NOWHERE:
        if event.place is Place.AWAY or not setup.holds(Rule.ARM_AGAIN):
            label = ("an ingest worker finds event {} stored, and deletes its message", number)
            return label, with_event(state, number, event._replace(is_asked=False))
        label = ("an ingest worker finds event {} stored", number)
        return label, begun(state, worker._replace(at=_after_store(state, event)))
    stamped = state._replace(stamp=state.stamp + 1)
    worker = worker._replace(stamp=stamped.stamp)
    if setup.holds(Rule.STORE_BEFORE_READ):
        label = ("an ingest worker stamps event {}", number)
        return label, begun(stamped, worker)
    label = (f"an ingest worker stamps event {{}} and reads the row: {_named(state)}", number)
    worker = worker._replace(row=state.row, after=_to_write(state, setup), is_again=True)
    return label, begun(stamped, worker)


def ingesting(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Yield every next step of an ingest worker, or of a mover that has moved an event here."""
    worker = state.workers[w]
    if worker.kind not in {Kind.INGEST, Kind.MOVER}:
        return
    if state.deaths:
        words = f"the {worker.kind} worker of event {{}} dies"
        yield (words, worker.number), gone(state, w)._replace(deaths=state.deaths - 1)
    match worker.at:
        case At.STORE:
            yield _store(state, w)
        case At.LATE:
            yield _look_for_late(state, w, setup)
        case At.READ:
            yield _read(state, w, setup)
        case At.ARM:
            yield _arm(state, w, setup)


def _after_store(state: State, event: Event) -> At:
    return At.LATE if event.stamp <= state.settled and not event.mails else At.READ


def _store(state: State, w: int) -> Step:
    worker = state.workers[w]
    event = state.events[worker.number]
    if event.place is Place.NOWHERE:
        event = event._replace(place=Place.HERE, stamp=worker.stamp)
        state = with_event(state, worker.number, event)
    label = ("event {} is stored", worker.number)
    if not worker.is_again:
        after = Worker(Kind.INGEST, _after_store(state, event), worker.number)
        return label, with_worker(state, w, after)
    if worker.after == worker.row:
        return label, done(gone(state, w), worker)
    at = At.ARM if worker.is_current else At.READ
    return label, with_worker(state, w, worker._replace(at=at, stamp=0, is_again=False))


def _look_for_late(state: State, w: int, setup: Setup) -> Step:
    """Write a new stamp if a window passed over the event, else raise the open runs' epochs (rule
    14).
    """
    worker = state.workers[w]
    event = state.events[worker.number]
    others = gone(state, w)
    if event.place is not Place.HERE:
        label = ("event {} has been moved meanwhile", worker.number)
        return label, done(others, worker)
    if event.stamp <= possibly_sent_up_to(state.runs) and not event.mails:
        stamped = state._replace(stamp=state.stamp + 1)
        restamping = worker._replace(
            at=At.MOVE, row=state.row, stamp=stamped.stamp, runs=state.runs, is_again=True
        )
        label = ("event {} was passed over and is to be stamped anew", worker.number)
        return label, with_worker(stamped, w, restamping)
    reading = Worker(Kind.INGEST, At.READ, worker.number)
    label = ("the open runs learn of event {}, which was written late", worker.number)
    return label, begun(with_epochs_raised(others, setup), reading)


def _named(state: State) -> str:
    return state_of(state.row) or "absent"


def _to_write(state: State, setup: Setup) -> int:
    """Return the row to write, or the unchanged row if no write is needed (rule A1)."""
    row = state.row
    match state_of(row):
        case None:
            sequence = len(state.runs) + 1
            return created(ScheduleState.ARMED, now=state.now, sequence=sequence)
        case ScheduleState.IDLE:
            return armed(row, now=state.now)
        case ScheduleState.LEAVING if setup.holds(Rule.ARM_AT_LEAVING):
            return armed(row, now=state.now)
        case _:
            return row


def _read(state: State, w: int, setup: Setup) -> Step:
    worker = state.workers[w]
    after = _to_write(state, setup)
    words = f"the {worker.kind} worker of event {{}} reads the row: {_named(state)}"
    if after == state.row:
        if setup.sunsets and listed_at(state.row) and setup.holds(Rule.ASK_AGAIN):
            asking = Worker(worker.kind, At.PROFILE, worker.number)
            return (words, worker.number), with_worker(state, w, asking)
        return (words, worker.number), done(gone(state, w), worker)
    arming = Worker(worker.kind, At.ARM, worker.number, row=state.row, after=after)
    return (words, worker.number), with_worker(state, w, arming)


def _arm(state: State, w: int, setup: Setup) -> Step:
    worker = state.workers[w]
    after = with_row(gone(state, w), worker.after, setup)
    label = (f"the {worker.kind} worker of event {{}} arms the row", worker.number)
    if setup.sunsets and setup.holds(Rule.ASK_PROFILE):
        return label, begun(after, Worker(worker.kind, At.PROFILE, worker.number))
    return label, done(after, worker)
