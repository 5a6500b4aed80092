"""Query content sources ahead of their digests, evenly spread over the lead time.

Only stages that query ahead import this module.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from gazette.domain.content.asking import LookAhead, ahead_of
from gazette.domain.content.ports import Fetch, QueuedFetch
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import Schedule
from gazette.domain.ports.clock import Clock, TimeLeft
from gazette.domain.ports.ledgers import Schedules
from gazette.domain.ports.queues import Shard, ShardQueue
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.stored import of_one_row, readable
from gazette.steps.fanout.fanout import ENOUGH, FannedOut
from gazette.steps.occurrences.asking import AskingContext


def look_ahead(
    shard: Shard,
    time_left: TimeLeft,
    *,
    schedules: Schedules,
    content: AskingContext,
    shard_queue: ShardQueue,
    clock: Clock,
    random: Callable[[], float],
) -> FannedOut:
    """Queue a fetch for each reader of the shard whose digests are due in these slots.

    Reads only future slots of the due index and these readers' schedules. Makes no writes. A worker
    skips items that were already fetched, so a missing, late or repeated slot is harmless, and
    sources that were not queried ahead are queried when the digest is due. If the invocation runs
    out of time, another message continues.
    """
    fetches = 0
    slot = max(shard.since, shard.until - content.plan.lead * SLOT)
    while slot <= shard.until:
        if time_left() < ENOUGH:
            shard_queue.send([replace(shard, since=slot)])
            return FannedOut(fetches=fetches, handed_on=1)
        for look in ahead_of(slot, shard.number, shards=content.shards, lead=content.plan.lead):
            if look.slot > slot_of(clock()):
                for due in _whose_turn_it_is(look, shard.number, schedules, content):
                    fetches += content.queue(_spread(each, random) for each in due)
        slot += SLOT
    return FannedOut(fetches=fetches)


def _whose_turn_it_is(
    look: LookAhead, shard: int, schedules: Schedules, content: AskingContext
) -> Iterator[list[Schedule]]:
    """Yield the schedules that query sources, one page of the index at a time.

    The index only determines which schedules to read. A row that cannot be read or processed is
    reported when it is due.
    """
    for keys in schedules.due(look.slot, shard):
        rows = schedules.get_many([key for key in keys if look.holds(key[0])])
        yield [schedule for schedule in readable(rows) if _is_asked_for(schedule, look, content)]


def _is_asked_for(schedule: Schedule, look: LookAhead, content: AskingContext) -> bool:
    with suppress(UnreadableRow), of_one_row("schedules", schedule.user_id, schedule.name):
        is_due = schedule.listed and slot_of(schedule.next_due_at) == look.slot
        return is_due and content.lacks(schedule)
    return False


def _spread(schedule: Schedule, random: Callable[[], float]) -> QueuedFetch:
    """Return the fetch of a schedule, due at a random time within the slot."""
    fetch = Fetch(schedule.user_id, schedule.name, schedule.next_due_at)
    return QueuedFetch(fetch, timedelta(seconds=int(SLOT.total_seconds() * random())))
