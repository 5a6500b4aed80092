"""Merge the events about one happening in one row (decision 156)."""

from collections.abc import Sequence
from dataclasses import replace

from gazette.domain.errors import UnreadableRow
from gazette.domain.happening.bodies import (
    Bodies,
    LeftOut,
    with_body,
    without_body,
)
from gazette.domain.happening.rewriting import Pointing
from gazette.domain.model import Event, Retracted, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.kinds import Unsent, is_critical
from gazette.domain.stored import require_readable
from gazette.steps.conflicts import ATTEMPTS, kept_changing
from gazette.steps.context import RoutingContext
from gazette.steps.routing.limit import Tokens
from gazette.steps.routing.move import (
    raise_epochs_under,
)
from gazette.steps.routing.rewriting import Inputs, Row, await_run, extend_row, inputs_of, rewrite
from gazette.steps.routing.target import routing_inputs, target_of

MOST_BODIES = 10
"""The maximum number of bodies in a row. Further events have a row of their own."""


def stands_alone(event: Event, context: RoutingContext) -> bool:
    """Return True if an event has a row of its own, although it is part of an activity.

    A critical event must be sent by itself, and an event that lapses must not remove the others.
    """
    return event.category in context.critical or event.expires_at is not None


def part_of(event: Event, pointer: Retracted | StoredEvent) -> Event:
    """Return an event as the body to which the pointer at its id points, or pointed before the body
    was left out.

    An amendment that adds `expires_at` is applied without it, because the other bodies would lapse
    too.
    """
    return replace(event, id=pointer.part_of, own_id=event.id, expires_at=None)


def is_of_happening(row: Row) -> bool:
    """Return True if an event whose id is the id of the row must join or leave it as a body."""
    if isinstance(row, StoredEvent):
        return not row.is_plain
    return isinstance(row, Retracted) and bool(row.own_id)


def join(event: Event, tokens: Tokens) -> tuple[Outcome, StoredEvent | None] | None:
    """Store an event as a body of a happening, and return its outcome and the row as it waits.

    Safe to repeat. The event is removed if its reader does not want it. An event that was left out
    and is published again joins its happening again, unless the reader has seen it. Returns None if
    the event must be routed alone, because it is stored in a row of its own or the row is full.
    Raises NotYet if the row keeps changing.
    """
    context = tokens.context
    for _ in ATTEMPTS:
        row, pointer = _read(event, context)
        if isinstance(pointer, StoredEvent):
            if not pointer.part_of or pointer.schedule != Unsent.EXCLUDED:
                return None
            event = _newest(event, pointer.event)
            if replace(pointer, event=event).is_left_out:
                return Outcome.DUPLICATE, None
        elif pointer and not pointer.is_pointer:
            return Outcome.RETRACTED, None
        if pointer and pointer.part_of != event.id:
            event = replace(event, id=pointer.part_of)
            continue
        if isinstance(row, Retracted) and not (row.stored_at or row.is_early):
            return None
        if _refuses(row, event):
            return Outcome.RETRACTED, None
        before = row.bodies if isinstance(row, StoredEvent) else ()
        own = next((each for each in before if each.own_id == event.own_id), None)
        is_new = own is None and not _is_pointer(pointer)
        if event.own_id and is_new and not _takes(row, event, context):
            return None
        of_event, *of_bodies = routing_inputs([event, *before], context)
        inputs = {body.own_id: each for body, each in zip(before, of_bodies, strict=True)}
        target = target_of(event, of_event, context)
        if isinstance(target, Outcome):
            if own and (own == event or event.amends(own)):
                rest = without_body(before, event.own_id)
                is_done, stored = rewrite(
                    row, rest, inputs, event, None, tokens, is_repeatable=False
                )
                if not is_done:
                    continue
                await_run(stored, context)
            return target, None
        if own is None or event.amends(own):
            inputs[event.own_id] = of_event
        bodies = with_body(before, event)
        pointing = Pointing(event.own_id, pointer) if event.own_id else None
        is_done, stored = rewrite(row, bodies, inputs, event, None if own else pointing, tokens)
        if is_done:
            if stored:
                extend_row(stored, {**inputs, event.own_id: of_event}, context)
            return _outcome(event, own), stored
    raise kept_changing(f"The happening {event.id} of {event.user_id}")


def _newest(event: Event, left_out: Event) -> Event:
    """Return the event, or its newer content that was left out of the row."""
    if event.amends(left_out) or not left_out.amended_at:
        return event
    return replace(left_out, id=event.id, own_id=event.own_id)


def _takes(row: Row, event: Event, context: RoutingContext) -> bool:
    """Return True if a row may contain one more event with an own id."""
    if not isinstance(row, StoredEvent):
        return True
    return (
        len(row.bodies) < MOST_BODIES
        and not is_critical(row.schedule)
        and not any(stands_alone(body, context) for body in row.bodies)
        and all(body.entity.key == event.entity.key for body in row.bodies)
    )


