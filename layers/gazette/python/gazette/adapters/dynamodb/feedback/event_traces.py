"""All that is stored of an event, for receipts: its row or its retraction marker."""

from collections.abc import Collection, Mapping
from datetime import UTC

from gazette.adapters.dynamodb.client import bind, decoded, each_decoded, read_each, read_row
from gazette.adapters.dynamodb.event_rows import CAPPED, event_or_trace_in
from gazette.adapters.dynamodb.tables import EventRow
from gazette.adapters.dynamodb.values import instant
from gazette.domain.ports.clock import Clock
from gazette.domain.receipts.receipt import Found, FoundEvent


class DynamoEventTraces:
    """Implementation of the `EventTraces` port backed by the `events` table.

    Unlike `DynamoEvents`, it also returns events that can no longer be sent, until their TTL
    passes.
    """

    def __init__(self, table_name: str, *, clock: Clock) -> None:
        bind(EventRow, table_name)
        self._clock = clock

    def find(self, user_id: str, event_id: str) -> FoundEvent | None:
        """Read an event with one strongly consistent GetItem."""
        row = read_row(EventRow, user_id, event_id)
        if row is None:
            return None
        event = decoded(row, found_in)
        return event if row.expires_at > self._clock() else None

    def find_many(self, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Found]:
        """Read events with one strongly consistent BatchGetItem per hundred."""
        rows = list(read_each(EventRow, keys))
        now = self._clock()
        return {
            (row.user_id, row.event_id): event
            for row, event in zip(rows, each_decoded(rows, found_in), strict=True)
            if not isinstance(event, FoundEvent) or row.expires_at > now
        }


def found_in(row: EventRow) -> FoundEvent:
    """Return the event or the retraction marker in a row, with the attributes for receipts."""
    schedule, _, since = (row.was_stored or "").partition("#")
    return FoundEvent(
        event_or_trace_in(row),
        why="" if row.why == CAPPED else row.why or "",
        was_schedule=schedule or row.was or "",
        was_stored_at=instant(since).astimezone(UTC) if since else None,
        retracted_at=row.retracted_at,
    )
