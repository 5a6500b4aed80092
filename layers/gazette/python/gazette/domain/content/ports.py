"""The ports of content sources and of the queue of fetches, and the requests that they take.

All instants are timezone-aware UTC.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from gazette.domain.content.items import Answer
from gazette.domain.ports.queues import Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query to a content source for the items of one reader's digest."""

    user_id: str
    schedule: str
    since: datetime | None
    """The end of the period that earlier digests covered; None before the first digest."""

    until: datetime
    """The time at which the digest is due."""

    limit: int
    """The maximum number of items to return."""

    locale: str
    """The reader's locale."""

    time_zone: str
    """The reader's time zone."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """A request to query a schedule's content sources for the digest that is due at `due_at`."""

    user_id: str
    schedule: str
    due_at: datetime
    tries: int = 0
    """The number of failed attempts so far."""

    asked_at: datetime | None = None
    """The time at which a digest started to wait for the items; None if no digest is waiting."""

    @property
    def waits_since(self) -> datetime:
        """The time at which the digest starts to wait for the items.

        Later than `due_at` if fan-out was late.
        """
        return max(self.due_at, self.asked_at or self.due_at)


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
