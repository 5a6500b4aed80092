"""Settle, take back and extend many stored events in few calls: they share what is read and held.

A transaction takes up to a hundred items. Where one fails, because something has changed since it
was read, its events go one by one, as if each were alone. Each function raises NotYet if too little
time is left for the rest: what is done then is done, and costs no call of its own when the message
comes again.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
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
from gazette.steps.routing.move import arriving, leaving, move, stays_unsent, take_back
from gazette.steps.routing.target import Target
from gazette.steps.time_budget import require_time

ItemT = TypeVar("ItemT")

FEW = 25
"""Up to so many events that share nothing are written one by one: in a transaction each costs half
as much again."""


class Settling(NamedTuple):
    """A stored event, the target that it belongs under, and its reader."""

    stored: StoredEvent
    target: Target
    reader: Reader


class TimeFor(NamedTuple):
    """The time that is left, and how much of it a piece of work may take."""

    left: TimeLeft
    piece: timedelta

    def require(self) -> None:
        """Raise NotYet if too little is left for one more piece."""
        require_time(self.left, least=self.piece)


def settle_together(
    all_settling: Iterable[Settling], *, context: RoutingContext, time: TimeFor
) -> dict[ScheduleKey, Subscriber]:
    """Bring stored events under their targets, and make sure that immediate runs will send them.

    Returns in which schedules events wait, with their readers: the caller arms them, also where
    nothing moved, because whoever stored or moved an event may have died before that.
    """
    waits_in: dict[ScheduleKey, Subscriber] = {}
    for group in grouped(
        all_settling, lambda each: (*_place_of(each.stored), each.target.schedule)
    ):
        target, reader = group[0].target, group[0].reader
        kept = [each.stored for each in group if not stays_unsent(each.stored, context)]
        if not kept:
            continue
        if kept[0].schedule == target.schedule:
            settled: Sequence[StoredEvent] = kept
        else:
            settled = _move_together(kept, target, context, time)
        immediate = [each for each in settled if each.is_immediate]
        if immediate:
            time.require()
            start_immediates(immediate, context=context)
        if isinstance(reader, Subscriber):
            names = {each.schedule for each in settled if each.schedule in DIGESTS}
            waits_in |= {(reader.user_id, name): reader for name in names}
    return waits_in


def extend_together(
    all_settling: Iterable[Settling], *, context: RoutingContext, time: TimeFor
) -> None:
    """Let events that are where they belong last as long as that needs to send them (rule 21)."""
    now = context.clock()
    there = (each for each in all_settling if each.stored.schedule == each.target.schedule)
    for group in grouped(there, lambda each: _place_of(each.stored)):
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
    """Remove events that are no longer wanted. Returns those that were or may have been sent.

    They stay. The transactions raise the epochs of the open runs: a worker that has read one of the
    events fails at its claim.
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
    """Move events of one schedule. Returns them as stored now, without those that were removed."""
    moved: list[StoredEvent] = []

    def at_once(some: Sequence[StoredEvent], guard: Guard) -> bool:
        done = context.events.move_together(some, target.schedule, guard, target.recurrence)
        moved.extend(done or ())
        return done is not None

    def one_by_one(stored: StoredEvent) -> None:
        if there := move(stored, target, context=context):
            moved.append(there)

    stay = _leave(
        all_stored,
        at_once=at_once,
        one_by_one=one_by_one,
        arriving_guard=lambda: arriving(_place_of(all_stored[0])[0], target.schedule, context),
        context=context,
        time=time,
    )
    return [*moved, *stay]


def _leave(
    all_stored: Sequence[StoredEvent],
    *,
    at_once: Callable[[Sequence[StoredEvent], Guard], bool],
    one_by_one: Callable[[StoredEvent], None],
    arriving_guard: Callable[[], Guard],
    context: RoutingContext,
    time: TimeFor,
) -> list[StoredEvent]:
    """Let events of one schedule leave it. Returns those that stay with the run that has them.

    The schedule and its runs are read once: if a transaction succeeds, nobody but it has changed
    them since, and the next one may hold them as it has left them.
    """
    stay: list[StoredEvent] = []
    left, guard = list(all_stored), None
    while left:
        time.require()
        if len(left) == 1 and guard is None:
            one_by_one(left.pop())
            break
        if guard is None:
            last = max(stored.stored_at for stored in left)
            until, guard = leaving(*_place_of(left[0]), last, context=context)
            stay += [stored for stored in left if stored.stored_at <= until]
            left = [stored for stored in left if stored.stored_at > until]
            if not left:
                break
            guard += arriving_guard()
        room = max(1, MOST_IN_A_TRANSACTION - guard.items)
        some, left = left[:room], left[room:]
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
    """Yield the items in order, `size` at a time."""
    return (items[first : first + size] for first in range(0, len(items), size))


def grouped(items: Iterable[ItemT], key: Callable[[ItemT], Hashable]) -> Iterator[Sequence[ItemT]]:
    """Yield the items that have the same key together, in the order of the first of each."""
    groups: dict[Hashable, list[ItemT]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    yield from groups.values()


def _place_of(stored: StoredEvent) -> tuple[str, str]:
    """The reader and the schedule of an event."""
    return stored.event.user_id, stored.schedule
