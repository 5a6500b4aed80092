"""From a tick to one message per due run: tick, then shards, then runs."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfoNotFoundError

from gazette.domain.calendar import SLOT, last_instant_of_slot, next_occurrence, slot_of
from gazette.domain.errors import BrokenSchedule
from gazette.domain.identity import latest_run
from gazette.domain.model import RunKey, Schedule, Window
from gazette.domain.ports import (
    MESSAGES_A_CALL,
    Clock,
    GenerateQueue,
    QueuedRun,
    Shard,
    ShardQueue,
)
from gazette.domain.run import BEGINNING, Reason, Run, Status, sent_until
from gazette.domain.stores import EventReader, Runs, Schedules

_SOON = timedelta(days=8)
"""What is put off to the next digest is in it by then: a week, and a day for clocks."""


@dataclass(frozen=True, slots=True)
class FanoutLimits:
    """`spread`: longest random delay of a message. `check_after`: when the sweep looks at a run.

    `lookback`: how many earlier slots each tick reads again, because the due index is
    eventually consistent and a tick can be missed. `settle_lag`: as in deliver.
    `max_lateness`: what is due longer ago is not started any more, and its events go with the
    next, if that comes within a week or so.
    """

    shards: int
    lookback: int
    settle_lag: timedelta
    max_lateness: timedelta
    spread: timedelta
    check_after: timedelta


@dataclass(frozen=True, slots=True)
class FannedOut:
    """What one shard came to.

    Messages queued, readers for whom nothing waits, what was due too long ago, and schedules
    that somebody else had moved.
    """

    queued: int = 0
    quiet: int = 0
    late: int = 0
    not_advanced: int = 0


def tick(time: datetime, *, shard_queue: ShardQueue, limits: FanoutLimits) -> int:
    """Queue every shard of the slot that `time` lies in and of those before it.

    Returns the number of shards. A tick that comes twice or late does no harm.
    """
    slot = slot_of(time)
    slots = tuple(slot - SLOT * back for back in range(limits.lookback, -1, -1))
    shard_queue.send(Shard(slots, number) for number in range(limits.shards))
    return limits.shards


def fan_out(
    shard: Shard,
    *,
    schedules: Schedules,
    runs: Runs,
    events: EventReader,
    generate_queue: GenerateQueue,
    clock: Clock,
    random: Callable[[], float],
    limits: FanoutLimits,
) -> FannedOut:
    """Start every run that is due in the shard's slots, page by page, at flat memory.

    Per ten schedules: run rows if absent, then one call that queues those not yet final, then
    the schedules move on. A crash anywhere repeats from the due index and starts nothing twice.
    Where nothing waits, or it is too late, the run ends here, and nobody is visited.

    `random` returns a number from 0 to 1. A schedule whose next occurrence cannot be computed
    holds nobody up: raises BrokenSchedule at the end, so that somebody looks.
    """
    done: Counter[str] = Counter()
    broken: list[str] = []
    for due in _tens(shard, schedules):
        quiet_until = [
            _quiet_until(schedule, runs=runs, events=events, clock=clock, limits=limits)
            for schedule in due
        ]
        started = [
            _start(schedule, is_quiet=bool(instant), runs=runs, clock=clock, limits=limits)
            for schedule, instant in zip(due, quiet_until, strict=True)
        ]
        messages = _messages(started, random=random, limits=limits)
        if messages:
            generate_queue.send(messages)
        done["queued"] += len(messages)
        done["quiet"] += sum(run.reason is Reason.EMPTY for run in started)
        done["late"] += sum(run.reason is Reason.TOO_LATE for run in started)
        for schedule, instant in zip(due, quiet_until, strict=True):
            try:
                advanced = _advance(schedule, instant, schedules=schedules, clock=clock)
            except ZoneInfoNotFoundError:
                broken.append(f"{schedule.user_id} ({schedule.wanted.time_zone})")
                continue
            done["not_advanced"] += not advanced
    if broken:
        raise BrokenSchedule(f"Unknown time zones, and so no next occurrence: {broken}")
    return FannedOut(**done)


def _tens(shard: Shard, schedules: Schedules) -> Iterator[Sequence[Schedule]]:
    """What is due in the shard's slots, in as many at a time as one call of the queue takes."""
    for slot in shard.slots:
        for page in schedules.due(slot, shard.number):
            for start in range(0, len(page), MESSAGES_A_CALL):
                yield page[start : start + MESSAGES_A_CALL]


def _quiet_until(
    schedule: Schedule, *, runs: Runs, events: EventReader, clock: Clock, limits: FanoutLimits
) -> datetime | None:
    """Up to when nothing has still to be sent, where nothing waits now; else None.

    Mostly nothing was stored since that was found last. Otherwise all runs must have ended, and
    nothing may lie behind the last sent window.
    """
    user_id, name = schedule.user_id, schedule.name
    until = clock() - limits.settle_lag
    since = schedule.quiet_until or BEGINNING
    if events.holds(user_id, name, Window(since, until)):
        chain = runs.chain(latest_run(user_id, name))
        if not all(run.status.is_final for run in chain):
            return None
        if events.holds(user_id, name, Window(max(since, sent_until(chain)), until)):
            return None
    return until


def _start(
    schedule: Schedule, *, is_quiet: bool, runs: Runs, clock: Clock, limits: FanoutLimits
) -> Run:
    run = Run(
        key=RunKey(schedule.user_id, schedule.name, schedule.sequence),
        due_at=schedule.next_due_at,
        check_at=clock() + limits.spread + limits.check_after,
    )
    if is_quiet:
        run = replace(run, status=Status.SKIPPED, reason=Reason.EMPTY)
    elif _is_too_late(schedule, clock=clock, limits=limits):
        run = replace(run, status=Status.SKIPPED, reason=Reason.TOO_LATE)
    return runs.create(run)


def _is_too_late(schedule: Schedule, *, clock: Clock, limits: FanoutLimits) -> bool:
    """Not where the next one is far: events would have to wait for a second long interval."""
    if clock() - schedule.next_due_at <= limits.max_lateness:
        return False
    return next_occurrence(schedule.wanted, after=schedule.next_due_at) - clock() <= _SOON


def _messages(
    started: Sequence[Run], *, random: Callable[[], float], limits: FanoutLimits
) -> list[QueuedRun]:
    """Also for a run that was there already: its message may be what the crash prevented."""
    return [
        QueuedRun(run.key, delay=timedelta(seconds=int(limits.spread.total_seconds() * random())))
        for run in started
        if not run.status.is_final
    ]


def _advance(
    schedule: Schedule, quiet_until: datetime | None, *, schedules: Schedules, clock: Clock
) -> bool:
    after = max(schedule.next_due_at, last_instant_of_slot(clock()))
    next_due_at = next_occurrence(schedule.wanted, after=after)
    return schedules.advance(schedule, next_due_at, quiet_until=quiet_until)
