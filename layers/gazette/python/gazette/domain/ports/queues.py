"""The queues.

Every port may raise `Unavailable`. The caller then cannot know whether a write was made, and
repeats the call. All instants are timezone-aware UTC.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from gazette.domain.model import RunKey

MessageT_contra = TypeVar("MessageT_contra", contravariant=True)


MESSAGES_A_CALL = 10
"""The largest number of messages in one SendMessageBatch."""


LONGEST_DELAY = timedelta(seconds=900)
"""The longest delay of a message that is sent to SQS."""


LONGEST_HIDING = timedelta(hours=12)
"""The longest visibility time-out of a message that was received from SQS."""


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run to send to a queue, with a `delay` of 0 to 900 s."""

    key: RunKey
    delay: timedelta


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard, in the slots from `since` to `until`, both included."""

    number: int
    since: datetime
    until: datetime
    ahead: bool = False
    """Query content sources for later slots instead of starting the due runs."""


class Queue(Protocol[MessageT_contra]):
    """A queue of messages. Each is delivered at least once, in any order."""

    def send(self, messages: Iterable[MessageT_contra]) -> None:
        """Queue the messages, ten per call. Raises Unavailable unless all are queued.

        After an error, some may be queued.
        """


RunQueue = Queue[QueuedRun]
"""A queue of runs to deliver: that of `generate` or of `resend`."""


FailedRuns = Queue[RunKey]
"""The dead-letter queue of failed runs. An operator may redrive them to the resend queue."""


ShardQueue = Queue[Shard]
"""The queue of shards for fan-out."""


SweepQueue = Queue[int]
"""The queue of partitions of open runs for the sweep."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A request to queue every follower of `side` with a user id after `after` for an activity.

    The activity is identified by the key of its entity and its id.
    """

    entity: str
    activity_id: str
    side: str
    after: str = ""


@dataclass(frozen=True, slots=True)
class FollowerPage:
    """The followers of `side` with user ids in (`after`, `through`], for an activity."""

    entity: str
    activity_id: str
    side: str
    after: str
    through: str


FollowersQueue = Queue[Walk | FollowerPage]
"""The queue of activities that are delivered to followers."""


class Quarantine(Protocol):
    """A queue of messages that do not match their schema, for operators."""

    def keep(self, body: str, reason: str) -> None:
        """Store the original `body` with the reason in plain words."""
