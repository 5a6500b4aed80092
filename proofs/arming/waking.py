"""Rows of a reader who becomes dormant and returns: withdrawn as read, armed without reading (A8).

A new row is created idle, by the profile or on the return. The worker that stores an event under it
arms it. An idle row therefore stays idle when the reader leaves or returns.
"""

from collections.abc import Iterator

from gazette.domain.model import ScheduleState

from proofs.arming.numbered import (
    ABSENT,
    armed,
    created,
    has_open,
    idle,
    listed_at,
    settled_up_to,
    state_of,
    withdrawn,
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
    done,
    gone,
    with_worker,
)
from proofs.arming.writing import with_row


def signs_of_life(state: State, setup: Setup) -> Iterator[Step]:
    """Yield a published profile, and the reader's dormancy and return."""
    if state.now > setup.hasty:
        return
    if state.births:
        put = begun(state._replace(births=state.births - 1), Worker(Kind.PROFILE, At.READ))
        yield ("a profile is published",), put
    if state.sunsets and not state.is_dormant:
        dormant = state._replace(is_dormant=True, sunsets=state.sunsets - 1)
        yield ("the reader is written to be dormant",), begun(dormant, Worker(Kind.SUNSET, At.ROWS))
    if state.wakes and state.is_dormant:
        woken = begun(state._replace(wakes=state.wakes - 1), Worker(Kind.WAKER, At.READ))
        if setup.holds(Rule.STATUS_FIRST):
            yield ("the reader is written to be back",), woken._replace(is_dormant=False)
        else:
            yield ("the reader is back",), woken


def waking(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Yield every next step of a worker that creates, withdraws or arms rows."""
    worker = state.workers[w]
    if worker.kind in {Kind.PROFILE, Kind.SUNSET, Kind.WAKER} and state.deaths:
        fewer = state._replace(deaths=state.deaths - 1)
        at = At.ROWS if worker.kind is Kind.SUNSET else At.READ
        label = (f"the {worker.kind} worker dies, and its message comes again",)
        yield label, with_worker(fewer, w, Worker(worker.kind, at))
    match worker.kind, worker.at:
        case Kind.PROFILE, At.READ:
            yield _read_for_birth(state, w, setup)
        case Kind.PROFILE, At.ARM:
            born = with_row(gone(state, w), worker.after, setup)
            yield (f"the profile worker writes the row: {state_of(worker.after)}",), born
        case Kind.WAKER, At.READ:
            yield _read(state, w, setup)
        case Kind.WAKER, At.ARM:
            after = with_row(gone(state, w), worker.after, setup)
            at = At.PROFILE if setup.holds(Rule.STATUS_FIRST) else At.STATUS
            label = (f"the waker writes the row: {state_of(worker.after)}",)
            yield label, begun(after, Worker(Kind.WAKER, at))
        case _, At.STATUS:
            back = state._replace(is_dormant=False)
            yield (
                ("the reader is written to be back",),
                with_worker(back, w, worker._replace(at=At.PROFILE)),
            )
        case _, At.PROFILE:
            yield _ask(state, w, At.ROWS)
        case _, At.ROWS:
            reading = worker._replace(at=At.ASK, row=state.row, is_current=True)
            label = (f"the {worker.kind} worker reads the rows: {_named(state)}",)
            yield label, with_worker(state, w, reading)
        case _, At.ASK:
            yield _ask(state, w, At.WITHDRAW)
        case _, At.WITHDRAW:
            after = with_row(gone(state, w), withdrawn(worker.row), setup)
            yield (f"the {worker.kind} worker withdraws the row",), done(after, worker)


def _named(state: State) -> str:
    return state_of(state.row) or "absent"


def _ask(state: State, w: int, at: At) -> Step:
    """Read the profile. Withdraw listed rows if the reader is dormant."""
    worker = state.workers[w]
    label = (f"the {worker.kind} worker reads the profile",)
    is_listed = at is At.ROWS or listed_at(worker.row) > 0
    if not state.is_dormant or not is_listed:
        return label, done(gone(state, w), worker)
    if not worker.is_current:
        at = At.ROWS
    return label, with_worker(state, w, worker._replace(at=at))


def _read(state: State, w: int, setup: Setup) -> Step:
    row = state.row
    found = state_of(row)
    label = (f"the waker reads the row: {_named(state)}",)
    after = ABSENT
    if found is None:
        after = _born(state, setup)
    elif found is ScheduleState.WITHDRAWN:
        after = armed(row, now=state.now)
        if not setup.holds(Rule.WAKE_UNSEEN) and not _waits(state):
            label = (f"the waker reads the row: {_named(state)}; it looks, and no event waits",)
            after = idle(row, keeps_sequence=True)
    elif found is not ScheduleState.IDLE and setup.holds(Rule.WAKE_WRITES):
        after = armed(row, now=state.now)
    if after == ABSENT:
        at = At.PROFILE if setup.holds(Rule.STATUS_FIRST) else At.STATUS
        return label, with_worker(state, w, Worker(Kind.WAKER, at))
    return label, with_worker(state, w, Worker(Kind.WAKER, At.ARM, row=row, after=after))


def _read_for_birth(state: State, w: int, setup: Setup) -> Step:
    label = (f"the profile worker reads the row: {_named(state)}",)
    if state.row != ABSENT:
        return label, gone(state, w)
    return label, with_worker(state, w, Worker(Kind.PROFILE, At.ARM, after=_born(state, setup)))


def _born(state: State, setup: Setup) -> int:
    born = ScheduleState.ARMED if setup.asks else ScheduleState.IDLE
    return created(born, now=state.now, sequence=len(state.runs) + 1)


def _waits(state: State) -> bool:
    since = settled_up_to(state.runs)
    return has_open(state.runs) or any(
        event.place is Place.HERE and event.stamp > since for event in state.events
    )
