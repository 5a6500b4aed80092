"""The content of the support page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gazette.adapters.aws.dead_letters.quarantine import Quarantined
from gazette.domain.dead_letters import DeadLetter, DeadQueue, Interrupted


@dataclass(frozen=True, slots=True)
class Assessed:
    """A dead letter with the effect of a redrive."""

    letter: DeadLetter

    # The state of the run, or what happened to a message without a run.
    state: str

    # The query of CloudWatch Logs Insights that finds the error, or "" if there is no log.
    query: str

    # The effect in one word, such as `sends`, and in a sentence.
    effect: str
    why: str


@dataclass(frozen=True, slots=True)
class QueueState:
    """A queue that must be empty. `waiting` is None if the queue cannot be read."""

    dead: DeadQueue
    waiting: int | None
    letters: Sequence[Assessed] = ()

    # The log group of the function, or "" if there is none.
    log: str = ""


@dataclass(frozen=True, slots=True)
class QuarantineState:
    """The quarantine. `waiting` is None if the queue cannot be read."""

    waiting: int | None
    events: Sequence[Quarantined] = ()


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of all queues that must be empty, read at the same time."""

    stage: str
    at: datetime
    queues: Sequence[QueueState]
    quarantine: QuarantineState


@dataclass(frozen=True, slots=True)
class Section:
    """A table of an answer. `nothing` is the text if there are no rows."""

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    nothing: str = ""


@dataclass(frozen=True, slots=True)
class PlannedQueue:
    """A queue of an order, with the number of selected messages among those that were read."""

    name: str
    waiting: int
    looked_at: int
    selected: int

    # The number of selected messages by the effect of their redrive.
    effects: Mapping[str, int]

    # The number of unread messages, which the order may select.
    unread: int = 0

    # The selected messages.
    letters: Sequence[Assessed] = ()


@dataclass(frozen=True, slots=True)
class MovedQueue:
    """The outcome of a redrive of one queue."""

    name: str
    moved: int

    # The number of messages that remain, including messages that were not selected.
    remaining: int
    came_back: int = 0

    # The number of remaining messages that the queue reported, but did not give.
    unseen: int = 0


@dataclass(frozen=True, slots=True)
class Moved:
    """The outcome of an order."""

    queues: Sequence[MovedQueue]

    # False if the time ended before all messages were checked.
    is_complete: bool

    # The name of the queue at which an error ended the redrive; empty if there was no error.
    failed_at: str = ""

    # The error, for the log. The page does not show it.
    problem: Interrupted | None = None

    @property
    def moved(self) -> int:
        """The number of moved messages."""
        return sum(each.moved for each in self.queues)

    @property
    def remaining(self) -> int:
        """The number of messages that remain in the queues of the order."""
        return sum(each.remaining for each in self.queues)
