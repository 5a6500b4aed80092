"""Queue one message per shard at each tick, and one message per due run of a shard."""

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
"""An upper bound for the time to process ten schedules."""

LONG_AGO = tuple(timedelta(hours=hours) for hours in (2, 6, 24, 7 * 24, 31 * 24))
"""The ages of the earlier slots that each tick also reads from the due index."""


@dataclass(frozen=True, slots=True)
class FannedOut:
    """The counts of fan-out for one shard."""

    queued: int = 0
    """Messages that were sent to the generate queue."""

    late: int = 0
    """Runs that were skipped because they were due too long ago."""

    cancelled: int = 0
    """Runs that were skipped because their batch is cancelled."""

    dormant: int = 0
    """Runs that were skipped because their reader is dormant."""

    idle: int = 0
    """Schedules that were taken out of the due index because no events were waiting."""

    passed: int = 0
    """Schedules that query a content source but had no new content at an occurrence."""

    fetches: int = 0
    """Messages that were sent to the content queue."""

    not_advanced: int = 0
    """Schedules that were not advanced because they kept changing."""

    handed_on: int = 0
    """1 if time ran out and another message continues, or else 0."""

    unreadable: tuple[str, ...] = ()
    """The errors of unreadable rows whose schedules were left in their slots."""

    @property
    def due(self) -> int:
        """The number of occurrences with waiting events, regardless of the result."""
        return self.queued + self.late + self.cancelled + self.dormant


_ENDED_AS = {
    Reason.TOO_LATE: "late",
    Reason.BATCH_CANCELLED: "cancelled",
    Reason.DORMANT: "dormant",
}


LOOKBACK = 6
"""The number of earlier slots that each tick also reads, because the due index is eventually
consistent. Six slots are an hour.
"""


def tick(
    at: datetime,
    *,
    batches: Batches,
    shard_queue: ShardQueue,
    shards: int,
    lookback: int,
    looks_ahead: bool = False,
) -> int:
    """Queue a message for every shard, with the slots from its checkpoint to the slot of `at`.

    Returns the number of messages.

    Shards that were used in the past are included, because they may still contain schedules from a
    time with more shards, or from a deployment that was rolled back. Slots with an unreadable row
    are queued too, because the row may be readable by now (rule 20). A missing, late or repeated
    tick is harmless. `lookback` is a number of slots. If `looks_ahead` is True, content sources are
    queried ahead, so each shard gets a second message with the slots that are new to it.
    """
    slot = slot_of(at)
    checkpoints, announced = batches.checkpoints(), batches.announced()
    queued: list[Shard] = []
    for number in range(shards_in_use(shards, checkpoints, announced)):
        start = min((when for those, when in announced.items() if those > number), default=slot)
        behind = checkpoints.get(number, start - SLOT)
        queued.append(Shard(number, min(behind + SLOT, slot) - SLOT * lookback, slot))
    since = {shard.number: shard.since for shard in queued}
    if looks_ahead:
        queued += [
            replace(shard, since=shard.since + SLOT * lookback, ahead=True) for shard in queued
        ]
    queued += [
        Shard(number, slot_left_behind, slot_left_behind)
        for number, slot_left_behind in batches.left_behind()
        if slot_left_behind < since.get(number, slot)
    ]
    shard_queue.send(queued)
    return len(queued)


def shards_in_use(shards: int, done: Iterable[int], announced: Iterable[int]) -> int:
    """Return the number of shards that may contain schedules: the largest current or former
    setting.

    `done` contains the shards that have a checkpoint. `announced` contains all numbers of shards
    that were ever announced.
    """
    return max((shards, *announced, *(number + 1 for number in done)))


