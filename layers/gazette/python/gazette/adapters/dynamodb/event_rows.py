"""Encodes and decodes rows of the table `events`, and builds their conditions."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

from pynamodb.expressions.condition import Condition

from gazette.adapters.dynamodb.client import MALFORMED, decoded, instant_text, read_instant
from gazette.adapters.dynamodb.tables import EventRow
from gazette.adapters.dynamodb.values import (
    LAST_SECOND,
    in_years,
    instant,
    number,
    text,
    texts,
)
from gazette.domain.model import (
    Actor,
    Entity,
    Event,
    Image,
    Importance,
    Retracted,
    StoredEvent,
)
from gazette.domain.naming.visible import is_name
from gazette.domain.stored import as_stored
from gazette.domain.subscribers.following import Activity
from gazette.domain.window.briefs import Brief, StoredBrief, stored_brief_of


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
    schedule, _, since = (row.stored or "").partition("#")
    stored_at = in_years(instant(since)).astimezone(UTC)
    event = event_in(row)
    for each in (event.occurred_at, event.amended_at, event.expires_at):
        in_years(each or stored_at)
    return StoredEvent(event, schedule, stored_at, end_of(row))


def trace_in(row: EventRow) -> Retracted:
    """What is left of a retracted event."""
    return Retracted(row.event_id, row.was or "")


def body_of(event: Event) -> str:
    """The content of an event as JSON. Equal events have equal text."""
    fields: dict[str, Any] = {
        "category": event.category,
        "entity": entity_fields(event.entity),
        "actor": actor_fields(event.actor),
        "occurred_at": event.occurred_at.isoformat(),
        "excerpt": event.excerpt,
    }
    if event.amended_at:
        fields["amended_at"] = event.amended_at.isoformat()
    if event.via:
        fields["via"] = list(event.via)
    return as_json(fields | optional_fields(event) | _source_fields(event))


def as_json(value: object) -> str:
    """As short as JSON can be."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def entity_fields(entity: Entity) -> list[str]:
    """What each event says of its entity. Its image is among the optional fields."""
    return [entity.type, entity.id, entity.title, entity.url]


def actor_fields(actor: Actor | None) -> list[str]:
    """What each event says of its actor. Of none, both are empty, which no actor's id is.

    So an earlier release reads an event without an actor.
    """
    return [actor.id, actor.name] if actor else ["", ""]


def optional_fields(content: Event | Activity) -> dict[str, Any]:
    """The fields that are stored only where they are given; an earlier release ignores them."""
    image, actor = content.entity.image, content.actor
    normal = content.importance is Importance.NORMAL
    fields = {
        "image": [image.url, image.text] if image else None,
        "actor_url": actor.url if actor else "",
        "avatar": actor.avatar if actor else "",
        "parent_title": content.parent_title,
        "importance": "" if normal else content.importance.value,
        "expires_at": content.expires_at.isoformat() if content.expires_at else "",
        "data": json.loads(content.data) if content.data else None,
    }
    return {name: value for name, value in fields.items() if value}


def _source_fields(event: Event) -> dict[str, Any]:
    """What is stored of an event for which a content source was asked; nothing of any other."""
    fields: dict[str, Any] = {"source": event.source} if event.source else {}
    if event.score is not None:
        fields["score"] = event.score
    return fields


def entity_in(body: Mapping[str, Any]) -> Entity:
    """The entity in the JSON of an event or an activity."""
    kind, entity_id, title, url = texts(body["entity"])
    image = body.get("image")
    return Entity(kind, entity_id, title, url, Image(*texts(image)) if image else None)


def actor_in(body: Mapping[str, Any]) -> Actor | None:
    """The actor in the JSON of an event or an activity, if there is one."""
    actor_id, name = texts(body["actor"])
    if not actor_id:
        return None
    return Actor(actor_id, name, text(body.get("actor_url", "")), text(body.get("avatar", "")))


def optional_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """The optional fields of an event or an activity itself, by name; none in older rows."""
    found: dict[str, Any] = {}
    if "parent_title" in body:
        found["parent_title"] = text(body["parent_title"])
    if "importance" in body:
        found["importance"] = as_stored(Importance, text(body["importance"]))
    if "expires_at" in body:
        found["expires_at"] = instant(body["expires_at"])
    if "data" in body:
        found["data"] = as_json(body["data"])
    return found


