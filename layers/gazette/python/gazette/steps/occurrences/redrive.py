"""Redrive a run that the provider refused to the end: start the schedule's next run now."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from gazette.domain.delivery.redrive import Redriven, RedriveResult
from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status, why_not_sent
from gazette.domain.identity import address_hash, latest_run, run_id
from gazette.domain.model import RunKey, Schedule
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Runs, RunSequences
from gazette.domain.ports.queues import QueuedRun, RunQueue
from gazette.domain.ports.stores import Subscribers, Suppressions
from gazette.domain.subscribers.subscriber import Subscriber
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.occurrences.next_run import start_behind

_COLLECTED = timedelta(minutes=1)
"""The delay of an immediate run, for events that are stored in the same second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedriveContext:
    """The tables, and the queue that the next run goes to. `check_after`: as in SweepLimits."""

    runs: Runs
    schedules: RunSequences
    subscribers: Subscribers
    suppressions: Suppressions
    queue: RunQueue
    clock: Clock
    check_after: timedelta


def is_exhausted(run: Run) -> bool:
    """Whether it failed because the provider refused every attempt."""
    return run.status is Status.FAILED and run.reason is Reason.ATTEMPTS_EXHAUSTED


def redrive(failed: Run, *, context: RedriveContext) -> Redriven:
    """Make sure that a later run sends the events of `failed` (rule 22). Safe to repeat.

    The window of that run begins where the last sent one ended, so nothing is sent twice. The row
    is stored first, if it is absent; then the message; then the schedule's sequence, and nothing
    else of the schedule: the next occurrence is still due at its hour. The schedule is read before
    the runs, so that a sequence that another worker uses meanwhile has a run that is found. A
    repetition finds the run as well, and completes what a crash cut off. Raises NotYet if runs and
    schedule kept changing.
    """
    for _ in ATTEMPTS:
        schedule = _schedule(failed.key, context)
        chain = context.runs.chain(latest_run(failed.key.user_id, failed.key.schedule))
        if carrier := _carrier(failed, chain, context):
            _spend(chain[0], context)
            return Redriven(failed, RedriveResult.SENT_SINCE, carrier)
        if later := _not_ended(failed, chain):
            _go_on(later, context)
            return Redriven(failed, RedriveResult.GOES_WITH, later)
        if instead := _why_not_started(failed, context):
            return instead
        if schedule is None and not failed.key.is_immediate:
            return Redriven(failed, RedriveResult.NO_SCHEDULE)
        started = start_behind(
            chain[0],
            at_least=schedule.sequence if schedule else 0,
            runs=context.runs,
            clock=context.clock,
            check_after=context.check_after,
        )
        if started.is_open:
            _go_on(started, context)
            return Redriven(failed, RedriveResult.STARTED, started)
    raise kept_changing(f"The schedule of run {run_id(failed.key)}")


def _carrier(failed: Run, chain: Sequence[Run], context: RedriveContext) -> Run | None:
    """The first run after `failed` that was sent with a window that covers its events."""
    until = failed.window.until if failed.window else BEGINNING
    found: Run | None = None
    while chain:
        for run in chain:
            if run.key.sequence > failed.key.sequence and run.closes_a_window:
                found = run if run.window and run.window.until >= until else found
        oldest = chain[-1]
        if oldest.key.sequence <= failed.key.sequence + 1 or not oldest.closes_a_window:
            return found
        chain = context.runs.chain(replace(oldest.key, sequence=oldest.key.sequence - 1))
    return found


def _not_ended(failed: Run, chain: Sequence[Run]) -> Run | None:
    """The newest open run after `failed`; a run that is carried is not open."""
    behind = (run for run in chain if run.key.sequence > failed.key.sequence)
    return next((run for run in behind if run.is_open), None)


def _why_not_started(failed: Run, context: RedriveContext) -> Redriven | None:
    """Why the reader gets no email now; None if they do."""
    reader = context.subscribers.get(failed.key.user_id)
    if not isinstance(reader, Subscriber) or not reader.receives_email:
        return Redriven(failed, RedriveResult.RECEIVES_NO_EMAIL, reason=why_not_sent(reader))
    if context.suppressions.holds(address_hash(reader.email)):
        return Redriven(failed, RedriveResult.RECEIVES_NO_EMAIL, reason=Reason.SUPPRESSED)
    if reader.pause and reader.pause.holds_at(context.clock()):
        return Redriven(failed, RedriveResult.PAUSED)
    return None


def _schedule(key: RunKey, context: RedriveContext) -> Schedule | None:
    """The row of the schedule; None for immediate runs, which have none."""
    return None if key.is_immediate else context.schedules.get(key.user_id, key.schedule)


def _go_on(run: Run, context: RedriveContext) -> None:
    """Queue the run, then use its sequence: after a crash in between, a repetition does both."""
    delay = _COLLECTED if run.key.is_immediate else timedelta(0)
    context.queue.send([QueuedRun(run.key, delay)])
    _spend(run, context)


def _spend(run: Run, context: RedriveContext) -> None:
    """Advance the schedule's sequence past a run that a redrive has started.

    A run that fan-out has started is of the next occurrence: fan-out advances the schedule itself.
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
