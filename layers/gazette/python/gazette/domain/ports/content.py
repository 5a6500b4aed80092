"""Content sources, and the queue of the queries to them.

All instants are timezone-aware UTC.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from gazette.domain.content import Answer, Fetch, Question
from gazette.domain.ports.queues import Queue


@dataclass(frozen=True, slots=True)
class QueuedFetch:
    """A fetch to send to the queue, with a `delay` of 0 to 900 s."""

    fetch: Fetch
    delay: timedelta


FetchQueue = Queue[QueuedFetch]
"""The queue of the function `content`."""


class ContentSource(Protocol):
    """A source that is queried. Queries can be repeated."""

    def ask(self, question: Question) -> Answer:
        """Return its items for the reader. Raises SourceFailed if there is no usable answer."""