def is_beat(body: str, *, decode: Callable[[str], Shard], shards: int, clock: Clock) -> bool:
    """Return True for the regular message of a shard in use, which proves that the clock works.

    Returns False for a shard beyond the `shards` setting. Also returns False for a slot with an
    unreadable row, which is queued separately and later.
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
    """Start all due runs in a shard's slots, one page at a time, in constant memory.

    For ten schedules at a time, the function creates missing run rows, queues the runs that have
    not ended in one call, and advances the schedules past all missed occurrences. After a crash,
    fan-out repeats the work from the due index, and no run is started twice. A run that is too late
    ends here without a message. If no events are waiting, the schedule is taken out of the due
    index (rule 23). The index only determines which schedules to read.

    At the end, the shard's checkpoint advances, and some much earlier slots are read again. If the
    invocation runs out of time, the checkpoint advances to the last completed slot, and another
    message continues. A schedule with an unreadable row stays in its slot, which is recorded; all
    other schedules continue (rule 20). `decode` reads the shard from the body of a message. Raises
    InvalidEvent if `decode` does. `look_ahead` handles a message with `ahead`; it is None if
    sources are not queried ahead.
    """
    shard = decode(body)
    if shard.ahead:
        return look_ahead(shard, time_left) if look_ahead else FannedOut()
    begin = cache(context.batches.begin)
    behind = _Behind(shard.number, context.batches)
    counts: Counter[str] = Counter()
    for slot, ten in _tens(_slots(shard), shard.number, context):
        if time_left() < ENOUGH:
            if slot > shard.since:
                context.batches.save_checkpoint(shard.number, slot - SLOT)
            shard_queue.send([replace(shard, since=slot)])
            return FannedOut(**counts, handed_on=1, unreadable=tuple(behind.rows))
        if ten:
            counts += _process(ten, slot, shard, begin, behind, context)
    context.batches.save_checkpoint(shard.number, shard.until)
    for slot, ten in _tens(_long_ago(shard), shard.number, context):
        if ten and time_left() > ENOUGH:
            counts += _process(ten, slot, shard, begin, behind, context)
    if shard.since == shard.until < slot_of(context.clock()) and not behind.slots:
        context.batches.catch_up(shard.number, shard.until)
    return FannedOut(**counts, unreadable=tuple(behind.rows))


def _process(
    ten: Iterable[Schedule | UnreadableRow],
    slot: datetime,
    shard: Shard,
    begin: Callable[[datetime], Batch],
    behind: "_Behind",
    context: FanoutContext,
) -> Counter[str]:
    """Process several schedules of a slot, and return the counts."""
    open_slot = max(shard.until, slot_of(context.clock()))
    work = _Work(open_slot, begin, behind, context)
    due = list(work.readable(ten, slot))
    while due:
        due = work.start_runs(due)
    return work.counts


@dataclass(frozen=True, slots=True)
class _Behind:
    """The unreadable rows of a shard, and the slots in which the rows' schedules are still due.

    Each slot is stored immediately, before the checkpoint advances.
    """

    shard: int
    batches: Batches
    slots: set[datetime] = field(default_factory=set)
    rows: list[str] = field(default_factory=list)

    def leave(self, slot: datetime, unreadable: UnreadableRow) -> None:
        """Leave a schedule in its slot of the due index, and store the slot."""
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
    """Yield earlier slots, because an entry of the due index may become visible very late.

    The index is eventually consistent, and AWS does not specify a maximum delay.
    """
    if shard.since < shard.until:
        yield from (shard.until - back for back in LONG_AGO if shard.until - back < shard.since)


def _tens(
    slots: Iterable[datetime], shard: int, context: FanoutContext
) -> Iterator[tuple[datetime, Sequence[Schedule | UnreadableRow]]]:
    """Yield the due schedules by slot, in groups that fit into one call of the queue.

    Each slot begins with an empty group, so that the caller checks the time in every slot.
    """
    for slot in slots:
        yield slot, ()
        for keys in context.schedules.due(slot, shard):
            page = context.schedules.get_many(keys)
            for start_at in range(0, len(page), MESSAGES_A_CALL):
                yield slot, page[start_at : start_at + MESSAGES_A_CALL]


@dataclass(frozen=True, slots=True)
class _Work:
    """A worker that processes up to ten due schedules."""

    open_slot: datetime
    begin: Callable[[datetime], Batch]
    """A function that returns the batch of a slot."""

    behind: _Behind
    context: FanoutContext
    counts: Counter[str] = field(default_factory=Counter)
    """The counts of the processed schedules."""

    counted: set[RunKey] = field(default_factory=set)
    """The runs that `counts` already includes."""

    overtaken: Counter[ScheduleKey] = field(default_factory=Counter)
    """The number of concurrent changes that were detected for each schedule."""

    def readable(
        self, rows: Iterable[Schedule | UnreadableRow], slot: datetime
    ) -> Iterator[Schedule]:
        """Yield the due schedules, and leave unreadable rows in their slot of the due index."""
        for row in rows:
            if isinstance(row, UnreadableRow):
                self.behind.leave(slot, row)
            elif self._is_due(row):
                yield row

    def start_runs(self, due: Iterable[Schedule]) -> list[Schedule]:
        """Start a run for each schedule with content to send.

        Return the schedules that are still due. A schedule is still due if it has another
        occurrence in the past, its sequence was already used, or another process changed it.
        """
        started: list[Started] = []
        after: list[Schedule | None] = []
        for schedule in due:
            with self._left_behind(schedule):
                result = self._start(schedule)
                if isinstance(result, Started):
                    started.append(result)
                else:
                    after.append(result)
        self._queue(started)
        for each in started:
            with self._left_behind(each.occurrence.schedule):
                after.append(self._advance(each))
        return [schedule for schedule in after if schedule and self._is_due(schedule)]

    def _start(self, schedule: Schedule) -> Started | Schedule | None:
        """Start the run of an occurrence. If there is no run, return the stored schedule.

        If the occurrence is due at another time according to the current time zone rules, it is
        moved to that time.
        """
        context, armed_for = self.context, schedule.next_due_at
        due_at = due_by_the_clock_of_now(
            schedule.recurrence, armed_for=armed_for, last=schedule.last_due_at
        )
        if due_at != armed_for:
            return move(schedule, due_at, context=context) or self._read_again(schedule)
        occurrence = _occurrence(schedule, self.open_slot)
        result = start(occurrence, self.begin(slot_of(armed_for)), context=context)
        return result if isinstance(result, Started) else self._without_events(result)

    def _queue(self, started: Iterable[Started]) -> None:
        """Queue the runs, including existing runs that may not have been queued because of a crash.

        Counts the outcome of each run. A run that had already ended is not counted again.
        """
        mine = [each.run for each in started if not each.is_taken]
        new = [run for run in mine if run.key not in self.counted]
        self.counted.update(run.key for run in new)
        self.counts.update(_ENDED_AS[run.reason] for run in new if run.reason in _ENDED_AS)
        spread, random = self.context.limits.spread, self.context.random
        messages = [
            QueuedRun(run.key, delay=stagger(spread, random=random()))
            for run in new
            if not run.status.is_final
        ]
        self.counts["queued"] += len(messages)
        if self.context.content:
            delays = {message.key: message.delay for message in messages}
            self.counts["fetches"] += self.context.content.ask_for(
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
            self.counts["passed"] += after is not None and after.next_due_at > schedule.next_due_at
        else:
            after = go_idle(schedule, context=self.context)
            self.counts["idle"] += after is not None and after.is_idle
        return after or self._read_again(schedule)

    def _advance(self, started: Started) -> Schedule | None:
        """Advance the schedule.

        Return the schedule as stored now, or None if there is no more work. A schedule whose
        sequence was taken stays due with the next sequence (rule 1). A schedule that was taken out
        of the due index because its reader is inactive does not advance. If the reader has become
        active in between, it advances.
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
        """Read the schedule again after another process changed it.

        Returns None if the schedule keeps changing or was deleted.
        """
        key = (schedule.user_id, schedule.name)
        self.overtaken[key] += 1
        if self.overtaken[key] > len(ATTEMPTS):
            self.counts["not_advanced"] += 1
            return None
        return self.context.schedules.get(*key)

    @contextmanager
    def _left_behind(self, schedule: Schedule) -> Iterator[None]:
        """Leave a schedule in its slot if one of its rows cannot be read or processed."""
        try:
            with of_one_row("schedules", schedule.user_id, schedule.name):
                yield
        except UnreadableRow as unreadable:
            self.behind.leave(slot_of(schedule.next_due_at), unreadable)


def _occurrence(schedule: Schedule, open_slot: datetime) -> Occurrence:
    """Return the due occurrence of a schedule, with the due time of the next occurrence."""
    next_due_at = following(schedule)
    return Occurrence(schedule, next_due_at, is_missed=slot_of(next_due_at) <= open_slot)
