"""Store the items of an answer that the next digest of a reader may show, and take others back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gazette.domain.content import Item, Shown, event_id, refreshed
from gazette.domain.model import Schedule, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.steps.context import RoutingContext
from gazette.steps.routing.move import take_back
from gazette.steps.routing.route import route

_NOT_NEW = {Outcome.DUPLICATE, Outcome.AMENDED, Outcome.RETRACTED}
"""Where an item that does not wait ends so, a digest has shown it, or its service withdrew it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of an answer, by the ids of events.

    `offered`: what the next digest may show. `put`: those that were new, or have changed. `had`:
    what is not new to the reader. `gone`: what waited and was taken back.
    """

    offered: tuple[str, ...]
    put: tuple[str, ...]
    had: tuple[str, ...]
    gone: tuple[str, ...]


def store_items(
    items: Sequence[Item],
    *,
    schedule: Schedule,
    waiting: Sequence[StoredEvent],
    at: datetime,
    limit: int,
    context: RoutingContext,
) -> Kept:
    """Store the first `limit` of `items` that the reader has not had. Safe to repeat.

    The memory of the schedule holds only the newest: that the reader has had another one shows when
    it is put. It takes no place then, and the next one is put instead. `waiting`, `at`: as in
    `refreshed`. Raises NotYet, and UnreadableRow, if `route` does.
    """
    shown, there = Shown(schedule.shown), {stored.event.id for stored in waiting}
    offered: list[str] = []
    put: list[str] = []
    had: list[str] = []
    left = list(items)
    while True:
        found = refreshed(
            left,
            waiting=waiting,
            shown=shown,
            user_id=schedule.user_id,
            at=at,
            limit=limit - len(offered),
        )
        outcomes = route(found.put, context=context)
        not_new = [
            event.id
            for event, outcome in zip(found.put, outcomes, strict=True)
            if outcome in _NOT_NEW and event.id not in there
        ]
        offered += [each for each in found.offered if each not in not_new]
        put += [event.id for event in found.put if event.id not in not_new]
        had += not_new
        if not not_new:
            break
        done = {*offered, *had}
        left = [item for item in left if event_id(item.source, item.id) not in done]
    unwanted = [stored for stored in waiting if stored.event.id not in offered]
    gone = [each.event.id for each in unwanted if take_back(each, context=context)]
    return Kept(tuple(offered), tuple(put), tuple(had), tuple(gone))