def remove_body(user_id: str, event_id: str, own_id: str, *, context: RoutingContext) -> None:
    """Remove a retracted body from the row of its happening. Safe to repeat.

    The other bodies wait where they would without it. The epochs of the runs are raised even if the
    body is not in the row, because the worker that removed it may have died before. Raises NotYet
    if the row keeps changing.
    """
    tokens = Tokens(context)
    for _ in ATTEMPTS:
        row = context.events.get(user_id, event_id)
        if row is None:
            return
        if isinstance(row, Retracted):
            if row.schedule:
                raise_epochs_under(row.schedule, user_id, context=context)
            return
        bodies = without_body(row.bodies, own_id)
        retracted = own_id if not own_id or len(bodies) < len(row.bodies) else None
        inputs = inputs_of(bodies, context)
        is_done, stored = rewrite(row, bodies, inputs, row.event, None, tokens, retracted=retracted)
        if is_done:
            await_run(stored, context)
            if stored and not _is_as_read(bodies, inputs, context):
                resettle(stored, context=context)
            return
    raise kept_changing(f"The happening {event_id} of {user_id}")


def leave_out_bodies(bodies: Sequence[LeftOut], *, context: RoutingContext) -> bool:
    """Remove bodies that no email may show from the row of their happening. Safe to repeat.

    The other bodies wait where they would without them, and the next email shows the strongest of
    them. A removed body with an own id gets a row of its own, with the reason. A body that has
    changed since it was read is not removed. Returns True if this call has changed the row. Returns
    False if the row has no other body, has changed, or may have been sent. Raises NotYet if the row
    keeps changing.
    """
    user_id, event_id, tokens = bodies[0].event.user_id, bodies[0].event.id, Tokens(context)
    removed = {each.event for each in bodies}
    own_ids = {event.own_id for event in removed} - {""}
    for _ in ATTEMPTS:
        rows = context.events.get_many(user_id, {event_id, *own_ids})
        require_readable(rows.values())
        row = rows.get(event_id)
        if not isinstance(row, StoredEvent):
            return False
        left_out = [each for each in bodies if each.event in row.bodies]
        rest = tuple(body for body in row.bodies if body not in removed)
        if not rest or not left_out:
            return False
        inputs = inputs_of(rest, context)
        pointed = [each for each in left_out if _is_pointer(rows.get(each.event.own_id))]
        is_done, stored = rewrite(
            row, rest, inputs, row.event, None, tokens, left_out=pointed, is_repeatable=False
        )
        if is_done:
            await_run(stored, context)
            if stored and stored != row and not _is_as_read(rest, inputs, context):
                resettle(stored, context=context)
            return stored != row
    raise kept_changing(f"The happening {event_id} of {user_id}")


def resettle(stored: StoredEvent, *, context: RoutingContext) -> bool:
    """Write the row of a happening again after a change of choices or follows. Safe to repeat.

    Returns True if the row has changed. Raises NotYet if it keeps changing.
    """
    user_id, event_id = stored.event.user_id, stored.event.id
    has_changed, row, tokens = False, stored, Tokens(context)
    for _ in ATTEMPTS:
        bodies, inputs = row.bodies, inputs_of(row.bodies, context)
        is_done, current = rewrite(
            row, bodies, inputs, row.event, None, tokens, is_repeatable=False
        )
        await_run(current, context)
        has_changed |= current != row
        if is_done and current:
            extend_row(current, inputs, context)
        if is_done and _is_as_read(bodies, inputs, context):
            return has_changed
        latest = context.events.get(user_id, event_id)
        if not isinstance(latest, StoredEvent):
            return True
        row = latest
    raise kept_changing(f"The happening {event_id} of {user_id}")


def _is_pointer(row: object) -> bool:
    """Return False if the id was retracted, so that it keeps the mark of its retraction."""
    return isinstance(row, Retracted) and row.is_pointer


def _is_as_read(bodies: Bodies, inputs: Inputs, context: RoutingContext) -> bool:
    """Return True if choices and follows still decide as they did when they were read."""
    again = inputs_of(bodies, context)
    return all(each.decides_like(again[own_id]) for own_id, each in inputs.items())


def _read(event: Event, context: RoutingContext) -> tuple[Row, Row]:
    """Return the row of the happening, and the row at the event's own id."""
    ids = {event.id, event.own_id} if event.own_id else {event.id}
    rows = context.events.get_many(event.user_id, ids)
    require_readable(rows.values())
    row, pointer = rows.get(event.id), rows.get(event.own_id) if event.own_id else None
    if isinstance(row, UnreadableRow) or isinstance(pointer, UnreadableRow):
        raise TypeError("all rows are readable")
    return row, pointer


def _refuses(row: Row, event: Event) -> bool:
    """Return True if the event was retracted, according to the row of its happening."""
    if isinstance(row, StoredEvent):
        return row.refuses_own and not event.own_id
    return row is not None and row.own_id == event.own_id


def _outcome(event: Event, own: Event | None) -> Outcome:
    if own is None:
        return Outcome.STORED
    return Outcome.AMENDED if event.amends(own) else Outcome.DUPLICATE
