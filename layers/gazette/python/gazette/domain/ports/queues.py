"""The queues and the bus.

Every port may raise `Unavailable`; the caller then cannot know whether a write was made, and
does the same again. All instants are timezone-aware UTC.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from gazette.domain.commands import ChangeFollow, ChoosePreferences, MarkActive
from gazette.domain.model import RunKey

MessageT_contra = TypeVar("MessageT_contra", contravariant=True)


MESSAGES_A_CALL = 10
"""What SQS takes in one SendMessageBatch."""


Said = ChoosePreferences | ChangeFollow | MarkActive
"""What Gazette itself puts on the bus: what readers say on its pages, and signs of life."""


LONGEST_DELAY = timedelta(seconds=900)
"""For which SQS hides a message that is sent."""


LONGEST_HIDING = timedelta(hours=12)
"""For which SQS hides a message that was received."""


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run to put on a queue, hidden for `delay` (0 to 900 s)."""

    key: RunKey
    delay: timedelta


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard's share of the slots from `since` to `until`, both of them with it."""

    number: int
    since: datetime
    until: datetime


class Queue(Protocol[MessageT_contra]):
    """A queue of messages to work off. Each is delivered at least once, in any order."""

    def send(self, messages: Iterable[MessageT_contra]) -> None:
        """Queue them, ten a call. Raises Unavailable unless all of them are queued.

        After an error, some may be queued.
        """


RunQueue = Queue[QueuedRun]
"""A queue of runs to deliver: generate's, or resend's."""


FailedRuns = Queue[RunKey]
"""Where runs that failed wait for a person. One that is brought back to resend changes nothing."""


ShardQueue = Queue[Shard]
"""The queue of shards to fan out."""


SweepQueue = Queue[int]
"""The queue of the partitions of open runs to sweep."""


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


class Bus(Protocol):
    """The bus that services put events on."""

    def put(self, said: Sequence[Said]) -> bool:
        """Put what is said of a reader on it; False where none of it was taken.

        Raises Unavailable where some of it was not, or where that cannot be told.
        """


class Quarantine(Protocol):
    """Where messages that do not fit the contract wait for a person."""

    def keep(self, body: str, reason: str) -> None:
        """Keep the original `body` together with the reason in plain words."""
