"""What the steps need from the outside, in the domain's words.

Every port may raise `Unavailable`; the caller then cannot know whether a write was made, and
does the same again. All instants are timezone-aware UTC.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from gazette.domain.compose import Digest
from gazette.domain.model import (
    Edition,
    Event,
    Mail,
    RunKey,
    Schedule,
    Subscriber,
    SubscriberStatus,
    Window,
)
from gazette.domain.run import Run
from gazette.domain.signals import SendOutcome

MESSAGES_A_CALL = 10
"""What SQS takes in one SendMessageBatch."""

Clock = Callable[[], datetime]
"""Returns the instant now, timezone-aware."""


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run to put on the generate queue, hidden for `delay` (0 to 900 s)."""

    key: RunKey
    delay: timedelta


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard's share of the slots that a tick covers, oldest slot first."""

    slots: tuple[datetime, ...]
    number: int


class Subscribers(Protocol):
    """Profiles by user id."""

    def get(self, user_id: str) -> Subscriber | None:
        """The profile, read strongly consistent, or None."""

    def save(self, subscriber: Subscriber) -> Subscriber:
        """Store the profile unless a newer one is there; returns the one that is stored now.

        Saving the same profile again succeeds. The stored status is kept: it is the reader's.
        """

    def set_status(self, user_id: str, status: SubscriberStatus) -> bool:
        """Change the status alone. False where there is no such subscriber."""


class Schedules(Protocol):
    """Schedules by (user id, name), and those that are due by (slot, shard)."""

    def get(self, user_id: str, name: str) -> Schedule | None:
        """The schedule, read strongly consistent, or None."""

    def put(self, schedule: Schedule, *, replacing: Schedule | None) -> bool:
        """Store it if what is there is still `replacing` (None: nothing); False where not."""

    def due(self, slot: datetime, shard: int) -> Iterator[Sequence[Schedule]]:
        """The schedules due in a slot and shard, page by page.

        Eventually consistent: one written in the last seconds may be missing, one that has
        been advanced may still be there. Read the slot again on a later tick.
        """

    def advance(self, schedule: Schedule, next_due_at: datetime) -> bool:
        """Move to the next occurrence and the next sequence number.

        Only if `next_due_at`, sequence and revision are still those of `schedule`; else False.
        """

    def withdraw(self, user_id: str, name: str) -> None:
        """Take the schedule out of the due index; it is kept, and fan-out no longer sees it."""


class EventWriter(Protocol):
    """Keeps events."""

    def store(self, event: Event, schedule: str) -> bool:
        """Store unless the id is there already (then False, and nothing changes).

        The storage time is taken anew for each attempt to write. When this returns, every
        later read of a window that contains the storage time sees the event.
        """


class EventReader(Protocol):
    """A reader's events, by the window in which they were stored."""

    def read(self, user_id: str, schedule: str, window: Window) -> Iterator[Event]:
        """The events stored in `(since, until]`, oldest first, strongly consistent."""


class Runs(Protocol):
    """Runs by key. No method ever removes one."""

    def create(self, run: Run) -> Run:
        """Store the run unless its key exists; returns the run that is stored now."""

    def chain(self, key: RunKey) -> Sequence[Run]:
        """The run of `key` and those before it, newest first, strongly consistent.

        Reaches back to the last sent one before it, or to the first run of the schedule. Empty
        where nothing with that key or an earlier one exists.
        """

    def swap(self, before: Run, after: Run) -> Run:
        """Store `after` if status, reason, attempt and epoch are still those of `before`.

        Returns the run that is stored now: `after` where the write won, also where its answer
        was lost and the nonce shows that it was ours; else what somebody else stored. Never
        creates a run: raises LookupError where there is none.
        """


class GenerateQueue(Protocol):
    """The queue of runs to generate."""

    def send(self, runs: Sequence[QueuedRun]) -> None:
        """Queue up to ten runs in one call. Raises Unavailable unless all of them are queued.

        Delivered at least once, in any order; also after an error some may be queued.
        """


class ShardQueue(Protocol):
    """The queue of shards to fan out."""

    def send(self, shards: Iterable[Shard]) -> None:
        """Queue the shards, ten a call. Raises Unavailable unless all of them are queued."""


class Quarantine(Protocol):
    """Where messages that do not fit the contract wait for a person."""

    def keep(self, body: str, reason: str) -> None:
        """Keep the original `body` together with the reason in plain words."""


class Renderer(Protocol):
    """Turns a digest into an email."""

    def render(self, digest: Digest, subscriber: Subscriber, links: "Links") -> Edition:
        """The edition for this reader. Deterministic: the same input makes the same bytes."""


@dataclass(frozen=True, slots=True)
class Links:
    """The reader's own links, signed, https."""

    unsubscribe: str


class LinkMaker(Protocol):
    """Makes the signed links of a reader."""

    def links(self, user_id: str) -> Links:
        """The links for this reader."""


class Mailer(Protocol):
    """The provider that delivers email."""

    def send(self, mail: Mail, attempt: int) -> SendOutcome:
        """Hand over one message in exactly one request, never repeated, and say what came of it.

        Returns within the send time-out. Does not raise for anything that the provider or the
        network does: `Uncertain` is the answer for whatever cannot be told.
        """


class Pages(Protocol):
    """The web pages that a reader sees. Each returns a whole HTML document."""

    def confirm_unsubscribe(self) -> str:
        """Asks before anything happens; its button repeats the request as a POST."""

    def unsubscribed(self) -> str:
        """Says that it is done."""

    def invalid_link(self, explanation: str) -> str:
        """Says why a link does not work and what to do."""
