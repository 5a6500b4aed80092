"""Events in DynamoDB: one row an event, read by window from a local index."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta

from gazette.adapters.tables import ConditionFailed, EventRow, bind, instant_text, translated
from gazette.domain.errors import Unavailable
from gazette.domain.model import Actor, Entity, Event, Window
from gazette.domain.ports import Clock

_ATTEMPTS = 3


class DynamoEventWriter:
    """The port `EventWriter` on the table `events`.

    `timeout`, in seconds, bounds one attempt to write: the settle lag of the readers must be
    longer. The client does not repeat writes, because each attempt takes a stamp of its own.
    """

    def __init__(
        self, table_name: str, *, retention: timedelta, timeout: float, clock: Clock
    ) -> None:
        bind(
            EventRow,
            table_name,
            attempts=1,
            connect_timeout=timeout / 3,
            read_timeout=timeout * 2 / 3,
        )
        self._retention = retention
        self._clock = clock

    def store(self, event: Event, schedule: str) -> bool:
        """One conditional PutItem, tried up to three times."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._put(event, schedule)
            except Unavailable:
                continue
        return self._put(event, schedule)

    def _put(self, event: Event, schedule: str) -> bool:
        now = self._clock()
        row = EventRow(
            user_id=event.user_id,
            event_id=event.id,
            stored=_stored(schedule, now),
            body=_body(event),
            expires_at=now + self._retention,
        )
        try:
            with translated():
                row.save(EventRow.event_id.does_not_exist())
        except ConditionFailed:
            return False
        return True


class DynamoEventReader:
    """The port `EventReader` on the table `events`."""

    def __init__(self, table_name: str, *, clock: Clock) -> None:
        bind(EventRow, table_name, read_timeout=5.0)
        self._clock = clock

    def read(self, user_id: str, schedule: str, window: Window) -> Iterator[Event]:
        """One strongly consistent Query per megabyte of events; none for an empty window."""
        if window.is_empty:
            return
        now = self._clock()
        after = _stored(schedule, window.since)
        with translated():
            rows = EventRow.stored_index.query(
                user_id,
                EventRow.stored.between(after, _stored(schedule, window.until)),
                consistent_read=True,
            )
            for row in rows:
                if row.stored > after and row.expires_at > now:
                    yield _event(row)


def _stored(schedule: str, instant: datetime) -> str:
    return f"{schedule}#{instant_text(instant)}"


def _body(event: Event) -> str:
    return json.dumps(
        {
            "category": event.category,
            "entity": [event.entity.type, event.entity.id, event.entity.title, event.entity.url],
            "actor": [event.actor.id, event.actor.name],
            "occurred_at": event.occurred_at.isoformat(),
            "excerpt": event.excerpt,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def _event(row: EventRow) -> Event:
    body = json.loads(row.body)
    return Event(
        user_id=row.user_id,
        id=row.event_id,
        category=body["category"],
        entity=Entity(*body["entity"]),
        actor=Actor(*body["actor"]),
        occurred_at=datetime.fromisoformat(body["occurred_at"]),
        excerpt=body["excerpt"],
    )
