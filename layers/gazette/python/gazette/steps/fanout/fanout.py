"""Turn a tick into one message per due run: tick, then shards, then runs."""

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
"""More than ten schedules ever take."""


@dataclass(frozen=True, slots=True)
class FannedOut:
    """The counts of one shard.

    `queued`: messages. `quiet`: readers for whom nothing waits. `late`: due too long ago.
    `cancelled`: of a cancelled batch. `dormant`: of dormant readers. `not_advanced`: schedules that
    another process had changed. `handed_on`: 1 if time ran out and another message continues.
    `unreadable`: what is wrong with each row because of which a schedule was left behind.
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
        """The number of occurrences, whatever became of each."""
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
    """Queue every shard, from its checkpoint to the slot of `at`. Returns the number of messages.

    This includes every shard that was ever announced: it may still hold schedules from a time with
    more shards, or from a deployment that was rolled back. It also includes each slot in which an
    unreadable row was left behind, which may be readable by now (rule 20). A tick that is missing,
    late or repeated does no harm. `lookback` is in slots.
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
    """Return how many shards may hold a schedule: the present setting, or a greater former one.

    `done`: the shards that have a checkpoint. `announced`: the numbers of shards ever announced.
    """
    return max((shards, *announced, *(number + 1 for number in done)))


def fan_out(
    body: str,
    time_left: TimeLeft,
    *,
    decode: Callable[[str], Shard],
    context: FanoutContext,
    shard_queue: ShardQueue,
) -> FannedOut:
    """Start every run that is due in a shard's slots, page by page, in constant memory.

    For ten schedules at a time: create the run rows if absent, queue the runs that have not ended
    in one call, then advance the schedules past every missed occurrence to a future one. After a
    crash it repeats from the due index and starts nothing twice. If nothing waits, or it is too
    late, the run ends here and no message is queued. At the end the shard's checkpoint moves. If
    the invocation runs out of time, the checkpoint moves to the last finished slot, and another
    message continues. A schedule with an unreadable row stays where it is, and its slot is
    remembered; all others continue (rule 20). `decode` reads the shard from the body of a message.
    Raises InvalidEvent if `decode` does.
    """
    shard = decode(body)
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
    """Yield the due schedules, slot by slot, as many at a time as one call of the queue takes.

    Each slot begins with an empty sequence, so that the caller checks the time in every slot.
    """
    slot = shard.since
    while slot <= shard.until:
        yield slot, ()
        for page in context.schedules.due(slot, shard.number):
            for start_at in range(0, len(page), MESSAGES_A_CALL):
                yield slot, page[start_at : start_at + MESSAGES_A_CALL]
        slot += SLOT


def _occurrence(schedule: Schedule, open_slot: datetime) -> Occurrence:
    """Return the due occurrence of a schedule, with the one after it."""
    following = next_occurrence(schedule.wanted, after=schedule.next_due_at)
    return Occurrence(schedule, following, is_missed=slot_of(following) <= open_slot)


def _queue(started: Sequence[Started], context: FanoutContext) -> None:
    """Queue the runs, existing ones too: a crash may have prevented their message."""
    spread = context.limits.spread.total_seconds()
    messages = [
        QueuedRun(each.run.key, delay=timedelta(seconds=int(spread * context.random())))
        for each in started
        if not each.run.status.is_final and not each.is_taken
    ]
    if messages:
        context.generate_queue.send(messages)


def _advance(started: Started, context: FanoutContext) -> Schedule | None:
    """Advance the schedule and return it; None if it did not advance.

    A schedule whose sequence was taken stays due, with the next sequence (rule 1). A schedule does
    not advance if another process has changed it, or if it has left the due index with all other
    schedules of a reader who is no longer active, unless that reader has come back in between.
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
    """Count the results; a run that had ended before is not counted again."""
    theirs = [each.run for each in started if not each.is_taken]
    done = Counter(_ENDED_AS[run.reason] for run in theirs if run.reason in _ENDED_AS)
    done["queued"] = sum(not run.status.is_final for run in theirs)
    done["not_advanced"] = sum(
        after is None and not each.not_scheduled
        for each, after in zip(started, advanced, strict=True)
    )
    return done
