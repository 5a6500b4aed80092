"""Writes of the row of a happening and of its pointers, in one transaction with a guard."""

from collections.abc import Callable
from datetime import datetime, timedelta

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from gazette.adapters.dynamodb.client import ConditionFailed, transaction, translated
from gazette.adapters.dynamodb.event_rows import (
    CAPPED,
    IN_NO_EMAIL,
    absent,
    because,
    bodies_of,
    body_of,
    in_place_with_bodies,
    is_pointer_to,
    no_longer_than,
    stored_key,
)
from gazette.adapters.dynamodb.tables import EventRow
from gazette.domain.happening.rewriting import Pointing, Rewrite
from gazette.domain.model import Retracted, StoredEvent
from gazette.domain.scheduling.lifetime import kept_until, longest_kept

AddGuard = Callable[[TransactWrite], None]


def rewrite(
    change: Rewrite,
    *,
    model: type[EventRow],
    now: datetime,
    retention: timedelta,
    add_guard: AddGuard,
    is_alone: bool,
) -> tuple[bool, StoredEvent | None]:
    """Write the row of a happening with one TransactWriteItems.

    If the row is the only item, it is written outside a transaction, which costs half as much.
    """
    stored = change.result(now, least=retention)
    try:
        if is_alone and not change.pointing and not change.left_out:
            with translated():
                _write_row(change, stored, _Alone(), model=model, now=now, retention=retention)
            return True, stored
        with transaction(model) as writes:
            _write_row(change, stored, writes, model=model, now=now, retention=retention)
            if change.pointing:
                _write_pointer(
                    change.pointing, change, writes, model=model, now=now, retention=retention
                )
            for left_out, why in change.rows_left_out(now):
                _leave_out(left_out, why, change, writes, model=model)
            add_guard(writes)
    except ConditionFailed:
        return False, None
    return True, stored


class _Alone:
    """The writes of a transaction, for one item outside a transaction."""

    def save(self, row: EventRow, condition: Condition) -> None:
        row.save(condition=condition)

    def update(self, row: EventRow, actions: list[Action], condition: Condition) -> None:
        row.update(actions=actions, condition=condition)

    def delete(self, row: EventRow, condition: Condition) -> None:
        row.delete(condition=condition)


def _write_row(
    change: Rewrite,
    stored: StoredEvent | None,
    writes: TransactWrite | _Alone,
    *,
    model: type[EventRow],
    now: datetime,
    retention: timedelta,
) -> None:
    condition = _as_read(change, now)
    row = model(change.user_id, change.event_id)
    if not change.writes_row:
        return
    if stored is None and not change.becomes_mark:
        writes.delete(row, condition=condition)
    elif stored is None:
        writes.update(row, actions=_marking(change, now, retention), condition=condition)
    elif isinstance(change.before, StoredEvent):
        condition &= no_longer_than(stored.lasts_until)
        writes.update(row, actions=_actions(change.before, stored, now), condition=condition)
    else:
        writes.save(happening_row(stored, change.refused_at(now), model), condition=condition)


def happening_row(
    stored: StoredEvent, retracted_at: datetime, model: type[EventRow] = EventRow
) -> EventRow:
    """Return the row to write when a happening gets a row.

    `retracted_at` is the time of the retraction of the body without an own id, if the row refuses
    it.
    """
    return model(
        user_id=stored.event.user_id,
        event_id=stored.event.id,
        stored=stored_key(stored.schedule, stored.stored_at),
        body=body_of(stored.event),
        others=bodies_of(stored.others) if stored.others else None,
        revision=stored.revision or None,
        why=CAPPED if stored.is_capped else None,
        retracted_at=retracted_at if stored.refuses_own else None,
        lasts_until=stored.lasts_until,
        expires_at=kept_until(stored.lasts_until, stored.schedule),
    )


