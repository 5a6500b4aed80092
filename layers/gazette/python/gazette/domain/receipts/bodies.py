"""The part of a happening's row that concerns one of its events, for receipts. Pure."""

from dataclasses import replace

from gazette.domain.model import Retracted, StoredEvent
from gazette.domain.receipts.receipt import FoundEvent


def of_body(row: FoundEvent, own_id: str = "") -> FoundEvent | None:
    """Return what a row stores of one event; None if the row does not have the event.

    `own_id` is empty for the event whose id is the id of the row.
    """
    stored = row.row
    if isinstance(stored, Retracted):
        return row if stored.own_id == own_id else None
    if any(body.own_id == own_id for body in stored.bodies):
        return replace(row, own_id=own_id)
    if stored.refuses_own and not own_id:
        return _retracted(row, row)
    return None


def at_pointer(pointer: FoundEvent, row: FoundEvent | None) -> FoundEvent | None:
    """Return what is stored of the event at a pointer.

    `row` is the row to which the pointer points, or None. Returns None if neither the event nor its
    retraction is stored.
    """
    trace = pointer.row
    if isinstance(trace, Retracted) and not trace.is_pointer:
        return _retracted(pointer, row)
    is_stored = row is not None and isinstance(row.row, StoredEvent)
    return of_body(row, _id_of(pointer)) if row and is_stored else None


def _retracted(trace: FoundEvent, row: FoundEvent | None) -> FoundEvent:
    """Return the retraction of an event, with the place of its happening's row.

    A row that was or may have been sent does not move. So the emails of its present place are all
    emails that may contain the event.
    """
    schedule, stored_at = "", None
    if row and isinstance(row.row, StoredEvent):
        schedule, stored_at = row.row.schedule, row.row.stored_at
    elif row:
        schedule, stored_at = row.was_schedule, row.was_stored_at
    id_ = _id_of(trace if row is None else row)
    return FoundEvent(
        Retracted(id_, schedule, stored_at),
        was_schedule=schedule,
        was_stored_at=stored_at,
        retracted_at=trace.retracted_at,
        shares_row=True,
    )


def _id_of(found: FoundEvent) -> str:
    return found.row.event.id if isinstance(found.row, StoredEvent) else found.row.id
