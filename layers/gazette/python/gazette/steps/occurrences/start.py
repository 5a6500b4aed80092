"""Start the run of a due occurrence; where nothing waits for it, the schedule goes idle.

A schedule that asks a content source does not go idle: nobody else would arm it.
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
"""Events of a run that is too late wait for the next digest, if that is due within a week. The
eighth day allows for changes of clocks."""


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

    `active_until`: as in Schedule. `not_scheduled`: the schedule leaves the due index, because the
    reader is not active. `waits`: whether an event waited, or a run; else only sources are asked.
    """

    occurrence: Occurrence
    run: Run
    active_until: datetime | None = None
    not_scheduled: bool = False
    waits: bool = True

    @property
    def is_taken(self) -> bool:
        """Whether the sequence has been used already, so that this occurrence needs the next one.

        A sequence may have been used for another occurrence: by a redrive, or before the schedule
        was erased and made anew. Or for this one, when nothing waited yet.
        """
        is_of_another = self.run.due_at != self.occurrence.schedule.next_due_at
        sent_nothing = _SENT_NOTHING if self.waits else _NEVER_STARTED
        return is_of_another or self.run.reason in sent_nothing


_NEVER_STARTED = {Reason.NOTHING_WAITED, Reason.EMPTY}
_SENT_NOTHING = {*_NEVER_STARTED, Reason.NOTHING_NEW, Reason.NO_CONTENT}
"""Where a run ended so and its occurrence has an event after all, that needs another run. Where it
has none, its sources were asked already: that was the run of the occurrence."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """An occurrence for which nothing waits. `asks`: its schedule asks a content source.

    `active_until`: as in Started. `head`: of the run that uses its sequence.
    """

    occurrence: Occurrence
    asks: bool = False
    active_until: datetime | None = None
    head: Head | None = None


def start(occurrence: Occurrence, batch: Batch, *, context: FanoutContext) -> Started | Quiet:
    """Make sure that the occurrence has a run, unless nothing waits for it.

    A run that asks content sources is started as well where their items are not stored, or stale:
    it waits for them. Safe to repeat: an existing run stays as it is.
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


def _is_too_late(occurrence: Occurrence, context: FanoutContext) -> bool:
    """Whether to skip it; not if the next is far, for its events would wait a long time again."""
    if occurrence.is_missed:
        return True
    now = context.clock()
    if now - occurrence.schedule.next_due_at <= context.limits.max_lateness:
        return False
    return occurrence.next_due_at - now <= _SOON


def is_waiting(schedule: Schedule, chain: Sequence[Run], *, events: EventReader) -> bool:
    """Whether a run of the schedule may still send, or an event is left for the next one.

    Looks as a run reads its window, but without an end: an event that was stored a moment ago
    waits as well. The runs are read first, so that no event is between two looks.
    """
    if not all(run.status.is_final for run in chain):
        return True
    return events.holds(schedule.user_id, schedule.name, after=settled_until(chain))


def _chain(schedule: Schedule, context: FanoutContext) -> Sequence[Run]:
    return context.runs.chain(latest_run(schedule.user_id, schedule.name))


def go_idle(schedule: Schedule, *, context: FanoutContext) -> Schedule | None:
    """Take a schedule for which nothing was found out of the due index (rule 23).

    It is flagged first, and looked at again: whoever stores an event from then on arms it. Then its
    sequence is used, so that nobody starts a run under it who has read the schedule before. A flag
    that a crash has left is adopted. If the occurrence has a run that has ended since, whoever
    started it died before the schedule advanced: it counts as started, or its date could have a
    second digest (rule 1). Returns the schedule as stored now, which is still due if something
    waits after all; None if another process has changed it. Safe to repeat.
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
    """Move a schedule that asks content sources on, past an occurrence for which nothing waits.

    It stays in the due index, so nobody who stores an event meanwhile needs to arm it, and no flag
    is needed: that event is in the next digest. The sequence is used as where a schedule goes idle:
    nobody starts a run under it who has read the schedule before. Returns the schedule as stored
    now, which is still due if something waits after all; None if another process has changed it.
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
    """Move an occurrence that is due at another time by the clock of now; none is started for it.

    Its sequence is used, so that a worker that goes by older rules of the zone starts no run under
    it. If such a worker has started one before, that counts as the digest of its date. Returns the
    schedule as stored now; None if another process has changed it. Safe to repeat.
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
    """The occurrence after the next one, once that was started: on another date."""
    due_at = schedule.next_due_at
    return next_on_another_date(schedule.wanted, after=due_at, last=due_at)


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
