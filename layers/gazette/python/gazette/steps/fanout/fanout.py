"""From a tick to one message per due run: tick, then shards, then runs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache

from gazette.domain.delivery.batch import Batch
from gazette.domain.delivery.run import Reason
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import Schedule
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.ledgers import Batches
from gazette.domain.ports.queues import MESSAGES_A_CALL, QueuedRun, Shard, ShardQueue
from gazette.domain.scheduling.calendar import SLOT, next_occurrence, slot_of
from gazette.steps.occurrences.start import FanoutContext, Occurrence, Started, start
from gazette.steps.subscribers.schedules import is_active, withdraw

_ENOUGH = timedelta(seconds=30)
"""The longest that ten schedules take, and more."""


@dataclass(frozen=True, slots=True)
class FannedOut:
    """What one shard came to.

    Messages queued, readers for whom nothing waits, what was due too long ago, belongs to a batch
    that was cancelled or to a reader of whom nothing was seen for long, schedules that somebody
    else had moved, and whether another message goes on where the time of this one was over.
    `unreadable`: what is wrong with each row for which a schedule was left behind.
    """

    queued: int = 0
    quiet: int = 0
    late: int = 0
    cancelled: int = 0
    dormant: int = 0
    not_advanced: int = 0
    handed_on: int = 0
    unreadable: tuple[str, ...] = ()

    @property
    def due(self) -> int:
        """How many occurrences there were, whatever became of each."""
        return self.queued + self.quiet + self.late + self.cancelled + self.dormant


_ENDED_AS = {
    Reason.EMPTY: "quiet",
    Reason.TOO_LATE: "late",
    Reason.BATCH_CANCELLED: "cancelled",
    Reason.DORMANT: "dormant",
}


def tick(
    at: datetime, *, batches: Batches, shard_queue: ShardQueue, shards: int, lookback: int
) -> int:
    """Queue every shard, from where it was done last to the slot that `at` lies in.

    Also every other that somebody ever wrote schedules for: they may be in it from when there
    were more, or from a deployment that was taken back. And each slot in which something was left
    behind that could not be read: somebody may have mended it (rule 20). Returns how many were
    queued. A tick that is missing, comes twice or late does no harm. `lookback` is in slots.
    """
    slot = slot_of(at)
    done, announced = batches.checkpoints(), batches.announced()
    queued: list[Shard] = []
    for number in range(shards_in_use(shards, done, announced)):
        begun = min((when for those, when in announced.items() if those > number), default=slot)
        behind = done.get(number, begun - SLOT)
        queued.append(Shard(number, min(behind + SLOT, slot) - SLOT * lookback, slot))
    since = {shard.number: shard.since for shard in queued}
    queued += [
        Shard(number, left, left)
        for number, left in batches.left_behind()
        if left < since.get(number, slot)
    ]
    shard_queue.send(queued)
    return len(queued)


def shards_in_use(shards: int, done: Iterable[int], announced: Iterable[int]) -> int:
    """How many shards may hold a schedule: as many as are set now, or ever were.

    `done` are the shards that have a checkpoint, `announced` the numbers of shards.
    """
    return max((shards, *announced, *(number + 1 for number in done)))


def fan_out(
    shard: Shard, *, context: FanoutContext, shard_queue: ShardQueue, time_left: TimeLeft
) -> FannedOut:
    """Start every run that is due in the shard's slots, page by page, at flat memory.

    Per ten schedules: run rows if absent, then one call that queues those not yet final, then
    the schedules move on, over each occurrence that was missed, to one that lies ahead. A crash
    anywhere repeats from the due index and starts nothing twice. Where nothing waits, or it is
    too late, the run ends here, and no message is queued. At the end the shard's checkpoint moves;
    where too little of the invocation is left, it moves as far as that, and another message goes
    on. A schedule for which some row cannot be read stays where it is, and its slot is remembered;
    all others go on (rule 20).
    """
    begin = cache(context.batches.begin)
    behind = _Behind(shard.number, context.batches)
    done: Counter[str] = Counter()
    for slot, ten in _tens(shard, context):
        if time_left() < _ENOUGH:
            if slot > shard.since:
                context.batches.save_checkpoint(shard.number, slot - SLOT)
            shard_queue.send([replace(shard, since=slot)])
            return FannedOut(**done, handed_on=1, unreadable=tuple(behind.rows))
        open_slot = max(shard.until, slot_of(context.clock()))
        due = list(_readable(ten, slot, behind))
        while due:
            started = list(_started(due, open_slot, begin, behind, context))
            _queue(started, context)
            advanced = list(_advanced(started, behind, context))
            done.update(_tally(started, advanced))
            due = [each for each in advanced if each and slot_of(each.next_due_at) <= open_slot]
    context.batches.save_checkpoint(shard.number, shard.until)
    if shard.since == shard.until < slot_of(context.clock()) and not behind.slots:
        context.batches.catch_up(shard.number, shard.until)
    return FannedOut(**done, unreadable=tuple(behind.rows))


@dataclass(frozen=True, slots=True)
class _Behind:
    """What of a shard could not be read, and the slots in which it is still due.

    Remembered at once, so before the checkpoint moves.
    """

    shard: int
    batches: Batches
    slots: set[datetime] = field(default_factory=set)
    rows: list[str] = field(default_factory=list)

    def leave(self, slot: datetime, unreadable: UnreadableRow) -> None:
        """A schedule stays in the slot where the due index has it."""
        if slot not in self.slots:
            self.batches.leave_behind(self.shard, slot)
        self.slots.add(slot)
        self.rows.append(str(unreadable))


def _readable(
    ten: Iterable[Schedule | UnreadableRow], slot: datetime, behind: _Behind
) -> Iterator[Schedule]:
    for schedule in ten:
        if isinstance(schedule, UnreadableRow):
            behind.leave(slot, schedule)
        else:
            yield schedule


def _started(
    due: Iterable[Schedule],
    open_slot: datetime,
    begin: Callable[[datetime], Batch],
    behind: _Behind,
    context: FanoutContext,
) -> Iterator[Started]:
    for schedule in due:
        slot = slot_of(schedule.next_due_at)
        try:
            yield start(_occurrence(schedule, open_slot), begin(slot), context=context)
        except UnreadableRow as unreadable:
            behind.leave(slot, unreadable)


def _advanced(
    started: Iterable[Started], behind: _Behind, context: FanoutContext
) -> Iterator[Schedule | None]:
    for each in started:
        try:
            yield _advance(each, context)
        except UnreadableRow as unreadable:
            behind.leave(slot_of(each.occurrence.schedule.next_due_at), unreadable)
            yield None


def _tens(
    shard: Shard, context: FanoutContext
) -> Iterator[tuple[datetime, Sequence[Schedule | UnreadableRow]]]:
    """What is due, slot by slot, in as many at a time as one call of the queue takes.

    Each slot begins with nothing, so that time is looked at also where nothing is due.
    """
    slot = shard.since
    while slot <= shard.until:
        yield slot, ()
        for page in context.schedules.due(slot, shard.number):
            for start_at in range(0, len(page), MESSAGES_A_CALL):
                yield slot, page[start_at : start_at + MESSAGES_A_CALL]
        slot += SLOT


def _occurrence(schedule: Schedule, open_slot: datetime) -> Occurrence:
    """What of a schedule is due now, and what after it."""
    following = next_occurrence(schedule.wanted, after=schedule.next_due_at)
    return Occurrence(schedule, following, is_missed=slot_of(following) <= open_slot)


def _queue(started: Sequence[Started], context: FanoutContext) -> None:
    """Also for a run that was there already: its message may be what the crash prevented."""
    spread = context.limits.spread.total_seconds()
    messages = [
        QueuedRun(each.run.key, delay=timedelta(seconds=int(spread * context.random())))
        for each in started
        if not each.run.status.is_final and not each.is_taken
    ]
    if messages:
        context.generate_queue.send(messages)


def _advance(started: Started, context: FanoutContext) -> Schedule | None:
    """The schedule as it moved on; None where it did not.

    One whose sequence was taken stays due, with the next sequence (rule 1). One does not move on
    because somebody else had moved it, or because it has left the due index: with all others of a
    reader who is not active any more, unless they have come back meanwhile.
    """
    schedule, following = started.occurrence.schedule, started.occurrence.next_due_at
    if started.is_taken:
        renumbered = replace(schedule, sequence=schedule.sequence + 1)
        return renumbered if context.schedules.put(renumbered, replacing=schedule) else None
    if started.not_scheduled:
        reader = withdraw(
            schedule.user_id, subscribers=context.subscribers, schedules=context.schedules
        )
        if not is_active(reader):
            return None
    advanced = schedule.advanced(
        following, quiet_until=started.quiet_until, active_until=started.active_until
    )
    moved = context.schedules.put(advanced, replacing=schedule)
    return advanced if moved else None


def _tally(started: Sequence[Started], advanced: Sequence[Schedule | None]) -> Counter[str]:
    """Those of a run that had ended before, by whatever, are not counted again."""
    theirs = [each.run for each in started if not each.is_taken]
    done = Counter(_ENDED_AS[run.reason] for run in theirs if run.reason in _ENDED_AS)
    done["queued"] = sum(not run.status.is_final for run in theirs)
    done["not_advanced"] = sum(
        after is None and not each.not_scheduled
        for each, after in zip(started, advanced, strict=True)
    )
    return done
