"""Move an event to another schedule, or remove it, so that no run sends it from the old one."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from gazette.domain.delivery.run import Reason, Run, Status, may_have_gone_until
from gazette.domain.delivery.signals import Cancel
from gazette.domain.identity import latest_run
from gazette.domain.model import Placed, RunKey, Schedule
from gazette.domain.ports.stores import Guard
from gazette.domain.scheduling.kinds import ScheduleKind, Unsent, kind_of
from gazette.domain.scheduling.lifetime import needed_until
from gazette.domain.scheduling.recurrence import Recurrence
from gazette.domain.stored import is_known
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.immediate import collecting, queue_run, start_next_collecting
from gazette.steps.routing.target import Target
from gazette.steps.runs import apply, make_known

_FEW = 10
"""Runs nobody has claimed that stay open on each side of a move: each is an item of its
transaction, which takes a hundred.
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html"""


def move(placed: Placed, target: Target, *, context: RoutingContext) -> Placed | None:
    """Move it unless it went out, or may have: then it stays with that run.

    However late it is written, no run that it leaves has it, and the next one where it goes does
    (rule 15). It lasts until `target` has had time to send it. Returns where it is
    now; None where it is no more. Raises NotYet where it keeps moving.
    """
    user_id, event_id, name = placed.event.user_id, placed.event.id, target.schedule
    for _ in ATTEMPTS:
        leaving = _leaving(placed, context)
        if leaving is None:
            return placed
        arriving = _arriving(user_id, name, context)
        moved = context.events.move(placed, name, leaving + arriving, target.recurrence)
        if moved:
            return moved
        found = context.events.get(user_id, event_id)
        if not isinstance(found, Placed):
            return None
        if found.schedule == name:
            return found
        placed = found
    raise kept_changing(f"Event {event_id} of {user_id}")


def take_back(placed: Placed, *, context: RoutingContext) -> None:
    """Remove an event that is no longer wanted, unless it went out, or may have.

    Together with the epochs of the open runs: a worker that has read it fails at its claim.
    Raises NotYet where it keeps moving.
    """
    for _ in ATTEMPTS:
        guard = _leaving(placed, context)
        if guard is None or context.events.remove(placed, guard):
            return
        found = context.events.get(placed.event.user_id, placed.event.id)
        if not isinstance(found, Placed):
            return
        placed = found
    raise kept_changing(f"Event {placed.event.id} of {placed.event.user_id}")


def extend(placed: Placed, wanted: Recurrence | None, *, context: RoutingContext) -> None:
    """Let it last as long as it needs to where it waits now (rule 21)."""
    until = needed_until(wanted, context.clock())
    if until and until > placed.lasts_until:
        context.events.extend(placed, until)


def make_known_under(schedule: str, user_id: str, *, context: RoutingContext) -> None:
    """Make a change of an event known to the runs of its schedule: they may have read it before."""
    if kind_of(schedule) is not ScheduleKind.UNSENT:
        make_known(context.runs.chain(latest_run(user_id, schedule)), runs=context.runs)


def _leaving(placed: Placed, context: RoutingContext) -> Guard | None:
    """What keeps every run from taking the event along; None where one has, or may have."""
    user_id, name = placed.event.user_id, placed.schedule
    if name == Unsent.GIVEN_UP:
        return None
    if kind_of(name) is ScheduleKind.UNSENT:
        return Guard()
    schedule, chain = schedule_and_runs(user_id, name, context=context)
    if kind_of(name) is ScheduleKind.IMMEDIATE and placed.stored_at > may_have_gone_until(chain):
        chain = _with_one_to_claim(user_id, name, chain, context=context)
    if placed.stored_at <= may_have_gone_until(chain):
        return None
    return holding(user_id, name, schedule, chain, context=context)


def _arriving(user_id: str, name: str, context: RoutingContext) -> Guard:
    """What keeps every run from closing a window over the event before it is there."""
    if kind_of(name) is ScheduleKind.UNSENT:
        return Guard()
    schedule, chain = schedule_and_runs(user_id, name, context=context)
    if kind_of(name) is not ScheduleKind.IMMEDIATE:
        return holding(user_id, name, schedule, chain, context=context)
    now = context.clock()
    chain = _with_one_to_claim(user_id, name, chain, collecting_at=now, context=context)
    until = max(run.due_at for run in claimable(chain))
    return replace(holding(user_id, name, None, chain, context=context), not_after=until)


def _with_one_to_claim(
    user_id: str,
    name: str,
    chain: Sequence[Run],
    *,
    collecting_at: datetime | None = None,
    context: RoutingContext,
) -> Sequence[Run]:
    """The runs of a thread once one waits for its claim, and still collects at an instant.

    Where none does, one is started. Raises NotYet where each ended at once.
    """
    for _ in ATTEMPTS:
        waiting = claimable(chain)
        if waiting and (collecting_at is None or collecting(waiting, collecting_at)):
            return chain
        start_next_collecting(user_id, name, chain, context=context)
        chain = context.runs.chain(latest_run(user_id, name))
    raise kept_changing(f"The list of runs of schedule {name} of {user_id}")


def schedule_and_runs(
    user_id: str, name: str, *, context: RoutingContext, since: datetime | None = None
) -> tuple[Schedule | None, Sequence[Run]]:
    """The row of a schedule, None where there is none, and its newest runs.

    Those reach back to `since`, as in Runs.chain.

    In this order: whoever starts a run moves the schedule on afterwards. So either the run is
    seen, or the schedule is found changed when it matters.
    """
    schedule = (
        None if kind_of(name) is ScheduleKind.IMMEDIATE else context.schedules.get(user_id, name)
    )
    return schedule, context.runs.chain(latest_run(user_id, name), holding=since)


def holding(
    user_id: str,
    name: str,
    schedule: Schedule | None,
    chain: Sequence[Run],
    *,
    context: RoutingContext,
) -> Guard:
    """What makes every claim fail whose window was read before, and every start of the next run.

    Of an immediate schedule `chain` has to have a run that may be claimed: one that is started
    later ends that first, or gives way to it (rule 16).
    """
    chain = _with_few_open(chain, context)
    open_ = tuple(run for run in chain if not run.status.is_final)
    if kind_of(name) is ScheduleKind.IMMEDIATE:
        return Guard(open_runs=open_)
    number = max(schedule.sequence if schedule else 1, chain[0].key.sequence + 1 if chain else 1)
    return Guard(
        open_runs=open_,
        schedules=(schedule,) if schedule else (),
        not_started=(RunKey(user_id, name, number),),
    )


def _with_few_open(chain: Sequence[Run], context: RoutingContext) -> Sequence[Run]:
    """The chain as it is once few of its runs are open, so that one transaction holds them all.

    Of more, the newest takes everything, as it would with its own delivery (rule 3). It is queued
    before the others end: whatever breaks off then, somebody looks at what they leave. One that
    somebody has claimed meanwhile stays as it was read: the transaction fails, and whoever moves
    the event looks again.
    """
    unclaimed = [run for run in chain if run.is_unclaimed]
    if len(unclaimed) <= _FEW:
        return chain
    newest, *older = unclaimed
    queue_run(newest, context=context)
    superseded = Cancel(Reason.SUPERSEDED)
    done = [apply(run, superseded, runs=context.runs) for run in older]
    ended = {run.key: run for run in done if run.status is Status.CANCELLED}
    return [ended.get(run.key, run) for run in chain]


def claimable(chain: Iterable[Run]) -> list[Run]:
    """Those that wait for a claim. One in a status that is not known may come to be claimed."""
    return [
        run
        for run in chain
        if run.status in {Status.PENDING, Status.RETRYING} or not is_known(run.status)
    ]
