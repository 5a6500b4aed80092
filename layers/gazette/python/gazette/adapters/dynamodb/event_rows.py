"""Encodes and decodes rows of the table `events`, and builds their conditions."""

import json
from datetime import UTC, datetime

from pynamodb.expressions.condition import Condition

from gazette.adapters.dynamodb.client import instant_text
from gazette.adapters.dynamodb.tables import EventRow
from gazette.domain.model import Actor, Entity, Event, Retracted, StoredEvent


def stored_key(schedule: str, instant: datetime) -> str:
    """`schedule#instant`: the schedule of an event, and since when; sorts by time."""
    return f"{schedule}#{instant_text(instant)}"


def absent(now: datetime) -> Condition:
    """The event does not exist, or has expired."""
    absent: Condition = EventRow.event_id.does_not_exist() | expired(now)
    return absent


def expired(now: datetime) -> Condition:
    """The event has expired, although DynamoDB may not have deleted it yet."""
    expired: Condition = (EventRow.lasts_until <= now) | (EventRow.expires_at <= now)
    return expired


def in_place(stored: StoredEvent) -> Condition:
    """The event still has the schedule and the storage time that were read."""
    unmoved: Condition = EventRow.stored == stored_key(stored.schedule, stored.stored_at)
    return unmoved


def no_longer_than(until: datetime) -> Condition:
    """The event does not last beyond `until`, so that the write does not shorten its life."""
    shorter: Condition = EventRow.lasts_until.does_not_exist() | (EventRow.lasts_until <= until)
    return shorter


def end_of(row: EventRow) -> datetime:
    """When the event, or the trace of its retraction, expires."""
    return row.lasts_until or row.expires_at


def found_in(row: EventRow) -> StoredEvent | Retracted:
    """The event with its schedule, or the trace of a retraction."""
    if row.stored is None and row.body is None:
        return trace_in(row)
    schedule, _, instant = (row.stored or "").partition("#")
    stored_at = datetime.fromisoformat(instant).astimezone(UTC)
    return StoredEvent(event_in(row), schedule, stored_at, end_of(row))


def trace_in(row: EventRow) -> Retracted:
    """What is left of a retracted event."""
    return Retracted(row.event_id, row.was or "")


def body_of(event: Event) -> str:
    """The content of an event as JSON. Equal events have equal text."""
    fields = {
        "category": event.category,
        "entity": [event.entity.type, event.entity.id, event.entity.title, event.entity.url],
        "actor": [event.actor.id, event.actor.name],
        "occurred_at": event.occurred_at.isoformat(),
        "excerpt": event.excerpt,
    }
    if event.amended_at:
        fields["amended_at"] = event.amended_at.isoformat()
    if event.via:
        fields["via"] = list(event.via)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def event_in(row: EventRow) -> Event:
    """The event of a row with a body."""
    body = json.loads(row.body or "")
    amended_at = body.get("amended_at")
    return Event(
        user_id=row.user_id,
        id=row.event_id,
        category=body["category"],
        entity=Entity(*body["entity"]),
        actor=Actor(*body["actor"]),
        occurred_at=datetime.fromisoformat(body["occurred_at"]),
        excerpt=body["excerpt"],
        amended_at=datetime.fromisoformat(amended_at) if amended_at else None,
        via=tuple(body.get("via", ())),
    )
