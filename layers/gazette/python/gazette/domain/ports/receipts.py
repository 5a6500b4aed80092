"""The ports of receipts, which read rows of events for any readers, and rows of emails.

Every port may raise `Unavailable`. Reads are strongly consistent.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from gazette.domain.delivery.run import Run
from gazette.domain.feedback.delivery_events import Engagement
from gazette.domain.model import RunKey
from gazette.domain.receipts.receipt import Found, FoundEvent


class EventTraces(Protocol):
    """A port that reads all that is stored of an event, even if it can no longer be sent."""

    def find(self, user_id: str, event_id: str) -> FoundEvent | None:
        """Return the event's row, or None. Rows whose TTL has passed count as absent.

        Raises UnreadableRow.
        """

    def find_many(self, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Found]:
        """Return the rows of these pairs of user id and event id. Missing events are omitted."""


class EmailOutcomes(Protocol):
    """A port that reads the delivery events of emails."""

    def of_runs(self, runs: Sequence[Run]) -> Mapping[RunKey, Engagement]:
        """Return the engagement of these runs' emails. Runs without delivery events, and rows that
        cannot be read, are omitted."""
