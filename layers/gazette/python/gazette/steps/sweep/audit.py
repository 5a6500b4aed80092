"""Audit idle schedules for waiting events, because fan-out does not read idle schedules."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from gazette.domain.delivery.run import settled_until
from gazette.domain.errors import UnreadableRow
from gazette.domain.identity import latest_run
from gazette.domain.model import Schedule
from gazette.domain.ports.clock import Clock, TimeLeft
from gazette.domain.ports.ledgers import Runs, Schedules
from gazette.domain.ports.stores import EventReader
from gazette.domain.stored import of_one_row

_EVERY = timedelta(minutes=5)
"""The interval between two sweeps of the same partition."""

_ALL = timedelta(days=30)
"""The period in which each idle schedule is audited once."""

_ON_ITS_WAY = timedelta(hours=1)
"""The maximum time for which a message from the bus is retried. Until then, a worker may still arm
the schedule.
"""

_ENOUGH = timedelta(seconds=15)
"""An upper bound for the time to audit one schedule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditContext:
    """The dependencies for auditing idle schedules."""

    schedules: Schedules
    runs: Runs
    events: EventReader
    clock: Clock


@dataclass(frozen=True, slots=True)
class Audited:
    """The number of idle schedules that were audited, and the number that had to be armed."""

    idle: int = 0
    armed: tuple[Schedule, ...] = ()
    unreadable: tuple[str, ...] = ()
    """The errors in unreadable rows that prevented the audit of a schedule."""

    is_cut_off: bool = False
    """True if time ran out before all schedules were audited."""


def audit(
    partition: int,
    *,
    partitions: int,
    tick: datetime | None,
    context: AuditContext,
    time_left: TimeLeft,
) -> Audited:
    """Audit the idle schedules whose turn it is, and arm those that have waiting events (rule 23).

    A process that stores an event also arms the schedule. An idle schedule has waiting events if
    that process's message became a dead letter first, or if a rule is broken. Safe to repeat. An
    audit that was cut off must be repeated, because the next turn of these schedules is thirty days
    later. `tick` is the scheduled time of the sweep and determines the turn, so that a late or
    repeated message audits its own turn. For a message without `tick`, the clock determines the
    turn.
    """
    at = tick or context.clock()
    number = int(at.timestamp() // _EVERY.total_seconds()) % (_ALL // _EVERY)
    idle, armed, unreadable, is_cut_off = 0, list[Schedule](), list[str](), False
    for schedule in context.schedules.idle(
        number * partitions + partition, partitions * (_ALL // _EVERY)
    ):
        if time_left() < _ENOUGH:
            is_cut_off = True
            break
        if isinstance(schedule, UnreadableRow):
            continue
        idle += 1
        try:
            with of_one_row("schedules", schedule.user_id, schedule.name):
                if _is_forgotten(schedule, context) and (
                    schedule_armed := _armed(schedule, context)
                ):
                    armed.append(schedule_armed)
        except UnreadableRow as row:
            unreadable.append(str(row))
    return Audited(idle, tuple(armed), tuple(unreadable), is_cut_off)


def _is_forgotten(schedule: Schedule, context: AuditContext) -> bool:
    user_id, name = schedule.user_id, schedule.name
    chain = context.runs.chain(latest_run(user_id, name))
    until = context.clock() - _ON_ITS_WAY
    return all(run.status.is_final for run in chain) and context.events.holds(
        user_id, name, after=settled_until(chain), until=until
    )


def _armed(schedule: Schedule, context: AuditContext) -> Schedule | None:
    """Return the armed schedule, or None if another process changed and therefore arms it."""
    armed = schedule.armed(schedule.due_after(context.clock()))
    return armed if context.schedules.put(armed, replacing=schedule) else None
