"""Writes to the row, the runs and the schedule, and the reads that they make outdated."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from gazette.domain.model import Schedule, ScheduleState
from gazette.domain.scheduling.calendar import Recurrence

from proofs.happening.rows import DAILY, NOW
from proofs.happening.state import Row, Rule, Setup, State, Worker

_BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
_SCHEDULE = Schedule("ann", DAILY, Recurrence(8, 0, "UTC"), _BEGINNING, 1, 1, _BEGINNING)


@cache
def _moved(state: ScheduleState, step: str) -> ScheduleState:
    """Return the state of a schedule after one of its own transitions."""
    schedule = replace(_SCHEDULE, state=state)
    match step:
        case "arm":
            return schedule.armed(_BEGINNING).state
        case "flag":
            return schedule.leaving().state
        case _:
            return schedule.idle().state


def with_schedule(state: State, step: str) -> State:
    """Return the state after a write of the schedule. Guards with its revision fail from now on."""
    moved = _moved(state.schedule, step)
    if moved is state.schedule:
        return state
    return unguarded(state._replace(schedule=moved))


def with_run(state: State, place: str) -> State:
    """Return the state with an open run of the place."""
    if place in state.runs:
        return state
    return state._replace(runs=tuple(sorted((*state.runs, place))))


def unguarded(state: State) -> State:
    """Return the state in which every guard that was read is outdated."""
    if not any(worker.is_guarded for worker in state.workers):
        return state
    workers = tuple(worker._replace(is_guarded=False) for worker in state.workers)
    return state._replace(workers=workers)


def with_epochs_raised(state: State, *places: str) -> State:
    """Return the state in which claims based on earlier reads of these places fail."""
    workers = tuple(
        worker._replace(is_fresh=False)
        if worker.place in places or (worker.task == "fan-out" and DAILY in places)
        else worker
        for worker in state.workers
    )
    return state._replace(workers=workers)


def with_reader_changed(state: State) -> State:
    """Return the state in which the last look of each prepared email finds a changed reader."""
    workers = tuple(worker._replace(is_reader_fresh=False) for worker in state.workers)
    return state._replace(workers=workers)


def needs_guard(before: Row | None, after: Row | None, setup: Setup) -> bool:
    """Return True if a write moves or deletes a row that a run may have read."""
    if before is None or not (before.shown or setup.holds(Rule.MARK_GUARDED)):
        return False
    return after is None or after.stamp != before.stamp


def is_as_read(state: State, worker: Worker, setup: Setup) -> bool:
    """Return True if the condition of the worker's write holds."""
    if state.row == worker.row:
        return True
    if setup.holds(Rule.BODIES_CHECKED) or worker.after is not None:
        return False
    return (
        state.row is not None
        and worker.row is not None
        and (state.row.place, state.row.stamp) == (worker.row.place, worker.row.stamp)
    )


def with_row(state: State, before: Row | None, after: Row | None, setup: Setup) -> State:
    """Return the state with the written row. A move or a removal raises the epochs."""
    is_guarded = needs_guard(before, after, setup)
    places = {row.place for row in (before, after) if row}
    is_in_place = before is not None and after is not None and before.stamp == after.stamp
    state = state._replace(row=after, attempt=state.attempt if is_in_place else 0)
    return unguarded(with_epochs_raised(state, *places)) if is_guarded else state


def settle_row(state: State, row: Row | None) -> State:
    """Return the state in which the digest or the thread of the row has a run or will have one."""
    if row is None or not row.shown:
        return state
    if row.place == DAILY:
        return with_schedule(state, "arm")
    return state if state.attempt else with_run(state, NOW)
