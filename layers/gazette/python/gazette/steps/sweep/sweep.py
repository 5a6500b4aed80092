"""Sweep the open runs to recover from lost messages and crashed workers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache, partial

from gazette.domain.delivery.run import Run, Status
from gazette.domain.delivery.standing import Standing, standing_of
from gazette.domain.delivery.streams import Streams
from gazette.domain.errors import GazetteError, UnreadableRow
from gazette.domain.model import RunKey
from gazette.domain.ports.clock import Clock, TimeLeft
from gazette.domain.ports.ledgers import Batches, Runs
from gazette.domain.ports.pacing import PaceGauge
from gazette.domain.ports.queues import LONGEST_DELAY, QueuedRun, RunQueue, ShardQueue, SweepQueue
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.scheduling.growing import LOOK_AHEAD
from gazette.domain.stored import is_known, of_one_row
from gazette.steps.delivery.predecessors import deadline_passed
from gazette.steps.fanout.fanout import tick
from gazette.steps.runs import apply
from gazette.steps.sweep.unknown import ProvenUntil, SweepContext, Swept, decide, proven_until

_ENOUGH = timedelta(seconds=45)
"""An upper bound for the time to process one run. The bound also covers `standing` and the audit
together.

The audit of a turn is not repeated automatically.
"""

_ENOUGH_TO_READ = timedelta(seconds=30)
"""The time to reserve for the audit, and for one more page of keys."""

_TOGETHER = 10
"""The maximum number of messages in one request to SQS.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html
"""

_LATE = 3
"""The number of slots after which a shard is late.

