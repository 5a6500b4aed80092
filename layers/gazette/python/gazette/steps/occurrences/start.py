"""Start the run of a due occurrence: one to send, or one that ends here with its reason."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gazette.domain.delivery.batch import Batch
from gazette.domain.delivery.run import BEGINNING, Reason, Run, Status, settled_until
from gazette.domain.identity import latest_run
from gazette.domain.model import RunKey, Schedule, Window
from gazette.domain.ports.clock import Clock
from gazette.domain.ports.ledgers import Batches, Runs, Schedules
from gazette.domain.ports.queues import RunQueue
from gazette.domain.ports.stores import EventReader, Subscribers
from gazette.steps.subscribers.sunset import active_until

_SOON = timedelta(days=8)
"""Events of a run that is too late wait for the next digest, if that is due within a week. The
eighth day allows for changes of clocks."""


@dataclass(frozen=True, slots=True)
class FanoutLimits:
    """`spread`: longest random delay of a message. `settle_lag`: as in deliver.

    `check_after`: when the sweep looks at a run. `max_lateness`: an occurrence that was due longer
    ago is skipped, and its events go with the next one, if that is due within about a week.
    `sunset`: a reader is dormant after so long without a sign of life; None: never.
    """

    settle_lag: timedelta
    max_lateness: timedelta
    spread: timedelta
    check_after: timedelta
    sunset: timedelta | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FanoutContext:
    """The tables and the queue by which due schedules become runs.

    `random` returns a number from 0 to 1.
    """

    subscribers: Subscribers
    schedules: Schedules
    runs: Runs
    events: EventReader
    batches: Batches
    generate_queue: RunQueue
    clock: Clock
    random: Callable[[], float]
    limits: FanoutLimits


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A schedule that is due, and when it is due next.

    `is_missed`: the next one is due as well, so this one is skipped.
    """

    schedule: Schedule
    next_due_at: datetime
    is_missed: bool


@dataclass(frozen=True, slots=True)
class Started:
    """The run of an occurrence as it is stored, and what to write to its schedule.

    `quiet_until`, `active_until`: as in Schedule. `not_scheduled`: the schedule leaves the due
    index, because the reader is not active.
    """

    occurrence: Occurrence
    run: Run
    quiet_until: datetime | None = None
    active_until: datetime | None = None
    not_scheduled: bool = False

    @property
    def is_taken(self) -> bool:
        """Whether another occurrence has used the sequence, so that this one needs the next.

        For a while the due index may show a schedule as it was before it was erased and made anew,
        or advanced. A run that is started from that has a sequence that is used again.
        """
        return self.run.due_at != self.occurrence.schedule.next_due_at


def start(occurrence: Occurrence, batch: Batch, *, context: FanoutContext) -> Started:
    """Make sure that the occurrence has a run. Safe to repeat: an existing run stays as it is."""
    schedule, limits = occurrence.schedule, context.limits
    run = Run(
        key=RunKey(schedule.user_id, schedule.name, schedule.sequence),
        due_at=schedule.next_due_at,
        check_at=context.clock() + limits.spread + limits.check_after,
    )
    until = _active_until(schedule, context)
    if isinstance(until, Reason):
        run = replace(run, status=Status.SKIPPED, reason=until)
        return Started(occurrence, context.runs.create(run), not_scheduled=True)
    quiet_until = _quiet_until(schedule, context)
    if batch.cancelled_at:
        run = replace(run, status=Status.CANCELLED, reason=Reason.BATCH_CANCELLED)
    elif quiet_until:
        run = replace(run, status=Status.SKIPPED, reason=Reason.EMPTY)
    elif _is_too_late(occurrence, context):
        run = replace(run, status=Status.SKIPPED, reason=Reason.TOO_LATE)
    return Started(occurrence, context.runs.create(run), quiet_until, until)


def _active_until(schedule: Schedule, context: FanoutContext) -> datetime | Reason | None:
    """Until when the reader is active; read anew only when the stored answer has expired."""
    known = schedule.active_until
    if known and context.clock() < known:
        return known
    return active_until(
        schedule.user_id,
        subscribers=context.subscribers,
        sunset=context.limits.sunset,
        clock=context.clock,
    )


def _quiet_until(schedule: Schedule, context: FanoutContext) -> datetime | None:
    """Up to when nothing is left to send, if nothing waits now; else None.

    Usually nothing was stored since the last such answer. Otherwise all runs must have ended, and
    no event may be stored after the last one that was sent or given up.
    """
    user_id, name, events = schedule.user_id, schedule.name, context.events
    until = context.clock() - context.limits.settle_lag
    since = schedule.quiet_until or BEGINNING
    if events.holds(user_id, name, Window(since, until)):
        chain = context.runs.chain(latest_run(user_id, name))
        if not all(run.status.is_final for run in chain):
            return None
        if events.holds(user_id, name, Window(max(since, settled_until(chain)), until)):
            return None
    return until


def _is_too_late(occurrence: Occurrence, context: FanoutContext) -> bool:
    """Whether to skip it; not if the next is far, for its events would wait a long time again."""
    if occurrence.is_missed:
        return True
    now = context.clock()
    if now - occurrence.schedule.next_due_at <= context.limits.max_lateness:
        return False
    return occurrence.next_due_at - now <= _SOON
