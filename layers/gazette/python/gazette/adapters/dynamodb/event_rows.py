"""Encoding and decoding of rows in the `events` table, and conditions for writes to the rows."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from gazette.adapters.dynamodb.client import MALFORMED, decoded
from gazette.adapters.dynamodb.tables import EventRow
from gazette.adapters.dynamodb.values import (
    LAST_SECOND,
    Codec,
    Codecs,
    instant,
    instant_text,
    number,
    read_instant,
    text,
    texts,
    whole,
)
from gazette.domain.model import (
    Actor,
    Entity,
    Event,
    Happening,
    Image,
    Importance,
    Retracted,
    StoredEvent,
)
from gazette.domain.stored import as_stored
from gazette.domain.window.briefs import Brief, StoredBrief, stored_brief_of
from gazette.domain.window.naming import is_name


def stored_key(schedule: str, instant: datetime) -> str:
    """Return the sort key `schedule#instant` from an event's schedule and storage time.

    The keys of a schedule sort by time.
    """
    return f"{schedule}#{instant_text(instant)}"


def absent(now: datetime) -> Condition:
    """Return the condition that the event does not exist, or has expired."""
    condition: Condition = EventRow.event_id.does_not_exist() | expired(now)
    return condition


def expired(now: datetime) -> Condition:
    """Return the condition that the event has expired, whether or not DynamoDB has deleted it."""
    condition: Condition = (EventRow.lasts_until <= now) | (EventRow.expires_at <= now)
    return condition


def in_place(stored: StoredEvent) -> Condition:
    """Return the condition that the event's schedule and storage time have not changed since the
    event was read.
    """
    unmoved: Condition = EventRow.stored == stored_key(stored.schedule, stored.stored_at)
    return unmoved


def in_place_with_bodies(stored: StoredEvent) -> Condition:
    """Return the condition that neither the event's place nor the bodies of its happening have
    changed since the event was read.
    """
    is_same = (
        EventRow.revision == stored.revision
        if stored.revision
        else EventRow.revision.does_not_exist()
    )
    unchanged: Condition = in_place(stored) & is_same
    return unchanged


def is_pointer_to(event_id: str) -> Condition:
    """Return the condition that the row still points to the happening with this id, and has
    neither a retraction nor an event of its own."""
    is_unchanged = EventRow.retracted_at.does_not_exist() & EventRow.stored.does_not_exist()
    condition: Condition = (EventRow.part_of == event_id) & is_unchanged
    return condition


def no_longer_than(until: datetime) -> Condition:
    """Return the condition that the event expires no later than `until`."""
    shorter: Condition = EventRow.lasts_until.does_not_exist() | (EventRow.lasts_until <= until)
    return shorter


SEEN = "\nseen "
"""The prefix of the ids of rows that are marks of seen entities.

The id of an event is one line (adapters/contract/fields.py), so no event has such an id.
"""


CAP_KEY = "\ncap"
"""The id of the row with the usage of a reader's limit of immediate emails."""

IN_NO_EMAIL = "in no email"
"""The reason (`why`) of a marker whose row was in no email (`Retracted.is_in_no_email`)."""

CAPPED = "cap"
"""The reason (`why`) of an event that is in a digest because of the limit of immediate emails."""


_REASON_CHARACTERS = 500

_SEEN = "the reader has seen the entity (entity.seen)"
"""The reason that a version without `seen_at` shows."""

_WITHDRAWN = "an operator withdrew the actor or the entity (gazette withdraw)"
"""The reason that a version without `withdrawn_at` shows."""


def because(
    *, seen_at: datetime | None = None, withdrawn_at: datetime | None = None, error: str = ""
) -> Sequence[Action]:
    """Return the actions that store the reason why an event is left out: a visit, a withdrawal, or
    the error of the templates."""
    why = _SEEN if seen_at else _WITHDRAWN if withdrawn_at else error[:_REASON_CHARACTERS]
    instants = ((EventRow.seen_at, seen_at), (EventRow.withdrawn_at, withdrawn_at))
    return [
        EventRow.why.set(why),
        *(name.set(instant) if instant else name.remove() for name, instant in instants),
    ]


def is_mark(row: EventRow) -> bool:
    """Return True if the row is the mark of an entity that the reader has seen."""
    return row.event_id.startswith(SEEN)


def end_of(row: EventRow) -> datetime:
    """Return the expiry time of an event, or of a retraction marker."""
    return row.lasts_until or row.expires_at


def event_or_trace_in(row: EventRow) -> StoredEvent | Retracted:
    """Return the event in a row with its schedule, or the row's retraction marker."""
    if row.stored is None and row.body is None:
        return trace_in(row)
    schedule, stored_at = place_in(row.stored or "")
    return StoredEvent(
        event_in(row),
        schedule,
        stored_at,
        end_of(row),
        row.seen_at,
        row.withdrawn_at,
        is_capped=row.why == CAPPED,
        others=_others_in(row),
        revision=whole(row.revision or 0),
        refuses_own=row.retracted_at is not None,
        part_of=row.part_of or "",
    )


