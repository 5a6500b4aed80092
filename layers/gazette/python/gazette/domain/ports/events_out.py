"""The event bus on which Gazette publishes events about readers and emails."""

from collections.abc import Sequence
from typing import Protocol

from gazette.domain.events_out.events import EventOut


class EventsOut(Protocol):
    """The bus for events out, to which consumers subscribe."""

    def publish(self, events: Sequence[EventOut]) -> None:
        """Publish events, in order.

        Raises Unavailable if the bus rejected an event, or if the result is unknown. Some of the
        events may then have been published, and the caller publishes all of them again.
        """
