"""The port of receipts, which reads rows of events for any readers.

The port may raise `Unavailable`. Reads are strongly consistent.
"""

from collections.abc import Collection, Mapping
from typing import Protocol

from gazette.domain.receipts.receipt import Found, FoundEvent


class EventTraces(Protocol):
    """A port that reads all that is stored of an event, even if it can no longer be sent."""

    def find(self, user_id: str, event_id: str) -> FoundEvent | None:
        """Return the event's row, or None. Rows whose TTL has passed count as absent.

        Raises UnreadableRow.
        """

    def find_many(self, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Found]:
        """Return the rows of these pairs of user id and event id. Missing events are omitted."""
