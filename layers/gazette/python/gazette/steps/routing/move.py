"""Move an event to another schedule, or remove it, so that no run of the old schedule sends it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status, possibly_sent_until
from gazette.domain.delivery.signals import Cancel
from gazette.domain.identity import latest_run
from gazette.domain.model import RunKey, Schedule, StoredEvent
from gazette.domain.ports.stores import Guard
from gazette.domain.scheduling.kinds import ScheduleKind, Unsent, kind_of
from gazette.domain.stored import is_known
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.immediate import collecting, queue_run, start_next_collecting
from gazette.steps.routing.target import Target
from gazette.steps.runs import apply, raise_epochs

_FEW = 10
"""The maximum number of unclaimed runs that stay open on each side of a move.

Each run is an item of the transaction, which can have 100 items.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
"""


def move(stored: StoredEvent, target: Target, *, context: RoutingContext) -> StoredEvent | None:
    """Move an event, unless it was or may have been sent. Such an event stays with its run.

    However late the write is, no run of the old schedule sends the event, and the next run of the
    new schedule does (rule 15). The event's lifetime is long enough for `target` to send it.
    Returns the event as stored now, or None if it was removed. Raises NotYet if the event keeps
    moving.
    """
    user_id, event_id, name = stored.event.user_id, stored.event.id, target.schedule
    for _ in ATTEMPTS:
        out = _guard_to_leave(stored, context)
        if out is None:
            return stored
        guard = out + guard_to_arrive(user_id, name, context)
        moved = context.events.move(stored, name, guard, target.recurrence)
        if moved:
            return moved
        current = context.events.get(user_id, event_id)
        if not isinstance(current, StoredEvent):
            return None
        if current.schedule == name and current.revision == stored.revision:
            return current
        _require_same_bodies(current, stored)
        stored = current
    raise kept_changing(f"Event {event_id} of {user_id}")


def take_back(stored: StoredEvent, *, context: RoutingContext) -> bool:
    """Remove an event that is no longer wanted, unless it was or may have been sent.

    Returns True if the event was removed. The same transaction raises the epochs of the open runs,
    so that a worker that has read the event fails at its claim. Raises NotYet if the event keeps
    moving.
    """
    for _ in ATTEMPTS:
        guard = _guard_to_leave(stored, context)
        if guard is None:
            return False
        if context.events.remove(stored, guard):
            return True
        current = context.events.get(stored.event.user_id, stored.event.id)
        if not isinstance(current, StoredEvent):
            return True
        _require_same_bodies(current, stored)
        stored = current
    raise kept_changing(f"Event {stored.event.id} of {stored.event.user_id}")


def _require_same_bodies(current: StoredEvent, stored: StoredEvent) -> None:
    """Raise NotYet if another event has joined the row, because the row may then belong
    elsewhere."""
    if current.revision != stored.revision:
        raise kept_changing(f"The bodies of event {stored.event.id} of {stored.event.user_id}")


def raise_epochs_under(schedule: str, user_id: str, *, context: RoutingContext) -> None:
    """Raise the epoch of the runs that may have read an event before it changed."""
    if kind_of(schedule) is not ScheduleKind.UNSENT:
        raise_epochs(context.runs.chain(latest_run(user_id, schedule)), runs=context.runs)


def stays_unsent(stored: StoredEvent, context: RoutingContext) -> bool:
    """Return True if the event lapsed or was seen before it was emailed, and must not be counted
    again.
    """
    if stored.schedule == Unsent.EXCLUDED:
        return stored.is_left_out
    return stored.schedule == Unsent.EXPIRED and stored.event.has_lapsed(context.clock())


def _guard_to_leave(stored: StoredEvent, context: RoutingContext) -> Guard | None:
    """Return a guard that prevents all runs of the old schedule from sending the event.

    Returns None if a run has sent the event, or may have.
    """
    user_id, name = stored.event.user_id, stored.schedule
    until, guard = guard_to_leave(user_id, name, stored.stored_at, context=context)
    return guard if stored.stored_at > until else None


def leaving(all_stored: Sequence[StoredEvent], context: RoutingContext) -> list[StoredEvent]:
    """Return the events of one schedule that can leave it, because no run may have sent them.

    Starts no run, unlike `guard_to_leave`.
    """
    user_id, name = all_stored[0].event.user_id, all_stored[0].schedule
    if name == Unsent.GIVEN_UP:
        return []
    if kind_of(name) is ScheduleKind.UNSENT:
        return list(all_stored)
    _, chain = schedule_and_runs(user_id, name, context=context)
    until = possibly_sent_until(chain)
    return [stored for stored in all_stored if stored.stored_at > until]


def guard_to_leave(
    user_id: str, name: str, last: datetime, *, context: RoutingContext
) -> tuple[datetime, Guard]:
    """Return the storage time up to which a schedule's events were or may have been sent.

    These events stay in the schedule. Also returns a guard that prevents all of the schedule's runs
    from sending later events. `last` is the storage time of the last event.
    """
    if name == Unsent.GIVEN_UP:
        return last, Guard()
    if kind_of(name) is ScheduleKind.UNSENT:
        return BEGINNING, Guard()
    schedule, chain = schedule_and_runs(user_id, name, context=context)
    if kind_of(name) is ScheduleKind.IMMEDIATE and last > possibly_sent_until(chain):
        chain = _with_one_to_claim(user_id, name, chain, context=context)
    until = possibly_sent_until(chain)
    if last <= until:
        return until, Guard()
    return until, guard_of_schedule(user_id, name, schedule, chain, context=context)


def guard_to_arrive(user_id: str, name: str, context: RoutingContext) -> Guard:
    """Return a guard that prevents runs of the new schedule from closing a window without the
    event."""
    if kind_of(name) is ScheduleKind.UNSENT:
        return Guard()
    schedule, chain = schedule_and_runs(user_id, name, context=context)
    if kind_of(name) is not ScheduleKind.IMMEDIATE:
        return guard_of_schedule(user_id, name, schedule, chain, context=context)
    now = context.clock()
    chain = _with_one_to_claim(user_id, name, chain, collecting_at=now, context=context)
    until = max(run.due_at for run in claimable(chain))
    return replace(guard_of_schedule(user_id, name, None, chain, context=context), not_after=until)


def _with_one_to_claim(
    user_id: str,
    name: str,
    chain: Sequence[Run],
    *,
    collecting_at: datetime | None = None,
    context: RoutingContext,
) -> Sequence[Run]:
    """Return an immediate schedule's runs, including an unclaimed run that collects at the given
    instant.

    Starts such a run if it does not exist. The run is queued before an event arrives, because no
    other code would find the event after a crash. Raises NotYet if each run ends immediately.
    """
    for _ in ATTEMPTS:
        waiting = claimable(chain)
        if waiting and (collecting_at is None or collecting(waiting, collecting_at)):
            return chain
        started = start_next_collecting(user_id, name, chain, context=context)
        if collecting_at:
            queue_run(started, context=context)
        chain = context.runs.chain(latest_run(user_id, name))
    raise kept_changing(f"The list of runs of schedule {name} of {user_id}")


def schedule_and_runs(
    user_id: str, name: str, *, context: RoutingContext, since: datetime | None = None
) -> tuple[Schedule | None, Sequence[Run]]:
    """Return a schedule's row, if any, and the schedule's runs back to `since` (Runs.chain).

    The row is read first, because a worker that starts a run advances the schedule afterwards. So
    either the run is read here, or a write that is conditional on this schedule fails.
    """
    schedule = (
        None if kind_of(name) is ScheduleKind.IMMEDIATE else context.schedules.get(user_id, name)
    )
    return schedule, context.runs.chain(latest_run(user_id, name), holding=since)


def guard_of_schedule(
    user_id: str,
    name: str,
    schedule: Schedule | None,
    chain: Sequence[Run],
    *,
    context: RoutingContext,
) -> Guard:
    """Return a guard that makes claims based on earlier reads fail, and blocks the start of the
    next run.

    The `chain` of an immediate schedule must have a run that can be claimed. A run that is started
    later either ends that run first, or gives way to it (rule 16).
    """
    chain = _with_few_open(chain, context)
    open_ = tuple(run for run in chain if not run.status.is_final)
    if kind_of(name) is ScheduleKind.IMMEDIATE:
        return Guard(open_runs=open_)
    sequence = max(schedule.sequence if schedule else 1, chain[0].key.sequence + 1 if chain else 1)
    return Guard(
        open_runs=open_,
        schedules=(schedule,) if schedule else (),
        not_started=(RunKey(user_id, name, sequence),),
    )


def _with_few_open(chain: Sequence[Run], context: RoutingContext) -> Sequence[Run]:
    """Supersede open runs of a chain until one transaction can include the remaining open runs.

    The newest run supersedes the older runs, as its own delivery would (rule 3). It is queued
    first, so that it sends their events even after a crash. A run that was claimed in between is
    returned as it was read. The transaction then fails, and the caller reads again.
    """
    unclaimed = [run for run in chain if run.is_unclaimed]
    if len(unclaimed) <= _FEW:
        return chain
    newest, *older = unclaimed
    queue_run(newest, context=context)
    superseded = Cancel(Reason.SUPERSEDED)
    cancelled = [apply(run, superseded, runs=context.runs) for run in older]
    ended = {run.key: run for run in cancelled if run.status is Status.CANCELLED}
    return [ended.get(run.key, run) for run in chain]


def claimable(chain: Iterable[Run]) -> list[Run]:
    """Return the runs that can be claimed, including runs with an unknown status."""
    return [
        run
        for run in chain
        if run.status in {Status.PENDING, Status.RETRYING} or not is_known(run.status)
    ]
