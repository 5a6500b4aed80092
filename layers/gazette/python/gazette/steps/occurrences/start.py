"""Start the run of a due occurrence. If no event is waiting, the schedule becomes idle.

A schedule that queries a content source does not become idle, because no event would arm it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from gazette.domain.delivery.batch import Batch
from gazette.domain.delivery.run import Head, Reason, Run, Status, settled_until
from gazette.domain.identity import latest_run
from gazette.domain.model import RunKey, Schedule, ScheduleState
from gazette.domain.ports.stores import EventReader
from gazette.domain.scheduling.calendar import next_on_another_date
from gazette.domain.scheduling.chain import head_for
from gazette.steps.occurrences.context import FanoutContext
from gazette.steps.subscribers.sunset import active_until

_SOON = timedelta(days=8)
"""The longest time for which a skipped run's events may wait for the next digest.

It is a week, plus a day for clock changes.
"""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A due occurrence of a schedule."""

    schedule: Schedule
    next_due_at: datetime
    """The due time of the next occurrence."""

    is_missed: bool
    """True if the next occurrence is also due, so that this occurrence is skipped."""


@dataclass(frozen=True, slots=True)
class Started:
    """The stored run of an occurrence, and values that advancing the schedule requires."""

    occurrence: Occurrence
    run: Run
    active_until: datetime | None = None
    """The time until which the reader certainly counts as active."""

    not_scheduled: bool = False
    """True if the schedule is taken out of the due index because the reader is not active."""

    waits: bool = True
    """True if an event or a run was waiting, False if only sources are queried."""

    @property
    def is_taken(self) -> bool:
        """Return True if the sequence was already used, so that this occurrence needs the next
        sequence.

        A sequence may have been used for another occurrence, by a redrive or before the schedule
        was erased and created again. It may also have been used for this occurrence when no event
        was waiting yet.
        """
        is_of_another = self.run.due_at != self.occurrence.schedule.next_due_at
        sent_nothing = _SENT_NOTHING if self.waits else _NEVER_STARTED
        return is_of_another or self.run.reason in sent_nothing


_NEVER_STARTED = {Reason.NOTHING_WAITED, Reason.EMPTY}
_SENT_NOTHING = {*_NEVER_STARTED, Reason.NOTHING_NEW, Reason.NO_CONTENT}
"""The reasons for which runs end without events.

If an event is now waiting for the occurrence, the occurrence needs another run. If no event is
waiting, its sources were already queried, so the run was the occurrence's run.
"""


@dataclass(frozen=True, slots=True)
class Quiet:
    """An occurrence without waiting events."""

    occurrence: Occurrence
    asks: bool = False
    """True if the schedule queries a content source."""

    active_until: datetime | None = None
    """The time until which the reader certainly counts as active."""

    head: Head | None = None
    """The head for the run that uses the schedule's sequence."""


def start(occurrence: Occurrence, batch: Batch, *, context: FanoutContext) -> Started | Quiet:
    """Ensure that the occurrence has a run, unless no event is waiting.

    If a schedule queries content sources and their items are missing or stale, a run is also
    started, and waits for the items. Safe to repeat, because an existing run is unchanged.
    """
    schedule, limits, now = occurrence.schedule, context.limits, context.clock()
    asks = context.content is not None and context.content.asks(schedule)
    lacks = context.content is not None and context.content.lacks(schedule)
    run = Run(
        key=RunKey(schedule.user_id, schedule.name, schedule.sequence),
        due_at=schedule.next_due_at,
        check_at=now + limits.spread + limits.check_after,
        created_at=now,
        sources=schedule.sources if asks else (),
        asked_at=now if lacks else None,
    )
    waits = True
    until = _active_until(schedule, context)
    if isinstance(until, Reason):
        run = replace(run, status=Status.SKIPPED, reason=until)
        return Started(occurrence, context.runs.create(run), not_scheduled=True)
    if batch.cancelled_at:
        run = replace(run, status=Status.CANCELLED, reason=Reason.BATCH_CANCELLED)
    else:
        chain = _chain(schedule, context)
        waits = is_waiting(schedule, chain, events=context.events)
        run = replace(run, head=head_for(chain, now))
        is_too_late = _is_too_late(occurrence, context)
        if not waits and (is_too_late or not lacks):
            return Quiet(occurrence, asks, until, run.head)
        if is_too_late:
            run = replace(run, status=Status.SKIPPED, reason=Reason.TOO_LATE)
    return Started(occurrence, context.runs.create(run), until, waits=waits)


def _active_until(schedule: Schedule, context: FanoutContext) -> datetime | Reason | None:
    """Return the time until which the reader is active.

    The reader's row is read only if the stored time has passed.
    """
    known = schedule.active_until
    if known and context.clock() < known:
        return known
    return active_until(
        schedule.user_id,
        subscribers=context.subscribers,
        sunset=context.sunset,
        clock=context.clock,
    )


