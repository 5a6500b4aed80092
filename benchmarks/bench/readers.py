"""A handler for `benchmarks.bench.worker` that fills the tables for a measurement.

Profiles are stored by the function `ingest`. The real adapters store the runs and, dated one hour
ago, the events. No two readers share an entity, so no group comes from the cache.
"""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.events import DynamoEvents
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.domain.delivery.run import Run
from gazette.domain.model import DAILY, Actor, Entity, Event, RunKey
from gazette.domain.scheduling.calendar import slot_of

from benchmarks.bench.naive import NaiveEvent, NaiveReader
from functions.ingest.handler import lambda_handler as ingest
from tests.functions.messages import envelope, records

_TITLES = ("On digests", "Notes from the field trip", "A question about lists", "The long winter")
_NAMES = ("Bo", "Ann-Kathrin Sommer", "José", "Wei", "Oluwaseun Adeyemi")
_SAID = "I read this twice, and I still think that the second half deserves a page of its own. "


def lambda_handler(event: dict[str, Any], context: Any) -> None:
    """Add `readers` readers, numbered from `first`, each with `events` events in `groups` groups.

    With `armed`, add only profiles with an armed schedule. With `naive`, add the readers for the
    naive design.
    """
    numbers = range(event["first"], event["first"] + event["readers"])
    if event.get("naive"):
        _add_naive(numbers, event["events"], event["groups"])
        return
    for number in numbers:
        detail = profile(number)
        ingest(records(envelope("subscriber.changed", detail)), context)
        if event.get("armed"):
            first = detail_of(happened(number, 0, 1), user_id=detail["user_id"])
            ingest(records(envelope("event.created", {**first, "id": "first"})), context)
    if not event.get("armed"):
        _add_digests(numbers, event["events"], event["groups"])


def user(number: int) -> str:
    """Return the user id of a reader."""
    return f"reader{number:07d}"


def profile(number: int) -> dict[str, Any]:
    """Return the detail of the reader's `subscriber.changed` event."""
    return {
        "user_id": user(number),
        "email": f"{user(number)}@example.com",
        "name": f"Reader {number}",
        "time_zone": "Europe/Berlin",
        "changed_at": (datetime.now(UTC) - timedelta(days=10)).isoformat(timespec="seconds"),
    }


def happened(reader: int, number: int, groups: int) -> Event:
    """Return the reader's event number `number`, about one of the reader's `groups` entities."""
    group = number % groups
    title = f"{_TITLES[group % len(_TITLES)]}, {reader}-{group}"
    entity = f"{reader}-{group}"
    name = _NAMES[number % len(_NAMES)]
    return Event(
        user_id=user(reader),
        id=f"comment-{reader}-{number}",
        category="comment",
        entity=Entity("post", entity, title, f"https://example.com/posts/{entity}"),
        actor=Actor(name.lower(), name),
        occurred_at=datetime.now(UTC) - timedelta(hours=2, minutes=number),
        excerpt=_SAID * 2,
    )


def detail_of(event: Event, **given: Any) -> dict[str, Any]:
    """Return the event as the detail of an `event.created`."""
    entity, actor = event.entity, event.actor
    return {
        "id": event.id,
        "user_id": event.user_id,
        "category": event.category,
        "entity": {
            "type": entity.type,
            "id": entity.id,
            "title": entity.title,
            "url": entity.url,
        },
        "actor": {"id": "a1", "name": actor.name if actor else ""},
        "occurred_at": event.occurred_at.isoformat(timespec="seconds"),
        "excerpt": event.excerpt,
        **given,
    }


def _events(numbers: range, events: int, groups: int) -> Iterator[Event]:
    for reader in numbers:
        for number in range(events):
            yield happened(reader, number, groups)


def _add_digests(numbers: range, events: int, groups: int) -> None:
    """Add due runs in an open batch, and their events."""
    now = datetime.now(UTC)
    retention = timedelta(days=35)
    stored = DynamoEvents(
        os.environ["GAZETTE_EVENTS_TABLE"],
        retention=retention,
        timeout=5.0,
        clock=lambda: now - timedelta(hours=1),
    )
    for event in _events(numbers, events, groups):
        stored.store(event, DAILY)
    kept = timedelta(days=200)
    runs = DynamoRuns(os.environ["GAZETTE_RUNS_TABLE"], retention=kept)
    control = os.environ["GAZETTE_CONTROL_TABLE"]
    DynamoBatches(control, retention=kept, clock=lambda: now).begin(slot_of(now))
    for number in numbers:
        key = RunKey(user(number), DAILY, 1)
        runs.create(Run(key=key, due_at=now, check_at=now + timedelta(hours=1)))


def _add_naive(numbers: range, events: int, groups: int) -> None:
    for number in numbers:
        NaiveReader(
            user(number), name=f"Reader {number}", email=f"{user(number)}@example.com"
        ).save()
    for event in _events(numbers, events, groups):
        NaiveEvent(
            event.user_id,
            event.id,
            title=event.entity.title,
            url=event.entity.url,
            actor=event.actor.name if event.actor else "",
            excerpt=event.excerpt,
            occurred_at=f"{event.occurred_at:%d %B %Y, %H:%M}",
        ).save()
