"""Store the items that a reader's next digest may show, and remove all others."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gazette.domain.content.items import Item, Shown, event_id, refreshed
from gazette.domain.model import Schedule, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.steps.context import RoutingContext
from gazette.steps.routing.move import take_back
from gazette.steps.routing.route import route

_NOT_NEW = {Outcome.DUPLICATE, Outcome.AMENDED, Outcome.RETRACTED}
"""The outcomes of an item that a digest has already shown, or that the service withdrew."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The result of storing a response's items. The fields contain event ids."""

    offered: tuple[str, ...]
    """The items that the next digest may show."""

    changed: tuple[str, ...]
    """The items that are new or have changed."""

    had: tuple[str, ...]
    """The items that the reader has already received."""

    removed: tuple[str, ...]
    """The waiting items that were removed."""


def store_items(
    items: Sequence[Item],
    *,
    schedule: Schedule,
    waiting: Sequence[StoredEvent],
    at: datetime,
    limit: int,
    context: RoutingContext,
) -> Kept:
    """Store the first `limit` items that the reader has not received yet. Safe to repeat.

    The schedule's memory contains only the newest items. If storing an item shows that the reader
    has already received it, the next item takes its place. `waiting` and `at` have the same meaning
    as in `refreshed`. Raises NotYet and UnreadableRow if `route` does.
    """
    memory, waiting_ids = Shown(schedule.shown), {stored.event.id for stored in waiting}
    offered: list[str] = []
    changed_ids: list[str] = []
    had: list[str] = []
    remaining = list(items)
    while True:
        refresh = refreshed(
            remaining,
            waiting=waiting,
            shown=memory,
            user_id=schedule.user_id,
            at=at,
            limit=limit - len(offered),
        )
        outcomes = route(refresh.changed, context=context)
        not_new = [
            event.id
            for event, outcome in zip(refresh.changed, outcomes, strict=True)
            if outcome in _NOT_NEW and event.id not in waiting_ids
        ]
        offered += [each for each in refresh.offered if each not in not_new]
        changed_ids += [event.id for event in refresh.changed if event.id not in not_new]
        had += not_new
        if not not_new:
            break
        handled = {*offered, *had}
        remaining = [item for item in remaining if event_id(item.source, item.id) not in handled]
    unwanted = [stored for stored in waiting if stored.event.id not in offered]
    removed = [each.event.id for each in unwanted if take_back(each, context=context)]
    return Kept(tuple(offered), tuple(changed_ids), tuple(had), tuple(removed))
