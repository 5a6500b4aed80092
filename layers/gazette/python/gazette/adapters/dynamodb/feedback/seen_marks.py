"""Marks of the entities that readers have seen, in DynamoDB."""

from collections.abc import Collection, Iterable
from datetime import timedelta

from gazette.adapters.dynamodb.client import (
    Row,
    RowsReader,
    bind,
    translated,
    written,
)
from gazette.adapters.dynamodb.event_rows import SEEN
from gazette.adapters.dynamodb.tables import EventRow
from gazette.domain.ports.clock import Clock
from gazette.domain.window.seen import Seen, SeenMark

_FEW = 100
"""The maximum number of entities whose marks are read one by one, which is the limit of a request.

https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
"""


class DynamoSeenReader:
    """Implementation of the `SeenReader` port backed by the `events` table."""

    def __init__(self, table_name: str, *, read: RowsReader) -> None:
        bind(EventRow, table_name)
        self._read = read

    def of(self, user_id: str, entities: Collection[str]) -> Seen:
        """Read marks with one strongly consistent BatchGetItem.

        For more than a hundred entities, read all marks of the reader with one strongly consistent
        Query per megabyte.
        """
        if len(entities) > _FEW:
            with translated():
                return _seen_in(
                    EventRow.query(
                        user_id, EventRow.event_id.startswith(SEEN), consistent_read=True
                    ),
                    entities,
                )
        keys = [(EventRow, (user_id, f"{SEEN}{entity}")) for entity in entities]
        return _seen_in(self._read(*keys) if keys else (), entities)


class DynamoSeenMarks:
    """The part of the `SeenMarks` port that writes, backed by the `events` table."""

    def __init__(self, table_name: str, *, kept_for: timedelta, clock: Clock) -> None:
        bind(EventRow, table_name)
        self.kept_for = kept_for
        self._clock = clock

    def put(self, mark: SeenMark) -> None:
        """Store a mark with one conditional PutItem."""
        row = _row_of(mark)
        row.seen_at, row.expires_at = mark.seen_at, self._clock() + self.kept_for
        written(row.save, EventRow.seen_at.does_not_exist() | (EventRow.seen_at < mark.seen_at))

    def remove(self, mark: SeenMark) -> None:
        """Delete a mark with one conditional DeleteItem."""
        written(_row_of(mark).delete, EventRow.seen_at <= mark.seen_at)


def _row_of(mark: SeenMark) -> EventRow:
    return EventRow(mark.user_id, f"{SEEN}{mark.entity}")


def _seen_in(rows: Iterable[Row | None], entities: Collection[str]) -> Seen:
    """Return the marks of the entities. DynamoDB deletes marks; none is too old to count."""
    marks = {
        row.event_id.removeprefix(SEEN): row.seen_at
        for row in rows
        if isinstance(row, EventRow) and row.seen_at
    }
    return {entity: marks[entity] for entity in entities if entity in marks}