def trace_in(row: EventRow) -> Retracted:
    """Return the retraction marker or the pointer in a row."""
    return Retracted(
        row.event_id,
        row.was or "",
        stored_at=place_in(row.was_stored)[1] if row.was_stored else None,
        own_id=row.own_id or "",
        part_of=row.part_of or "",
        is_pointer=bool(row.part_of) and row.retracted_at is None,
        is_in_no_email=row.why == IN_NO_EMAIL,
        retracted_at=row.retracted_at,
    )


def place_in(stored: str) -> tuple[str, datetime]:
    """Return the schedule and the storage time in a sort key."""
    schedule, _, since = stored.partition("#")
    return schedule, instant(since).astimezone(UTC)


def body_of(event: Event) -> str:
    """Return the content of an event as JSON. Equal events have equal JSON."""
    body: dict[str, Any] = {
        "category": event.category,
        "entity": entity_fields(event.entity),
        "actor": actor_fields(event.actor),
        "occurred_at": event.occurred_at.isoformat(),
        "excerpt": event.excerpt,
    }
    return as_json(
        body
        | _given(event, _VERSION)
        | optional_fields(event)
        | _given(event, _OF_SOURCE)
        | _given(event, _OF_BODY)
    )


def bodies_of(events: Iterable[Event]) -> str:
    """Return the other bodies of a happening as a JSON list."""
    return f"[{','.join(map(body_of, events))}]"


def as_json(value: object) -> str:
    """Return the shortest JSON for a value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def entity_fields(entity: Entity) -> list[str]:
    """Return the entity fields that every stored event has.

    The image is among the optional fields.
    """
    return [entity.type, entity.id, entity.title, entity.url]


def actor_fields(actor: Actor | None) -> list[str]:
    """Return the actor fields that every stored event has. They are empty if the event has no
    actor.

    Earlier releases can read empty fields, because no actor's id is empty.
    """
    return [actor.id, actor.name] if actor else ["", ""]


_OPTIONAL: Codecs = {
    "parent_title": Codec(str, text),
    "importance": Codec(str, lambda stored: as_stored(Importance, text(stored))),
    "expires_at": Codec(datetime.isoformat, instant),
    "data": Codec(json.loads, as_json),
}
"""The codecs of the optional fields of events and activities.

