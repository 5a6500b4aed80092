"""Find events that were written so late that they missed their window, and stamp them anew."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from gazette.domain.delivery.run import Run
from gazette.domain.model import Schedule, StoredEvent
from gazette.domain.scheduling.calendar import slot_of
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.immediate import start_next_collecting
from gazette.steps.routing.move import claimable, holding, schedule_and_runs
from gazette.steps.runs import raise_epochs

_IN_TIME = timedelta(minutes=1)


def restamp_if_passed_over(stored: StoredEvent, *, context: RoutingContext) -> StoredEvent | None:
    """Give an event a new storage time if a window closed over it without sending it (rule 14).

    Call it after writing an event under a schedule, and after finding it written when a message is
    delivered again, if the write bound has passed: the writer may have paused between taking the
    time and writing, or have died afterwards. Returns the event as stored now, or None if it was
    removed. Raises NotYet if its runs keep changing.
    """
    user_id, name = stored.event.user_id, stored.schedule
    is_told = False
    for _ in ATTEMPTS:
        schedule, chain = schedule_and_runs(user_id, name, context=context, since=stored.stored_at)
        if any(run.has_shown(stored.event.id, stored.stored_at) for run in chain):
            return stored
        if not _is_passed_over(stored, chain, schedule):
            if is_told or not _could_have_read(chain, schedule, context):
                return stored
            is_told = _tell(chain, schedule, context)
            continue
        if kind_of(name) is ScheduleKind.IMMEDIATE and not claimable(chain):
            start_next_collecting(user_id, name, chain, context=context)
            continue
        moved = context.events.move(
            stored, name, holding(user_id, name, schedule, chain, context=context)
        )
        if moved:
            return moved
        found = context.events.get(user_id, stored.event.id)
        if not isinstance(found, StoredEvent):
            return None
        stored = found
    raise kept_changing(f"The schedule or some run of event {stored.event.id}")


def _is_passed_over(stored: StoredEvent, chain: Sequence[Run], schedule: Schedule | None) -> bool:
    """Whether a run closed its window over it, or fan-out recorded that nothing waits there."""
    if any(run.has_passed_over(stored.event.id, stored.stored_at) for run in chain):
        return True
    quiet_until = schedule.quiet_until if schedule else None
    return quiet_until is not None and stored.stored_at <= quiet_until


def _could_have_read(
    chain: Sequence[Run], schedule: Schedule | None, context: RoutingContext
) -> bool:
    """Whether a worker may have read the window before the event was there, and close it now."""
    return _is_due(schedule, context) or bool(claimable(chain))


def _tell(chain: Sequence[Run], schedule: Schedule | None, context: RoutingContext) -> bool:
    """Make workers fail that read before now: at their claim, or when fan-out advances."""
    raise_epochs(claimable(chain), runs=context.runs)
    if schedule is None or not _is_due(schedule, context):
        return True
    touched = replace(schedule, revision=schedule.revision + 1)
    return context.schedules.put(touched, replacing=schedule)


def _is_due(schedule: Schedule | None, context: RoutingContext) -> bool:
    """Whether fan-out may be working on it, by a clock that is ahead of this one."""
    if schedule is None:
        return False
    return slot_of(schedule.next_due_at) <= context.clock() + _IN_TIME
