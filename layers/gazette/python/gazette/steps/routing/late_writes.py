"""Find events that were written too late for their window, and store them again."""

from collections.abc import Iterable, Sequence

from gazette.domain.model import StoredEvent
from gazette.domain.scheduling.kinds import ScheduleKind, kind_of
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.immediate import start_next_collecting
from gazette.steps.routing.move import claimable, guard_of_schedule, schedule_and_runs
from gazette.steps.runs import raise_epochs


def restamp_if_passed_over(stored: StoredEvent, *, context: RoutingContext) -> StoredEvent | None:
    """Give an event a new storage time if a window closed without sending it (rule 14).

    If the write bound has passed, call this function after writing an event, or after finding that
    a retried message has already written it. The writer may have been suspended between taking the
    time and writing, or may have crashed afterwards. Returns the event as stored now, or None if it
    was removed. Raises NotYet if its runs keep changing.
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
            stored, name, guard_of_schedule(user_id, name, schedule, chain, context=context)
        )
        if moved:
            return moved
        current = context.events.get(user_id, stored.event.id)
        if not isinstance(current, StoredEvent):
            return None
        stored = current
    raise kept_changing(f"The schedule or some run of event {stored.event.id}")


def restamp_together(
    all_stored: Iterable[StoredEvent], *, context: RoutingContext
) -> list[StoredEvent]:
    """Give each event a new storage time if a window closed without sending it (rule 14).

    Events of a schedule share the schedule's reads. Returns the events as stored now, without
    events that were removed.
    """
    by_schedule: dict[tuple[str, str], list[StoredEvent]] = {}
    for stored in all_stored:
        by_schedule.setdefault((stored.event.user_id, stored.schedule), []).append(stored)
    current: list[StoredEvent] = []
    for (user_id, name), group in by_schedule.items():
        passed = _passed_over(user_id, name, group, context)
        current += [stored for stored in group if stored.event.id not in passed]
        for stored in passed.values():
            restamped = restamp_if_passed_over(stored, context=context)
            current += [restamped] if restamped else []
    return current


def _passed_over(
    user_id: str, name: str, group: Sequence[StoredEvent], context: RoutingContext
) -> dict[str, StoredEvent]:
    """Return the events, by id, that a closed window has missed.

    A run that read its window without these events cannot be claimed.
    """
    oldest = min(stored.stored_at for stored in group)
    is_told = False
    while True:
        _, chain = schedule_and_runs(user_id, name, context=context, since=oldest)
        passed, has_others = dict[str, StoredEvent](), False
        for stored in group:
            event_id, at = stored.event.id, stored.stored_at
            if any(run.has_shown(event_id, at) for run in chain):
                continue
            if any(run.has_passed_over(event_id, at) for run in chain):
                passed[event_id] = stored
            else:
                has_others = True
        reading = claimable(chain) if has_others and not is_told else []
        if not reading:
            return passed
        raise_epochs(reading, runs=context.runs)
        is_told = True
