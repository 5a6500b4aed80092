"""Redrive a run whose attempts are exhausted, by starting the schedule's next run now."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from gazette.domain.delivery.redrive import Redriven, RedriveResult
from gazette.domain.delivery.run import (
    BEGINNING,
    Reason,
    Run,
    Status,
    receives,
    sent_until,
    why_not_sent,
)
from gazette.domain.identity import address_hash, latest_run, run_id
from gazette.domain.model import RunKey, Schedule
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Runs, RunSequences
from gazette.domain.ports.queues import QueuedRun, RunQueue
from gazette.domain.ports.stores import Subscribers, Suppressions
from gazette.domain.scheduling.chain import head_for
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.occurrences.next_run import next_run

_COLLECTED = timedelta(minutes=1)
"""The delay of a redriven immediate run, so that it includes events that are stored within the same
second.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedrivePlanContext:
    """The dependencies for planning a redrive, which makes no writes."""

    runs: Runs
    schedules: RunSequences
    subscribers: Subscribers
    suppressions: Suppressions
    clock: Clock
    check_after: timedelta
    """The time between the due time of a run and the sweep's first check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedriveContext(RedrivePlanContext):
    """The dependencies for planning a redrive, and the queue for the next run."""

    queue: RunQueue


@dataclass(frozen=True, slots=True)
class RedrivePlan:
    """The decision about a redrive, with the schedule's runs (newest first) that it is based on.

    If the run of `redriven` is to be started, it is not stored yet.
    """

    redriven: Redriven
    chain: Sequence[Run]


def is_exhausted(run: Run) -> bool:
    """Return True if the run failed because the provider refused every attempt."""
    return run.status is Status.FAILED and run.reason is Reason.ATTEMPTS_EXHAUSTED


def redrive(failed: Run, *, context: RedriveContext) -> Redriven:
    """Ensure that a later run sends the events of `failed` (rule 22). Safe to repeat.

    The later run's window begins where the last sent window ended, so no event is sent twice. If
    its row is missing, the row is stored first; then the run is queued, and the schedule's sequence
    is advanced. The schedule does not change otherwise, and the next occurrence is due at its usual
    time. If the function is repeated after a crash, it finds the run and completes the missing
    steps. Raises NotYet if runs and schedule kept changing.
    """
    for _ in ATTEMPTS:
        plan = plan_redrive(failed, context=context)
        redriven, run = plan.redriven, plan.redriven.run
        if redriven.result is RedriveResult.SENT_SINCE:
            _spend(plan.chain[0], context)
        elif redriven.result is RedriveResult.GOES_WITH and run:
            _go_on(run, context)
        elif redriven.result is RedriveResult.STARTED and run:
            started = context.runs.create(run)
            if not started.is_open:
                continue
            _go_on(started, context)
            redriven = replace(redriven, run=started)
        return redriven
    raise kept_changing(f"The schedule of run {run_id(failed.key)}")


def plan_redrive(failed: Run, *, context: RedrivePlanContext) -> RedrivePlan:
    """Decide what a redrive of `failed` does. Reads only.

    The schedule is read before the runs, so that a run for which another worker uses the sequence
    in between is found.
    """
    schedule = _schedule(failed.key, context)
    chain = context.runs.chain(latest_run(failed.key.user_id, failed.key.schedule))
    if carrier := _carrier(failed, chain, context):
        redriven = Redriven(failed, RedriveResult.SENT_SINCE, carrier)
    elif later := _not_ended(failed, chain):
        redriven = Redriven(failed, RedriveResult.GOES_WITH, later)
    elif refusal := _why_not_started(failed, context):
        redriven = refusal
    elif schedule is None and not failed.key.is_immediate:
        redriven = Redriven(failed, RedriveResult.NO_SCHEDULE)
    else:
        run = next_run(
            chain[0],
            at_least=schedule.sequence if schedule else 0,
            sources=schedule.sources if schedule else (),
            now=context.clock(),
            check_after=context.check_after,
        )
        run = replace(run, head=head_for(chain, context.clock()))
        redriven = Redriven(failed, RedriveResult.STARTED, run)
    return RedrivePlan(redriven, chain)


def _carrier(failed: Run, chain: Sequence[Run], context: RedrivePlanContext) -> Run | None:
    """Return the first sent run after `failed` whose window covers the events of `failed`.

    The run is read only if it exists, which the end of the last sent window shows.
    """
    until = failed.window.until if failed.window else BEGINNING
    sent = sent_until(chain)
    if sent == BEGINNING or sent < until:
        return None
    return context.runs.first_sent(failed.key, until=until)


def _not_ended(failed: Run, chain: Sequence[Run]) -> Run | None:
    """Return the newest open run after `failed`. Carried runs are not open."""
    behind = (run for run in chain if run.key.sequence > failed.key.sequence)
    return next((run for run in behind if run.is_open), None)


def _why_not_started(failed: Run, context: RedrivePlanContext) -> Redriven | None:
    """Return the redrive's result if the reader gets no email now, or else None."""
    reader = context.subscribers.get(failed.key.user_id)
    if not receives(reader, failed.key):
        return Redriven(failed, RedriveResult.RECEIVES_NO_EMAIL, reason=why_not_sent(reader))
    if context.suppressions.holds(address_hash(reader.email), critical=failed.key.is_critical):
        return Redriven(failed, RedriveResult.RECEIVES_NO_EMAIL, reason=Reason.SUPPRESSED)
    if not failed.key.is_critical and reader.pause and reader.pause.holds_at(context.clock()):
        return Redriven(failed, RedriveResult.PAUSED)
    return None


def _schedule(key: RunKey, context: RedrivePlanContext) -> Schedule | None:
    """Return the row of the schedule, or None for immediate runs, which have no schedule row."""
    return None if key.is_immediate else context.schedules.get(key.user_id, key.schedule)


def _go_on(run: Run, context: RedriveContext) -> None:
    """Queue the next run, then advance the schedule's sequence. A retry repeats both steps."""
    delay = _COLLECTED if run.key.is_immediate else timedelta(0)
    context.queue.send([QueuedRun(run.key, delay)])
    _spend(run, context)


def _spend(run: Run, context: RedriveContext) -> None:
    """Advance the schedule's sequence beyond a run that a redrive started.

    A run that fan-out started belongs to the next occurrence, and fan-out advances the schedule
    itself.
    """
    for _ in ATTEMPTS:
        schedule = _schedule(run.key, context)
        if schedule is None or schedule.sequence > run.key.sequence:
            return
        if schedule.next_due_at == run.due_at:
            return
        spent = replace(schedule, sequence=run.key.sequence + 1, revision=schedule.revision + 1)
        if context.schedules.put(spent, replacing=schedule):
            return
    raise kept_changing(f"The schedule of run {run_id(run.key)}")