The order of the fields must not change, because amendments compare the JSON with the stored JSON.
"""

_VERSION: Codecs = {
    "amended_at": Codec(datetime.isoformat, lambda stored: instant(stored) if stored else None),
    "via": Codec(list, texts),
}
"""The codecs of optional fields that the JSON of an activity does not contain."""

_OF_SOURCE: Codecs = {
    "source": Codec(str, text),
    "score": Codec(read=lambda stored: None if stored is None else number(stored)),
}
"""The codecs of the fields that only events from content sources have."""

_OF_BODY: Codecs = {"own_id": Codec(str, text)}
"""The codec of the field that only events which are part of an activity have."""

_OF_EVENT: Codecs = {**_VERSION, **_OPTIONAL, **_OF_SOURCE, **_OF_BODY}
_DEFAULTS = {each.name: each.default for each in fields(Event)}


def optional_fields(content: Happening) -> dict[str, Any]:
    """Return the fields that are stored only if they have a value.

    Earlier releases ignore these fields.
    """
    image, actor = content.entity.image, content.actor
    stored = {
        "image": [image.url, image.text] if image else None,
        "actor_url": actor.url if actor else "",
        "avatar": actor.avatar if actor else "",
    }
    return {name: value for name, value in stored.items() if value} | _given(content, _OPTIONAL)


def _given(content: Happening, codecs: Codecs) -> dict[str, Any]:
    """Return the fields that differ from their defaults."""
    return {
        name: codec.write(value)
        for name, codec in codecs.items()
        if (value := getattr(content, name)) != _DEFAULTS[name]
    }


def entity_in(body: Mapping[str, Any]) -> Entity:
    """Return the entity from the JSON of an event or activity."""
    kind, entity_id, title, url = texts(body["entity"])
    image = body.get("image")
    return Entity(kind, entity_id, title, url, Image(*texts(image)) if image else None)


def actor_in(body: Mapping[str, Any]) -> Actor | None:
    """Return the actor from the JSON of an event or activity, if there is one."""
    actor_id, name = texts(body["actor"])
    if not actor_id:
        return None
    return Actor(actor_id, name, text(body.get("actor_url", "")), text(body.get("avatar", "")))


def content_in(body: Mapping[str, Any], optional: Codecs = _OPTIONAL) -> dict[str, Any]:
    """Return the fields in the JSON of an activity, by name. For an event, pass `_OF_EVENT`.

    Older rows lack the optional fields.
    """
    return {
        "category": text(body["category"]),
        "entity": entity_in(body),
        "actor": actor_in(body),
        "excerpt": text(body["excerpt"]),
    } | {name: codec.read(body[name]) for name, codec in optional.items() if name in body}


def event_in(row: EventRow) -> Event:
    """Return the event in a row that has a body."""
    return _event_from(json.loads(row.body or ""), row)


def _others_in(row: EventRow) -> tuple[Event, ...]:
    """Return the other bodies in the row of a happening."""
    return tuple(_event_from(body, row) for body in json.loads(row.others)) if row.others else ()


def _event_from(body: Mapping[str, Any], row: EventRow) -> Event:
    occurred_at = instant(body["occurred_at"])
    content = content_in(body, _OF_EVENT)
    return Event(user_id=row.user_id, id=row.event_id, occurred_at=occurred_at, **content)


def brief_in(raw: dict[str, Any], now: datetime) -> StoredBrief | None:
    """Return the brief of an event (the event without its content) from a raw row. Return None if
    the row's TTL has passed. Raises UnreadableRow.

    A window may have hundreds of thousands of rows, while an email shows about a hundred. Most rows
    have the format of `body_of` and are read here without creating domain objects. All other rows
    are decoded completely, so that malformed attributes are reported.
    """
    try:
        brief = _usual_brief_in(raw, now)
    except MALFORMED:
        brief = None
    if brief:
        return brief
    row = EventRow.from_raw_data(raw)
    stored = decoded(row, event_or_trace_in)
    if not isinstance(stored, StoredEvent) or row.expires_at <= now:
        return None
    return stored_brief_of(stored)


_USUAL_ROW = {"user_id", "event_id", "stored", "body", "lasts_until", "expires_at"}
_USUAL_ROWS = (_USUAL_ROW, _USUAL_ROW | {"why"})
_USUAL_BODY = {"category", "entity", "actor", "occurred_at", "excerpt", "amended_at", "via"}
_TEXT = {str}
_decode = json.JSONDecoder().raw_decode
_shared = lru_cache(maxsize=4096)(str)
"""A cache through which equal texts in the briefs of a window share memory."""


def _usual_brief_in(raw: dict[str, Any], now: datetime) -> StoredBrief | None:
    """Return the brief of an event from a row in the format of `body_of`, without creating domain
    objects.

    Return None or raise for any other row.
    """
    stored_body, expires_at = raw["body"]["S"], int(raw["expires_at"]["N"])
    body, end = _decode(stored_body)
    entity, actor, category = body["entity"], body["actor"], body["category"]
    kind, entity_id, title, url = entity
    actor_id, name = actor
    every_text = (kind, entity_id, title, url, actor_id, name, category, body["excerpt"])
    is_usual = (
        raw.keys() in _USUAL_ROWS
        and "S" in raw["user_id"]
        and end == len(stored_body)
        and type(entity) is type(actor) is list
        and set(map(type, every_text)) == _TEXT
    )
    if not is_usual or not now.timestamp() < expires_at < LAST_SECOND:
        return None
    occurred_at, amended_at = instant(body["occurred_at"]), body.get("amended_at")
    via = texts(body.get("via", []))
    optional = _NO_OPTIONAL if body.keys() <= _USUAL_BODY else _optional_of_brief(body, via)
    brief = Brief(
        raw["event_id"]["S"],
        occurred_at,
        instant(amended_at) if amended_at else occurred_at,
        _shared(category),
        _shared(f"{kind}#{entity_id}"),
        _shared(actor_id) if actor_id else None,
        actor_id != "" and is_name(name),
        not via,
        *optional[1:],
    )
    stored_at = read_instant(raw["stored"]["S"].partition("#")[2])
    lasts_until = read_instant(raw["lasts_until"]["S"])
    over_at = min(lasts_until, optional[0] or lasts_until)
    return StoredBrief(brief, stored_at, over_at, optional[0], partial(_stored_in, raw))


_NO_OPTIONAL: tuple[Any, ...] = (None, Importance.NORMAL, "", None, False, False, "")


def _optional_of_brief(body: Mapping[str, Any], via: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the optional fields of an event's brief, starting with the time at which the event
    lapses.

    Also validates the fields that a brief lacks, so that malformed fields are reported.
    """
    content = content_in(body, _OF_EVENT)
    actor = content["actor"]
    return (
        content.get("expires_at"),
        content.get("importance", Importance.NORMAL),
        content.get("source", ""),
        content.get("score"),
        bool(actor and actor.url),
        bool(actor and actor.avatar),
        via[-1] if via and content.get("parent_title") else "",
    )


def _stored_in(raw: dict[str, Any]) -> StoredEvent:
    stored = decoded(EventRow.from_raw_data(raw), event_or_trace_in)
    if not isinstance(stored, StoredEvent):
        raise TypeError("a row with a body must be an event")
    return stored