def _is_too_late(occurrence: Occurrence, context: FanoutContext) -> bool:
    """Return True if the occurrence must be skipped because it was due too long ago.

    Returns False if the next occurrence is far away, because the events would wait too long.
    """
    if occurrence.is_missed:
        return True
    now = context.clock()
    if now - occurrence.schedule.next_due_at <= context.limits.max_lateness:
        return False
    return occurrence.next_due_at - now <= _SOON


def is_waiting(schedule: Schedule, chain: Sequence[Run], *, events: EventReader) -> bool:
    """Return True if a run of the schedule may still be sent, or an event is left for the next run.

    Reads in the same order as a run, but without an end of the window, because an event that was
    stored a moment ago is waiting too. The runs are read first, so that no event is missed between
    the reads.
    """
    if not all(run.status.is_final for run in chain):
        return True
    return events.holds(schedule.user_id, schedule.name, after=settled_until(chain))


def _chain(schedule: Schedule, context: FanoutContext) -> Sequence[Run]:
    return context.runs.chain(latest_run(schedule.user_id, schedule.name))


def go_idle(schedule: Schedule, *, context: FanoutContext) -> Schedule | None:
    """Take a schedule without waiting events out of the due index (rule 23).

    The schedule is flagged first, then checked again. An event that is stored from then on arms it.
    Then the sequence is used, so that a worker that read the schedule before starts no run with it.
    A flag that a crash left behind is adopted. If the occurrence has a run that has ended since,
    the worker crashed before it advanced the schedule. The occurrence then counts as started,
    because its date could otherwise have a second digest (rule 1). Returns the schedule as stored
    now, which is still due if an event is waiting after all, or None if another process changed the
    schedule. Safe to repeat.
    """
    head: Head | None = None
    if schedule.state is not ScheduleState.LEAVING:
        leaving = schedule.leaving()
        if not context.schedules.put(leaving, replacing=schedule):
            return None
        schedule = leaving
        chain = _chain(schedule, context)
        if is_waiting(schedule, chain, events=context.events):
            return schedule
        head = head_for(chain, context.clock())
    used = context.runs.create(replace(_ended(schedule, context), head=head))
    is_taken = used.due_at != schedule.next_due_at
    if not is_taken and not used.status.is_final:
        return schedule
    after = schedule.renumbered() if is_taken else schedule.idle()
    if not is_taken and used.reason is not Reason.NOTHING_WAITED:
        after = replace(after, last_due_at=used.due_at)
    return after if context.schedules.put(after, replacing=schedule) else None


def stay_armed(quiet: Quiet, *, context: FanoutContext) -> Schedule | None:
    """Advance a schedule that queries content sources past an occurrence without waiting events.

    The schedule stays in the due index, so an event that is stored in between needs no flag to arm
    it, and goes into the next digest. The sequence is used, as for a schedule that becomes idle, so
    that a worker that read the schedule before starts no run with it. Returns the schedule as
    stored now, which is still due if an event is waiting after all, or None if another process
    changed the schedule.
    """
    schedule = quiet.occurrence.schedule
    ended = replace(_ended(schedule, context), sources=schedule.sources, head=quiet.head)
    used = context.runs.create(ended)
    if used.due_at != schedule.next_due_at:
        after = schedule.renumbered()
    elif not used.status.is_final:
        return schedule
    else:
        following = quiet.occurrence.next_due_at
        after = schedule.advanced(following, active_until=quiet.active_until)
        if used.reason is Reason.NOTHING_WAITED:
            after = replace(after, last_due_at=schedule.last_due_at)
    return after if context.schedules.put(after, replacing=schedule) else None


def move(schedule: Schedule, due_at: datetime, *, context: FanoutContext) -> Schedule | None:
    """Move an occurrence whose due time has changed with the time zone rules. Start no run.

    The sequence is used, so that a worker with older time zone rules starts no run with it. If such
    a worker has already started a run, this run counts as the digest of its date. Returns the
    schedule as stored now, or None if another process changed the schedule. Safe to repeat.
    """
    moved = replace(_ended(schedule, context), reason=Reason.SUPERSEDED)
    used = context.runs.create(moved)
    if used.due_at != schedule.next_due_at:
        after = schedule.renumbered()
    elif used.reason is moved.reason:
        after = replace(schedule.advanced(due_at), last_due_at=schedule.last_due_at)
    else:
        after = schedule.advanced(following(schedule))
    return after if context.schedules.put(after, replacing=schedule) else None


def following(schedule: Schedule) -> datetime:
    """Return the occurrence after the next occurrence, on a different date."""
    due_at = schedule.next_due_at
    return next_on_another_date(schedule.recurrence, after=due_at, last=due_at)


def _ended(schedule: Schedule, context: FanoutContext) -> Run:
    now = context.clock()
    return Run(
        key=RunKey(schedule.user_id, schedule.name, schedule.sequence),
        due_at=schedule.next_due_at,
        check_at=now,
        created_at=now,
        status=Status.SKIPPED,
        reason=Reason.NOTHING_WAITED,
    )
