"""What becomes of the runs of a schedule when its reader wants it at other times."""

from dataclasses import replace
from datetime import timedelta

from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import Cancel
from gazette.domain.identity import latest_run
from gazette.domain.model import RunKey, Schedule
from gazette.domain.scheduling.calendar import last_instant_of_slot, next_occurrence
from gazette.steps.context import ScheduleContext
from gazette.steps.runs import apply

_GRACE = timedelta(minutes=15)
"""How long after it was due a run still goes out although other times are wanted now."""

_GIVEN_UP = {Reason.SUPERSEDED, Reason.PREFERENCES_CHANGED}


def stop_pending(schedule: Schedule, *, context: ScheduleContext) -> Schedule:
    """Cancel the runs of the old times that nobody has claimed, but for those just due.

    Returns the schedule as it is without them: the date of a run that was given up has had no
    digest, so the new hour may still bring one. Safe to repeat.
    """
    if schedule.last_due_at is None and schedule.next_due_at > context.clock():
        return schedule
    chain = context.runs.chain(latest_run(schedule.user_id, schedule.name))
    runs = [_stopped(run, context) for run in chain]
    if schedule.last_due_at not in {run.due_at for run in runs if run.reason in _GIVEN_UP}:
        return schedule
    started = (run.due_at for run in runs if run.reason not in _GIVEN_UP)
    return replace(schedule, last_due_at=max(started, default=None))


def _stopped(run: Run, context: ScheduleContext) -> Run:
    if run.is_unclaimed and context.clock() - run.due_at > _GRACE:
        return apply(run, Cancel(Reason.PREFERENCES_CHANGED), runs=context.runs)
    return run


def give_up(schedule: Schedule, *, context: ScheduleContext) -> Schedule:
    """The schedule without the occurrences up to now that it gives up, and the one that was next.

    The number of each gets a run: one that has ended. So fan-out, which may have read the schedule
    before, starts nothing behind the runs that follow: whoever reads them sees every number below
    the schedule's. A run that fan-out has started already goes on, and its date has its digest.
    """
    open_until = last_instant_of_slot(context.clock())
    while True:
        started = _spend(schedule, context)
        if started:
            schedule = replace(schedule, last_due_at=schedule.next_due_at)
        following = next_occurrence(schedule.wanted, after=schedule.next_due_at)
        if not schedule.listed or following > open_until:
            return schedule
        schedule = replace(schedule, next_due_at=following, sequence=schedule.sequence + 1)


def _spend(schedule: Schedule, context: ScheduleContext) -> bool:
    """Whether the occurrence has a run that goes on; its number has one in any case.

    Somebody else's may have taken it: that of a redrive, or of a schedule that was erased.
    """
    spent = Run(
        key=RunKey(schedule.user_id, schedule.name, schedule.sequence),
        due_at=schedule.next_due_at,
        check_at=context.clock(),
        status=Status.SKIPPED,
        reason=Reason.SUPERSEDED,
    )
    found = context.runs.create(spent)
    return found.due_at == spent.due_at and found.reason not in _GIVEN_UP