Each slot has a tick, and up to two lost ticks are harmless.
"""

_SPREAD = LONGEST_DELAY / 3


def begin_sweep(
    at: datetime,
    *,
    partitions: int,
    sweep_queue: SweepQueue,
    batches: Batches,
    shard_queue: ShardQueue,
    shards: int,
    lookback: int,
) -> int:
    """Queue a message for every partition, and for every shard that has fallen behind.

    Returns the number of these shards.

    A shard without progress for several slots has lost a tick or a message. Another tick makes it
    continue. If `shards` is 0, this installation has no ticks, so no shard can be late.
    """
    sweep_queue.send(range(partitions))
    latest = slot_of(at) - SLOT * _LATE
    late = sum(slot < latest for slot in batches.checkpoints().values()) if shards else 0
    if late:
        tick(at, batches=batches, shard_queue=shard_queue, shards=shards, lookback=lookback)
    return late


def sweep(
    partition: int, *, context: SweepContext, time_left: TimeLeft
) -> list[tuple[RunKey | UnreadableRow, Swept]]:
    """Process the open runs whose `check_at` has passed, oldest first (rule 13).

    Returns each run with its actions, at most two. The sweep can be repeated and interrupted at any
    point, because the next sweep finds the remaining and the failed runs. A run that cannot be
    read, or whose status this version does not know, does not change (rule 20).
    """
    results: list[tuple[RunKey | UnreadableRow, Swept]] = []
    proven = cache(partial(proven_until, context))
    collected: list[Run] = []
    for run in context.runs.overdue(partition, context.clock()):
        if time_left() < _ENOUGH:
            break
        if isinstance(run, UnreadableRow):
            results.append((run, Swept.UNREADABLE))
            continue
        if _has_collected(run, context):
            collected.append(run)
            if len(collected) == _TOGETHER:
                results += _queue_when_due(collected, context)
                collected = []
            continue
        try:
            with of_one_row("runs", *_key_of(run)):
                results += [(run.key, each) for each in _recover(run, proven, context)]
        except UnreadableRow as unreadable:
            results.append((unreadable, Swept.UNREADABLE))
        except GazetteError:
            results.append((run.key, Swept.FAILED))
    return results + _queue_when_due(collected, context)


def standing(
    partition: int,
    *,
    runs: Runs,
    gauges: Streams[PaceGauge],
    clock: Clock,
    time_left: TimeLeft,
) -> Standing:
    """Return the age of open runs, and the number of runs that wait for the next day.

    The pace of a stream is read once, and only if one of its open runs may be waiting for the next
    day. Keys are read until time runs out, because the index is ordered by `check_at`, so any open
    run may be the oldest.
    """
    is_cut_off = False

    def in_time() -> Iterator[tuple[RunKey, datetime]]:
        nonlocal is_cut_off
        for each in runs.open_runs(partition):
            if time_left() < _ENOUGH_TO_READ:
                is_cut_off = True
                return
            yield each

    now = clock()
    free_since = Streams(
        digest=cache(lambda: gauges.digest.read(now).free_since),
        immediate=cache(lambda: gauges.immediate.read(now).free_since),
    )
    current = standing_of(in_time(), free_since=free_since, now=now)
    return replace(current, is_cut_off=is_cut_off)


def _recover(run: Run, proven: ProvenUntil, context: SweepContext) -> Sequence[Swept]:
    match run.status:
        case Status.PENDING:
            return [_queue_again(run, context.generate_queue, context)]
        case Status.RETRYING if run.retry_at and run.retry_at > context.clock():
            _check_again(run, run.retry_at + context.limits.check_after, context)
            return [Swept.DUE_LATER]
        case Status.RETRYING:
            return [_queue_again(run, context.resend_queue, context)]
        case Status.SENDING:
            passed = deadline_passed(
                run, now=context.clock(), evidence_grace=context.limits.evidence_grace
            )
            if passed is None or apply(run, passed, runs=context.runs) == run:
                return [Swept.LEFT_ALONE]
            return [Swept.NOW_UNKNOWN]
        case _ if not is_known(run.status):
            raise UnreadableRow("runs", _key_of(run), "its status is unknown to this version")
        case _:
            return decide(run, proven, context)


def _key_of(run: Run) -> tuple[str, ...]:
    return (run.key.user_id, run.key.schedule, str(run.key.sequence))


def _queue_again(run: Run, queue: RunQueue, context: SweepContext) -> Swept:
    """Queue a run whose message may be lost.

    The longer the run has waited, the later the next check.
    """
    queue.send([QueuedRun(run.key, _SPREAD * context.random())])
    waited = context.clock() - run.due_at
    _check_again(run, context.clock() + max(context.limits.check_after, waited), context)
    return Swept.QUEUED


def _has_collected(run: Run, context: SweepContext) -> bool:
    """Return True if a run has collected events for longer than a message can be delayed (rule 16).

    It has no message yet, and will be due soon.
    """
    is_waiting = run.status is Status.PENDING and run.is_queued_by_sweep
    return is_waiting and _sent_at(run) > context.clock()


def _queue_when_due(
    collected: Sequence[Run], context: SweepContext
) -> list[tuple[RunKey | UnreadableRow, Swept]]:
    """Queue runs together, because those of many readers are due after the same quiet hours.

    Each message becomes visible when its run can be sent.
    """
    now = context.clock()
    messages = [QueuedRun(run.key, min(_sent_at(run) - now, LONGEST_DELAY)) for run in collected]
    try:
        if messages:
            context.generate_queue.send(messages)
        for run in collected:
            _check_again(run, _sent_at(run) + context.limits.check_after, context)
    except GazetteError:
        return [(run.key, Swept.FAILED) for run in collected]
    return [(run.key, Swept.COLLECTED) for run in collected]


def _sent_at(run: Run) -> datetime:
    """Return the time at which all events of a run that the sweep queues can be read."""
    return run.check_at + LOOK_AHEAD


def _check_again(run: Run, at: datetime, context: SweepContext) -> None:
    """Store the time of the run's next check. If the run has changed, the next sweep finds it
    again.
    """
    context.runs.swap(run, replace(run, check_at=at))