def _actions(before: StoredEvent, stored: StoredEvent, now: datetime) -> list[Action]:
    """Return the actions that write the bodies and, if it has changed, the place of a row."""
    actions: list[Action] = [
        EventRow.body.set(body_of(stored.event)),
        EventRow.revision.set(stored.revision),
        EventRow.others.set(bodies_of(stored.others))
        if stored.others
        else EventRow.others.remove(),
    ]
    if stored.refuses_own and not before.refuses_own:
        actions.append(EventRow.retracted_at.set(now))
    if stored.is_capped:
        actions.append(EventRow.why.set(CAPPED))
    if stored.lasts_until != before.lasts_until or stored.stored_at != before.stored_at:
        actions += [
            EventRow.lasts_until.set(stored.lasts_until),
            EventRow.expires_at.set(kept_until(stored.lasts_until, stored.schedule)),
        ]
    if stored.stored_at == before.stored_at:
        return actions
    return [
        *actions,
        EventRow.stored.set(stored_key(stored.schedule, stored.stored_at)),
        EventRow.seen_at.remove(),
        EventRow.withdrawn_at.remove(),
    ]


def _marking(change: Rewrite, now: datetime, retention: timedelta) -> list[Action]:
    """Return the actions by which a row becomes a marker, after the retraction of its last body.

    The marker keeps the former place. This is an update, because functions that send email may not
    replace rows of events.
    """
    before = change.before
    if not isinstance(before, StoredEvent):
        raise TypeError("only a row with bodies becomes a mark")
    actions: list[Action] = [
        EventRow.was.set(before.schedule),
        EventRow.was_stored.set(stored_key(before.schedule, before.stored_at)),
        EventRow.own_id.set(change.mark_own_id) if change.mark_own_id else EventRow.own_id.remove(),
        EventRow.why.set(IN_NO_EMAIL) if change.moves else EventRow.why.remove(),
        EventRow.retracted_at.set(now),
        EventRow.expires_at.set(now + retention),
    ]
    return [*actions, *(name.remove() for name in _OF_AN_EVENT)]


_OF_AN_EVENT = (
    *(EventRow.stored, EventRow.body, EventRow.others, EventRow.revision),
    *(EventRow.lasts_until, EventRow.seen_at, EventRow.withdrawn_at),
)
"""The attributes that a marker does not have."""


def _write_pointer(
    pointing: Pointing,
    change: Rewrite,
    writes: TransactWrite,
    *,
    model: type[EventRow],
    now: datetime,
    retention: timedelta,
) -> None:
    pointer = model(
        change.user_id,
        pointing.own_id,
        part_of=change.event_id,
        expires_at=now + longest_kept(retention),
    )
    match pointing.before:
        case StoredEvent() as left_out:
            condition = in_place_with_bodies(left_out)
        case Retracted():
            condition = is_pointer_to(change.event_id)
        case None:
            condition = absent(now)
    writes.save(pointer, condition=condition)


def _leave_out(
    stored: StoredEvent,
    why: str,
    change: Rewrite,
    writes: TransactWrite,
    *,
    model: type[EventRow],
) -> None:
    """Turn the pointer of a body that no email may show into a row of its own.

    Uses an update, because functions that send email may not replace rows of events.
    """
    actions: list[Action] = [
        EventRow.stored.set(stored_key(stored.schedule, stored.stored_at)),
        EventRow.body.set(body_of(stored.event)),
        *because(seen_at=stored.seen_at, withdrawn_at=stored.withdrawn_at, error=why),
        EventRow.lasts_until.set(stored.lasts_until),
        EventRow.expires_at.set(kept_until(stored.lasts_until, stored.schedule)),
    ]
    if change.before:
        actions.append(EventRow.was.set(change.before.schedule))
    row = model(stored.event.user_id, stored.event.id)
    writes.update(row, actions=actions, condition=is_pointer_to(change.event_id))


def _as_read(change: Rewrite, now: datetime) -> Condition:
    """Return the condition that place and bodies of the row are as they were read."""
    match change.before:
        case StoredEvent() as before:
            same: Condition = in_place_with_bodies(before) & (
                EventRow.body == body_of(before.event)
            )
        case Retracted(schedule=schedule, stored_at=datetime() as stored_at, own_id=own_id):
            same = (EventRow.was_stored == stored_key(schedule, stored_at)) & (
                EventRow.own_id == own_id if own_id else EventRow.own_id.does_not_exist()
            )
        case Retracted(part_of=""):
            same = EventRow.retracted_at.exists() & EventRow.body.does_not_exist()
            same &= EventRow.was_stored.does_not_exist() & EventRow.part_of.does_not_exist()
        case _:
            same = absent(now)
    return same
