"""Move, remove and extend many stored events in few calls, with shared reads and guards.

A transaction has up to a hundred items. If a transaction fails because a row has changed since the
read, its events are processed one by one. Each function raises NotYet if too little time is left
for the rest. Completed work is kept, and costs no calls when the message is retried.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple, TypeVar

from gazette.domain.model import StoredEvent
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.ledgers import ScheduleKey
from gazette.domain.ports.stores import MOST_IN_A_TRANSACTION, Guard
from gazette.domain.scheduling.lifetime import needed_until
from gazette.domain.subscribers.frequency import DIGESTS
from gazette.domain.subscribers.subscriber import Reader, Subscriber
from gazette.steps.context import RoutingContext
from gazette.steps.routing.immediate import start_immediates
from gazette.steps.routing.limit import Tokens
from gazette.steps.routing.move import (
    guard_to_arrive,
    guard_to_leave,
    move,
    stays_unsent,
    take_back,
)
from gazette.steps.routing.target import Target, daily_target
from gazette.steps.subscribers.schedules import arm
from gazette.steps.time_budget import require_time

ItemT = TypeVar("ItemT")

FEW = 25
"""The maximum number of events that are written one by one if their writes share no items. In a
transaction, each event would cost 50 percent more.
"""


class Placement(NamedTuple):
    """A stored event with its target and its reader."""

    stored: StoredEvent
    target: Target
    reader: Reader


class TimeFor(NamedTuple):
    """The remaining time of an invocation, and the maximum duration of one piece of work."""

    time_left: TimeLeft
    piece: timedelta

    def require(self) -> None:
        """Raise NotYet if too little time is left for one more piece of work."""
        require_time(self.time_left, least=self.piece)


def place_together(
    placements: Iterable[Placement], *, context: RoutingContext, time: TimeFor
) -> dict[ScheduleKey, Subscriber]:
    """Move stored events to their targets, and ensure that immediate runs will send them.

    Events for which the limit allows no immediate email move to the daily digest instead (rule 28).
    Returns the schedules under which events wait, with their readers. The caller arms these
    schedules even if no event moved, because the process that stored or moved an event may have
    failed before doing so.
    """
    waits_in: dict[ScheduleKey, Subscriber] = {}
    tokens = Tokens(context)
    for group in grouped(placements, lambda each: (*_place_of(each.stored), each.target.schedule)):
        target, reader = group[0].target, group[0].reader
        sendable = [each.stored for each in group if not stays_unsent(each.stored, context)]
        if not sendable:
            continue
        if target.keeps(sendable[0].schedule):
            settled: Sequence[StoredEvent] = sendable
        elif refused := tokens.refused(sendable, target):
            stay = [stored for stored in sendable if stored not in refused]
            settled = [*stay, *_move_to_digest(refused, reader, context, time)]
        else:
            settled = _move_together(sendable, target, context, time)
        immediate = [each for each in settled if each.is_immediate]
        if immediate:
            time.require()
            start_immediates(immediate, context=context)
        if isinstance(reader, Subscriber):
            names = {each.schedule for each in settled if each.schedule in DIGESTS}
            waits_in |= {(reader.user_id, name): reader for name in names}
    return waits_in


def extend_together(
    placements: Iterable[Placement], *, context: RoutingContext, time: TimeFor
) -> None:
    """Extend the lifetime of events that do not move, so that they can still be sent (rule 21)."""
    now = context.clock()
    in_place = (each for each in placements if each.stored.schedule == each.target.schedule)
    for group in grouped(in_place, lambda each: _place_of(each.stored)):
        until = needed_until(group[0].target.recurrence, now)
        short = [each.stored for each in group if until and until > each.stored.lasts_until]
        for some in in_parts(short, MOST_IN_A_TRANSACTION):
            time.require()
            if until and not (len(some) > FEW and context.events.extend_together(some, until)):
                for stored in some:
                    context.events.extend(stored, until)


def take_back_together(
    all_stored: Iterable[StoredEvent], *, context: RoutingContext, time: TimeFor
) -> list[StoredEvent]:
    """Remove events that are no longer wanted. Return the events that were or may have been sent.

    The returned events stay with their runs. The transactions raise the epochs of the open runs, so
    that a worker that has read a removed event fails at its claim.
    """
    stay: list[StoredEvent] = []

    def one_by_one(stored: StoredEvent) -> None:
        if not take_back(stored, context=context):
            stay.append(stored)

    for group in grouped(all_stored, _place_of):
        stay += _leave(
            group,
            at_once=context.events.remove_together,
            one_by_one=one_by_one,
            arriving_guard=Guard,
            context=context,
            time=time,
        )
    return stay


def _move_together(
    all_stored: Sequence[StoredEvent], target: Target, context: RoutingContext, time: TimeFor
) -> list[StoredEvent]:
    """Move events of one schedule. Return the events that still exist, as stored now."""
    moved: list[StoredEvent] = []

    def at_once(some: Sequence[StoredEvent], guard: Guard) -> bool:
        moved_now = context.events.move_together(some, target.schedule, guard, target.recurrence)
        moved.extend(moved_now or ())
        return moved_now is not None

    def one_by_one(stored: StoredEvent) -> None:
        if current := move(stored, target, context=context):
            moved.append(current)

    stay = _leave(
        all_stored,
        at_once=at_once,
        one_by_one=one_by_one,
        arriving_guard=lambda: guard_to_arrive(
            _place_of(all_stored[0])[0], target.schedule, context
        ),
        context=context,
        time=time,
    )
    return [*moved, *stay]


def _move_to_digest(
    all_stored: Sequence[StoredEvent], reader: Reader, context: RoutingContext, time: TimeFor
) -> list[StoredEvent]:
    """Move events of one schedule to the daily digest for good (rule 28).

    The digest is armed first, because no other code would find the events after a crash. Return the
    events that still exist, as stored now.
    """
    target = daily_target(reader)
    if not target.keeps(all_stored[0].schedule):
        if isinstance(reader, Subscriber):
            arm({(reader.user_id, target.schedule): reader}, context=context)
        capped = [replace(stored, is_capped=True) for stored in all_stored]
        all_stored = _move_together(capped, target, context, time)
    settled: list[StoredEvent] = []
    for stored in all_stored:
        is_capped = stored.is_capped
        if target.keeps(stored.schedule) and not is_capped:
            time.require()
            is_capped = context.events.cap(stored)
        settled.append(replace(stored, is_capped=is_capped))
    return settled


def _leave(
    all_stored: Sequence[StoredEvent],
    *,
    at_once: Callable[[Sequence[StoredEvent], Guard], bool],
    one_by_one: Callable[[StoredEvent], None],
    arriving_guard: Callable[[], Guard],
    context: RoutingContext,
    time: TimeFor,
) -> list[StoredEvent]:
    """Remove unwanted events of one schedule.

    Return the events that cannot be removed because of their runs. The schedule and its runs are
    read once. If a transaction succeeds, no other process has changed them since the read, and the
    next transaction may use their new state as its condition.
    """
    stay: list[StoredEvent] = []
    remaining, guard = list(all_stored), None
    while remaining:
        time.require()
        if len(remaining) == 1 and guard is None:
            one_by_one(remaining.pop())
            break
        if guard is None:
            last = max(stored.stored_at for stored in remaining)
            until, guard = guard_to_leave(*_place_of(remaining[0]), last, context=context)
            stay += [stored for stored in remaining if stored.stored_at <= until]
            remaining = [stored for stored in remaining if stored.stored_at > until]
            if not remaining:
                break
            guard += arriving_guard()
        room = max(1, MOST_IN_A_TRANSACTION - guard.items)
        some, remaining = remaining[:room], remaining[room:]
        is_worth_it = len(some) > FEW or not guard.is_alone
        if is_worth_it and at_once(some, guard):
            guard = guard.once_raised()
            continue
        guard = None
        for stored in some:
            time.require()
            one_by_one(stored)
    return stay


def in_parts(items: Sequence[ItemT], size: int) -> Iterator[Sequence[ItemT]]:
    """Yield the items in order, in lists of up to `size`."""
    return (items[first : first + size] for first in range(0, len(items), size))


def grouped(items: Iterable[ItemT], key: Callable[[ItemT], Hashable]) -> Iterator[Sequence[ItemT]]:
    """Yield lists of items with the same key, in the order of each list's first item."""
    groups: dict[Hashable, list[ItemT]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    yield from groups.values()


def _place_of(stored: StoredEvent) -> tuple[str, str]:
    """Return the reader and the schedule of an event."""
    return stored.event.user_id, stored.schedule
