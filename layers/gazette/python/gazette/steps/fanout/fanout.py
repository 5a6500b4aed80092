"""Turn a tick into one message per due run: tick, then shards, then runs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache

from gazette.domain.delivery.batch import Batch
from gazette.domain.delivery.run import Reason
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import RunKey, Schedule
from gazette.domain.ports.clock import Clock, TimeLeft
from gazette.domain.ports.ledgers import Batches, ScheduleKey
from gazette.domain.ports.queues import MESSAGES_A_CALL, QueuedRun, Shard, ShardQueue
from gazette.domain.scheduling.calendar import (
    SLOT,
    due_by_the_clock_of_now,
    slot_of,
    stagger,
)
from gazette.domain.stored import of_one_row
from gazette.steps.conflicts import ATTEMPTS
from gazette.steps.occurrences.context import FanoutContext
from gazette.steps.occurrences.start import (
    Occurrence,
    Quiet,
    Started,
    following,
    go_idle,
    move,
    start,
    stay_armed,
)
from gazette.steps.subscribers.schedules import is_active, withdraw

ENOUGH = timedelta(seconds=30)
"""More than ten schedules ever take."""

_LONG_AGO = tuple(timedelta(hours=hours) for hours in (2, 6, 24, 7 * 24, 31 * 24))
"""How far back each tick also reads one slot of the due index."""


@dataclass(frozen=True, slots=True)
class FannedOut:
    """The counts of one shard.

    `queued`: messages. `late`: due too long ago. `cancelled`: of a cancelled batch. `dormant`: of
    dormant readers. `idle`: schedules that left the due index because nothing waits in them.
    `passed`: schedules that ask a content source, and had nothing new at an occurrence. `fetches`:
    messages to the content queue.
    `not_advanced`: schedules that kept changing. `handed_on`: 1 if time ran out and another message
    continues. `unreadable`: what is wrong with each row because of which a schedule was left
    behind.
    """

    queued: int = 0
    late: int = 0
    cancelled: int = 0
    dormant: int = 0
    idle: int = 0
    passed: int = 0
    fetches: int = 0
    not_advanced: int = 0
    handed_on: int = 0
    unreadable: tuple[str, ...] = ()

    @property
    def due(self) -> int:
        """The number of occurrences for which something waited, whatever became of each."""
        return self.queued + self.late + self.cancelled + self.dormant


_ENDED_AS = {
    Reason.TOO_LATE: "late",
    Reason.BATCH_CANCELLED: "cancelled",
    Reason.DORMANT: "dormant",
}


def tick(
    at: datetime,
    *,
    batches: Batches,
    shard_queue: ShardQueue,
    shards: int,
    lookback: int,
    looks_ahead: bool = False,
) -> int:
    """Queue every shard, from its checkpoint to the slot of `at`. Returns the number of messages.

    This includes every shard that was ever announced: it may still hold schedules from a time with
    more shards, or from a deployment that was rolled back. It also includes each slot in which an
    unreadable row was left behind, which may be readable by now (rule 20). A tick that is missing,
    late or repeated does no harm. `lookback` is in slots. `looks_ahead`: content sources are asked
    ahead, so each shard gets a second message, of the slots that are new to it.
    """
    slot = slot_of(at)
    done, announced = batches.checkpoints(), batches.announced()
    queued: list[Shard] = []
    for number in range(shards_in_use(shards, done, announced)):
        begun = min((when for those, when in announced.items() if those > number), default=slot)
        behind = done.get(number, begun - SLOT)
        queued.append(Shard(number, min(behind + SLOT, slot) - SLOT * lookback, slot))
    since = {shard.number: shard.since for shard in queued}
    if looks_ahead:
        queued += [
            replace(shard, since=shard.since + SLOT * lookback, ahead=True) for shard in queued
        ]
    queued += [
        Shard(number, left, left)
        for number, left in batches.left_behind()
        if left < since.get(number, slot)
    ]
    shard_queue.send(queued)
    return len(queued)


def shards_in_use(shards: int, done: Iterable[int], announced: Iterable[int]) -> int:
    """Return how many shards may hold a schedule: the present setting, or a greater former one.

    `done`: the shards that have a checkpoint. `announced`: the numbers of shards ever announced.
    """
    return max((shards, *announced, *(number + 1 for number in done)))


def is_beat(body: str, *, decode: Callable[[str], Shard], shards: int, clock: Clock) -> bool:
    """Whether a message is one of those, one for each shard in use, by which the clock is heard.

    Not so: a former shard, beyond the setting `shards`; and a slot that was left behind, which is
    asked for alone, after its time.
    """
    shard = decode(body)
    return (
        not shard.ahead
        and shard.number < shards
        and (shard.since < shard.until or shard.until >= slot_of(clock()))
    )


def fan_out(
    body: str,
    time_left: TimeLeft,
    *,
    decode: Callable[[str], Shard],
    context: FanoutContext,
    shard_queue: ShardQueue,
    look_ahead: Callable[[Shard, TimeLeft], FannedOut] | None = None,
) -> FannedOut:
    """Start every run that is due in a shard's slots, page by page, in constant memory.

    For ten schedules at a time: create the run rows if absent, queue the runs that have not ended
    in one call, then advance the schedules past every missed occurrence to a future one. After a
    crash it repeats from the due index and starts nothing twice. If it is too late, the run ends
    here and no message is queued; if nothing waits, the schedule leaves the due index (rule 23).
    The index says only what to read. Then the shard's checkpoint moves, and some slots of long ago
    are read again. If the invocation runs out of time before, the checkpoint moves to the last
    finished slot, and another message continues.
    A schedule with an unreadable row stays where it is, and its slot is remembered; all others
    continue (rule 20). `decode` reads the shard from the body of a message. Raises InvalidEvent if
    `decode` does. `look_ahead` does what a message `ahead` asks for; None: nothing is asked ahead.
    """
    shard = decode(body)
    if shard.ahead:
        return look_ahead(shard, time_left) if look_ahead else FannedOut()
    begin = cache(context.batches.begin)
    behind = _Behind(shard.number, context.batches)
    done: Counter[str] = Counter()
    for slot, ten in _tens(_slots(shard), shard.number, context):
        if time_left() < ENOUGH:
            if slot > shard.since:
                context.batches.save_checkpoint(shard.number, slot - SLOT)
            shard_queue.send([replace(shard, since=slot)])
            return FannedOut(**done, handed_on=1, unreadable=tuple(behind.rows))
        if ten:
            done += _met(ten, slot, shard, begin, behind, context)
    context.batches.save_checkpoint(shard.number, shard.until)
    for slot, ten in _tens(_long_ago(shard), shard.number, context):
        if ten and time_left() > ENOUGH:
            done += _met(ten, slot, shard, begin, behind, context)
    if shard.since == shard.until < slot_of(context.clock()) and not behind.slots:
        context.batches.catch_up(shard.number, shard.until)
    return FannedOut(**done, unreadable=tuple(behind.rows))


def _met(
    ten: Iterable[Schedule | UnreadableRow],
    slot: datetime,
    shard: Shard,
    begin: Callable[[datetime], Batch],
    behind: "_Behind",
    context: FanoutContext,
) -> Counter[str]:
    """Do what there is to do for some schedules of a slot; returns the counts."""
    open_slot = max(shard.until, slot_of(context.clock()))
    work = _Work(open_slot, begin, behind, context)
    due = list(work.readable(ten, slot))
    while due:
        due = work.meet(due)
    return work.done


@dataclass(frozen=True, slots=True)
class _Behind:
    """The unreadable rows of a shard, and the slots in which their schedules are still due.

    Each slot is stored at once, before the checkpoint moves.
    """

    shard: int
    batches: Batches
    slots: set[datetime] = field(default_factory=set)
    rows: list[str] = field(default_factory=list)

    def leave(self, slot: datetime, unreadable: UnreadableRow) -> None:
        """Leave a schedule in its slot of the due index, and remember the slot."""
        if slot not in self.slots:
            self.batches.leave_behind(self.shard, slot)
        self.slots.add(slot)
        self.rows.append(str(unreadable))


def _slots(shard: Shard) -> Iterator[datetime]:
    slot = shard.since
    while slot <= shard.until:
        yield slot
        slot += SLOT


def _long_ago(shard: Shard) -> Iterator[datetime]:
    """Slots before those of the shard: an entry of the due index may become visible very late.

    The index is eventually consistent, and nobody says how far behind it can be.
    """
    if shard.since < shard.until:
        yield from (shard.until - back for back in _LONG_AGO if shard.until - back < shard.since)


def _tens(
    slots: Iterable[datetime], shard: int, context: FanoutContext
) -> Iterator[tuple[datetime, Sequence[Schedule | UnreadableRow]]]:
    """Yield the due schedules, slot by slot, as many at a time as one call of the queue takes.

    Each slot begins with an empty sequence, so that the caller checks the time in every slot.
    """
    for slot in slots:
        yield slot, ()
        for keys in context.schedules.due(slot, shard):
            page = context.schedules.get_many(keys)
            for start_at in range(0, len(page), MESSAGES_A_CALL):
                yield slot, page[start_at : start_at + MESSAGES_A_CALL]


@dataclass(frozen=True, slots=True)
class _Work:
    """What is done with the due schedules of up to ten readers. `done` counts it.

    `begin` returns the batch of a slot. `counted`: the runs that are in `done`. `overtaken`: how
    often each schedule was changed by somebody else.
    """

    open_slot: datetime
    begin: Callable[[datetime], Batch]
    behind: _Behind
    context: FanoutContext
    done: Counter[str] = field(default_factory=Counter)
    counted: set[RunKey] = field(default_factory=set)
    overtaken: Counter[ScheduleKey] = field(default_factory=Counter)

    def readable(
        self, rows: Iterable[Schedule | UnreadableRow], slot: datetime
    ) -> Iterator[Schedule]:
        """Those of the rows that are due; `slot` is where the index has them."""
        for row in rows:
            if isinstance(row, UnreadableRow):
                self.behind.leave(slot, row)
            elif self._is_due(row):
                yield row

    def meet(self, due: Iterable[Schedule]) -> list[Schedule]:
        """Start a run for each that has something to send; returns those that are still due.

        Those are the ones with another occurrence that has passed, those whose sequence was used,
        and those that somebody else has changed, as they are now.
        """
        started: list[Started] = []
        after: list[Schedule | None] = []
        for schedule in due:
            with self._left_behind(schedule):
                found = self._start(schedule)
                if isinstance(found, Started):
                    started.append(found)
                else:
                    after.append(found)
        self._queue(started)
        for each in started:
            with self._left_behind(each.occurrence.schedule):
                after.append(self._advance(each))
        return [schedule for schedule in after if schedule and self._is_due(schedule)]

    def _start(self, schedule: Schedule) -> Started | Schedule | None:
        """Start the run of an occurrence; if there is none, return the schedule as stored now.

        An occurrence that is due at another time by the clock of now is moved there.
        """
        context, armed_for = self.context, schedule.next_due_at
        due_at = due_by_the_clock_of_now(
            schedule.wanted, armed_for=armed_for, last=schedule.last_due_at
        )
        if due_at != armed_for:
            return move(schedule, due_at, context=context) or self._read_again(schedule)
        occurrence = _occurrence(schedule, self.open_slot)
        found = start(occurrence, self.begin(slot_of(armed_for)), context=context)
        return found if isinstance(found, Started) else self._without_events(found)

    def _queue(self, started: Iterable[Started]) -> None:
        """Queue the runs, existing ones too: a crash may have prevented their message.

        Count what became of each; a run that had ended before is not counted again.
        """
        mine = [each.run for each in started if not each.is_taken]
        new = [run for run in mine if run.key not in self.counted]
        self.counted.update(run.key for run in new)
        self.done.update(_ENDED_AS[run.reason] for run in new if run.reason in _ENDED_AS)
        spread, random = self.context.limits.spread, self.context.random
        messages = [
            QueuedRun(run.key, delay=stagger(spread, random=random()))
            for run in new
            if not run.status.is_final
        ]
        self.done["queued"] += len(messages)
        if self.context.content:
            delays = {message.key: message.delay for message in messages}
            self.done["fetches"] += self.context.content.ask_for(
                (run, delays[run.key]) for run in new if run.asked_at and run.key in delays
            )
        if messages:
            self.context.generate_queue.send(messages)

    def _is_due(self, schedule: Schedule) -> bool:
        return schedule.listed and slot_of(schedule.next_due_at) <= self.open_slot

    def _without_events(self, quiet: Quiet) -> Schedule | None:
        schedule = quiet.occurrence.schedule
        if quiet.asks:
            after = stay_armed(quiet, context=self.context)
            self.done["passed"] += after is not None and after.next_due_at > schedule.next_due_at
        else:
            after = go_idle(schedule, context=self.context)
            self.done["idle"] += after is not None and after.is_idle
        return after or self._read_again(schedule)

    def _advance(self, started: Started) -> Schedule | None:
        """Advance the schedule; returns it as stored now, None if nothing is left to do.

        A schedule whose sequence was taken stays due, with the next sequence (rule 1). A schedule
        does not advance if it has left the due index with all other schedules of a reader who is
        no longer active, unless that reader has come back in between.
        """
        context = self.context
        schedule, next_due_at = started.occurrence.schedule, started.occurrence.next_due_at
        if started.is_taken:
            after = schedule.renumbered()
        else:
            if started.not_scheduled:
                reader = withdraw(
                    schedule.user_id, subscribers=context.subscribers, schedules=context.schedules
                )
                if not is_active(reader):
                    return None
            after = schedule.advanced(next_due_at, active_until=started.active_until)
        if context.schedules.put(after, replacing=schedule):
            return after
        return self._read_again(schedule)

    def _read_again(self, schedule: Schedule) -> Schedule | None:
        """The schedule as somebody else has left it; None if it keeps changing, or is gone."""
        key = (schedule.user_id, schedule.name)
        self.overtaken[key] += 1
        if self.overtaken[key] > len(ATTEMPTS):
            self.done["not_advanced"] += 1
            return None
        return self.context.schedules.get(*key)

    @contextmanager
    def _left_behind(self, schedule: Schedule) -> Iterator[None]:
        """Leave a schedule in its slot if one of its rows cannot be read, or computed with."""
        try:
            with of_one_row("schedules", schedule.user_id, schedule.name):
                yield
        except UnreadableRow as unreadable:
            self.behind.leave(slot_of(schedule.next_due_at), unreadable)


def _occurrence(schedule: Schedule, open_slot: datetime) -> Occurrence:
    """Return the due occurrence of a schedule, with the one after it."""
    next_due_at = following(schedule)
    return Occurrence(schedule, next_due_at, is_missed=slot_of(next_due_at) <= open_slot)
