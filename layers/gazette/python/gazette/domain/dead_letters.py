"""The dead-letter queues of a stage, their messages, and the selection of messages to redrive."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime

from gazette.domain.errors import GazetteError
from gazette.domain.model import RunKey
from gazette.domain.scheduling.calendar import slot_of


class Interrupted(GazetteError):
    """An error that ends a redrive early. The error text gives the reason."""


@dataclass(frozen=True, slots=True)
class DeadQueue:
    """A dead-letter queue `gazette-<stage>-<name>`."""

    name: str

    # The queue to which a redrive moves the messages, or None if they cannot be redriven.
    source: str | None

    # The effect of a redrive on each message, or "" if it depends on the run.
    sentence: str = ""

    # True if the redrive policy of `source` moves messages to this queue. False if EventBridge or a
    # function sends them.
    is_policy: bool = True

    # True if a redrive prints a forecast for each message.
    has_forecast: bool = False

    # True if only some stages have the queue.
    is_optional: bool = False

    @property
    def names_runs(self) -> bool:
        """True if each message names a run."""
        return self.source in {"generate", "immediate", "resend"}


_STORED = "the event is stored like a new event; a duplicate changes nothing"
_NOTED = "the delivery event is recorded; a duplicate changes nothing"

KNOWN = (
    DeadQueue("ingest-dead", "ingest", _STORED),
    DeadQueue(
        "followers-dead",
        "followers",
        "the activity is routed to the followers again; a follower who already has the event "
        "does not get a duplicate",
    ),
    DeadQueue(
        "shard-dead",
        "shard",
        "the slots are fanned out again; no digest is started twice",
    ),
    DeadQueue(
        "content-dead",
        "content",
        "the content source is queried again if a digest is still waiting for items; items are "
        "not duplicated",
        is_optional=True,
    ),
    DeadQueue("generate-dead", "generate"),
    DeadQueue("immediate-dead", "immediate"),
    DeadQueue("resend-dead", "resend"),
    DeadQueue("failed", "resend", is_policy=False, has_forecast=True),
    DeadQueue("feedback-dead", "feedback", _NOTED),
    DeadQueue(
        "sweep-dead",
        "sweep",
        "the runs of the partition are swept again; a sweep also runs every five minutes",
    ),
    DeadQueue("undelivered", "ingest", _STORED, is_policy=False),
    DeadQueue("feedback-undelivered", "feedback", _NOTED, is_policy=False),
    DeadQueue(
        "ticks-undelivered",
        None,
        "a tick cannot be redriven; the next tick does the same work, so delete the message",
        is_policy=False,
    ),
)


QUARANTINE = "quarantine"
"""The queue of events that do not match the event contract. It is not a dead-letter queue."""

OPTIONAL = frozenset(dead.name for dead in KNOWN if dead.is_optional)
"""The queues that exist only in stages with a content source."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message in a dead-letter queue."""

    dead: DeadQueue

    # A short description, such as the id of the run. It may quote a message that Gazette did not
    # send, so it may contain control characters.
    about: str

    # The time at which the message arrived in its first queue, by the SQS clock.
    since: datetime

    # The number of receives so far.
    received: int

    # The key of the run that the message names, if any.
    key: RunKey | None = None

    # True if the run had failed. A redrive then starts the next run.
    given_up: bool = False

    # False if the function cannot decode the message.
    is_ours: bool = True

    # The id of the message in SQS.
    id: str = ""


DueAt = Callable[[RunKey], datetime | None]
"""A function that returns the due time of a run, or None if the run no longer exists."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions that select dead letters. Without conditions, all dead letters are selected."""

    run: RunKey | None

    # The slot of a digest. Immediate runs do not have a slot.
    batch: datetime | None

    # The date in UTC on which the run was due.
    on: date | None

    # The id of a single message.
    message: str = ""

    @property
    def is_everything(self) -> bool:
        """True if the selection has no conditions."""
        return self == Selection(None, None, None)

    def includes(self, letter: DeadLetter, due_at: DueAt) -> bool:
        """Return True if a dead letter meets all conditions. A dead letter without a run meets only
        the condition of a single message, which excludes other conditions.
        """
        if self.is_everything:
            return True
        if self.message:
            return letter.id == self.message
        if letter.key is None or (self.run and letter.key != self.run):
            return False
        if self.batch is None and self.on is None:
            return True
        due = due_at(letter.key)
        if due is None or (self.on and due.astimezone(UTC).date() != self.on):
            return False
        return self.batch is None or (not letter.key.is_immediate and slot_of(due) == self.batch)
