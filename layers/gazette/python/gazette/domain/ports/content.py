"""Content sources, and the queue of fetches from them.

All instants are timezone-aware UTC.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from gazette.domain.content import Answer, Fetch, Question
from gazette.domain.ports.queues import Queue


@dataclass(frozen=True, slots=True)
class QueuedFetch:
    """A fetch to send to the queue, with a `delay` of 0 to 900 seconds."""

    fetch: Fetch
    delay: timedelta


FetchQueue = Queue[QueuedFetch]
"""The queue of fetches for the `content` function."""


class ContentSource(Protocol):
    """A content source that can be queried. Queries can be repeated."""

    def ask(self, question: Question) -> Answer:
        """Return the source's items for the reader.

        Raises SourceFailed if there is no usable response.
        """
