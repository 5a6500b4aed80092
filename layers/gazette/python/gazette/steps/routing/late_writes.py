"""Find events that were written so late that they missed their window, and stamp them anew."""

from gazette.domain.model import StoredEvent
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.immediate import start_next_collecting
from gazette.steps.routing.move import claimable, holding, schedule_and_runs
from gazette.steps.runs import raise_epochs


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
        if not any(run.has_passed_over(stored.event.id, stored.stored_at) for run in chain):
            if is_told or not (reading := claimable(chain)):
                return stored
            raise_epochs(reading, runs=context.runs)
            is_told = True
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
