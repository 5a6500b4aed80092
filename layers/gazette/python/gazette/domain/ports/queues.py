"""The queues of messages.

Every port may raise `Unavailable`. The caller then cannot know whether a write succeeded, and
repeats the call. All instants are timezone-aware UTC.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from gazette.domain.model import RunKey

MessageT_contra = TypeVar("MessageT_contra", contravariant=True)


MESSAGES_A_CALL = 10
"""The maximum number of messages that one call to SQS sends, receives, deletes or hides.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html
"""


LONGEST_DELAY = timedelta(seconds=900)
"""The maximum delay of a message that is sent to SQS."""


LONGEST_HIDING = timedelta(hours=12)
"""The maximum visibility timeout of a message that was received from SQS."""


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run to send to a queue, with a `delay` of 0 to 900 seconds."""

    key: RunKey
    delay: timedelta


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard to process, for the slots from `since` through `until`."""

    number: int
    since: datetime
    until: datetime
    ahead: bool = False
    """True to query content sources for later slots instead of starting runs that are due."""


class Queue(Protocol[MessageT_contra]):
    """A queue of messages. Each message is delivered at least once, in any order."""

    def send(self, messages: Iterable[MessageT_contra]) -> None:
        """Queue the messages, with ten messages per call.

        Raises Unavailable unless all messages are queued. After an error, some may be queued.
        """


RunQueue = Queue[QueuedRun]
"""A queue of runs to deliver, for the `generate` or `resend` function."""


FailedRuns = Queue[RunKey]
"""The dead-letter queue of failed runs. An operator can redrive failed runs to the resend queue."""


ShardQueue = Queue[Shard]
"""The queue of shards that fan-out processes."""


SweepQueue = Queue[int]
"""The queue of partitions whose open runs the sweep checks."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A request to queue an activity for the followers of `side` whose user ids sort after `after`.

    The request identifies the activity by its id and the key of its entity.
    """

    entity: str
    activity_id: str
    side: str
    after: str = ""


@dataclass(frozen=True, slots=True)
class FollowerPage:
    """A page of followers of `side` who get an activity. Their user ids are in (`after`,
    `through`]."""

    entity: str
    activity_id: str
    side: str
    after: str
    through: str


FollowersQueue = Queue[Walk | FollowerPage]
"""The queue of activities to deliver to followers."""


class Quarantine(Protocol):
    """A queue of messages that do not match their schema, which operators inspect."""

    def keep(self, body: str, reason: str) -> None:
        """Store the original message `body` with a reason in plain words."""


class Intake(Protocol):
    """The queue of messages that services submit. Each message is delivered at least once."""

    def put(self, body: str) -> bool:
        """Queue a message. Return False if the queue rejected it.

        Raises Unavailable if it is unknown whether the message is queued.
        """