def event_in(row: EventRow) -> Event:
    """The event of a row with a body."""
    body = json.loads(row.body or "")
    amended_at = body.get("amended_at")
    return Event(
        user_id=row.user_id,
        id=row.event_id,
        category=text(body["category"]),
        entity=entity_in(body),
        actor=actor_in(body),
        occurred_at=instant(body["occurred_at"]),
        excerpt=text(body["excerpt"]),
        amended_at=instant(amended_at) if amended_at else None,
        via=texts(body.get("via", [])),
        source=text(body.get("source", "")),
        score=number(body["score"]) if body.get("score") is not None else None,
        **optional_in(body),
    )


def brief_in(raw: dict[str, Any], now: datetime) -> StoredBrief | None:
    """The brief of a row as DynamoDB sends it; None if it is past its TTL. Raises UnreadableRow.

    A window may have hundreds of thousands of rows, of which an email shows a hundred. Most rows
    are as `body_of` writes them, and are read here without values of the domain. Any other row is
    decoded as a whole, which says what is wrong with it.
    """
    try:
        usual = _usual_brief_in(raw, now)
    except MALFORMED:
        usual = None
    if usual:
        return usual
    row = EventRow.from_raw_data(raw)
    found = decoded(row, found_in)
    if not isinstance(found, StoredEvent) or row.expires_at <= now:
        return None
    return stored_brief_of(found)


_USUAL_ROW = {"user_id", "event_id", "stored", "body", "lasts_until", "expires_at"}
_USUAL_BODY = {"category", "entity", "actor", "occurred_at", "excerpt", "amended_at", "via"}
_TEXT = {str}
_decode = json.JSONDecoder().raw_decode
_shared = lru_cache(maxsize=4096)(str)
"""The same text for equal ones, so that the briefs of a window share what they have in common."""


def _usual_brief_in(raw: dict[str, Any], now: datetime) -> StoredBrief | None:
    """The brief of a row that has what `body_of` writes; None, or an error, for any other row."""
    stored_body = raw["body"]["S"]
    body, end = _decode(stored_body)
    if raw.keys() != _USUAL_ROW or "S" not in raw["user_id"] or end != len(stored_body):
        return None
    entity, actor, category = body["entity"], body["actor"], body["category"]
    via: tuple[str, ...] = ()
    kind, entity_id, title, url = entity
    actor_id, name = actor
    occurred_at = version = in_years(datetime.fromisoformat(body["occurred_at"]))
    if amended_at := body.get("amended_at"):
        version = in_years(datetime.fromisoformat(amended_at))
    texts_in: tuple[object, ...] = (
        *(kind, entity_id, title, url),
        *(actor_id, name, category, body["excerpt"]),
    )
    if "via" in body:
        via = texts(body["via"])
    is_usual = (
        type(entity) is type(actor) is list
        and set(map(type, texts_in)) == _TEXT
        and occurred_at.tzinfo is not None
        and version.tzinfo is not None
        and int(raw["expires_at"]["N"]) < LAST_SECOND
    )
    if not is_usual or int(raw["expires_at"]["N"]) <= now.timestamp():
        return None
    optional: tuple[Any, ...] = _NO_OPTIONAL
    if not body.keys() <= _USUAL_BODY:
        optional = _optional_of_brief(body, via)
    brief = Brief(
        raw["event_id"]["S"],
        occurred_at,
        version,
        _shared(category),
        _shared(f"{kind}#{entity_id}"),
        _shared(actor_id) if actor_id else None,
        actor_id != "" and is_name(name),
        not via,
        *optional[1:],
    )
    stored_at = read_instant(raw["stored"]["S"].partition("#")[2])
    lasts_until = read_instant(raw["lasts_until"]["S"])
    return StoredBrief(brief, stored_at, lasts_until, optional[0], partial(_stored_in, raw))


_NO_OPTIONAL = (None, Importance.NORMAL, "", None, False, False, "")


def _optional_of_brief(body: Mapping[str, Any], via: tuple[str, ...]) -> tuple[Any, ...]:
    """When the event lapses, and the last fields of its brief. Reads the other fields too."""
    entity_in(body)
    optional, actor = optional_in(body), actor_in(body)
    lapses_at = optional.get("expires_at")
    return (
        in_years(lapses_at) if lapses_at else None,
        optional.get("importance", Importance.NORMAL),
        text(body.get("source", "")),
        number(body["score"]) if body.get("score") is not None else None,
        bool(actor and actor.url),
        bool(actor and actor.avatar),
        via[-1] if via and optional.get("parent_title") else "",
    )


def _stored_in(raw: dict[str, Any]) -> StoredEvent:
    found = decoded(EventRow.from_raw_data(raw), found_in)
    if not isinstance(found, StoredEvent):
        raise TypeError("a row with a body is an event")
    return found
