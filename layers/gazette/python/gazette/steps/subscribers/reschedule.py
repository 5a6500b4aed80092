"""Handle the existing runs of a schedule whose reader has chosen different times."""

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
"""The time after its due time for which an old run is still sent, although the reader chose
different times.
"""

_GIVEN_UP = {Reason.SUPERSEDED, Reason.PREFERENCES_CHANGED, Reason.WAITS_FOR_MORE}
"""The reasons of runs after which their date may still have a digest."""


def stop_pending(schedule: Schedule, *, context: ScheduleContext) -> Schedule:
    """Cancel the unclaimed runs for the old times, unless they are due now. Safe to repeat.

    Returns the schedule without the cancelled runs, and without runs that were skipped because of
    their low score. The date of such a run had no digest, so the new time may still have one on
    that date.
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
    """Return the schedule without its next occurrence and later occurrences that are already due.

    For each of these occurrences, an ended run is stored, so that its sequence is used. Fan-out may
    have read the schedule earlier. The ended runs keep it from starting these occurrences. The
    chain has a run for every sequence below the schedule's. A run that fan-out has already started
    continues, and counts as the digest of its date.
    """
    open_until = last_instant_of_slot(context.clock())
    while True:
        started = _spend(schedule, context)
        if started:
            schedule = replace(schedule, last_due_at=schedule.next_due_at)
        following = next_occurrence(schedule.recurrence, after=schedule.next_due_at)
        if not schedule.listed or following > open_until:
            return schedule
        schedule = replace(schedule, next_due_at=following, sequence=schedule.sequence + 1)


def _spend(schedule: Schedule, context: ScheduleContext) -> bool:
    """Use up the sequence of the next occurrence. Return True if a run with this sequence is still
    open.

    A redrive, or a schedule that was erased, may already have started a run with the sequence.
    """
    now = context.clock()
    spent = Run(
        key=RunKey(schedule.user_id, schedule.name, schedule.sequence),
        due_at=schedule.next_due_at,
        check_at=now,
        created_at=now,
        status=Status.SKIPPED,
        reason=Reason.SUPERSEDED,
    )
    stored = context.runs.create(spent)
    return stored.due_at == spent.due_at and stored.reason not in _GIVEN_UP
