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
"""The most messages of one SendMessageBatch."""


LONGEST_DELAY = timedelta(seconds=900)
"""The longest delay of a message that is sent to SQS."""


LONGEST_HIDING = timedelta(hours=12)
"""The longest visibility time-out of a message that was received from SQS."""


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run to put on a queue, with a `delay` of 0 to 900 s."""

    key: RunKey
    delay: timedelta


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard, in the slots from `since` to `until`, both included.

    `ahead`: not what is due in them, but which content sources are to be asked in them for later.
    """

    number: int
    since: datetime
    until: datetime
    ahead: bool = False


class Queue(Protocol[MessageT_contra]):
    """A queue of messages. Each is delivered at least once, in any order."""

    def send(self, messages: Iterable[MessageT_contra]) -> None:
        """Queue the messages, ten a call. Raises Unavailable unless all are queued.

        After an error, some may be queued.
        """


RunQueue = Queue[QueuedRun]
"""A queue of runs to deliver: that of `generate` or of `resend`."""


FailedRuns = Queue[RunKey]
"""Where failed runs wait for a person, who may redrive them to the resend queue."""


ShardQueue = Queue[Shard]
"""The queue of shards for fan-out."""


SweepQueue = Queue[int]
"""The queue of partitions of open runs for the sweep."""


@dataclass(frozen=True, slots=True)
class Walk:
    """Queue every follower of `side` with a user id after `after` for an activity.

    The activity is named by the key of its entity and its id.
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
"""The queue of activities on their way to followers."""


class Quarantine(Protocol):
    """Where messages that do not match their schema wait for a person."""

    def keep(self, body: str, reason: str) -> None:
        """Store the original `body` with the reason in plain words."""
