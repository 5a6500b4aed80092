"""The state of the search: one row with its pointer, schedule, runs, choices and workers."""

from enum import StrEnum
from typing import NamedTuple

from gazette.domain.model import ScheduleState


class Rule(StrEnum):
    """A condition that the model can omit, to show which fault it prevents.

    The numbers are those of the traces in the design.
    """

    ARM_AFTER_STOP = "(i) a stop that brings the row back to a digest arms its schedule"
    BODIES_CHECKED = "(ii) a write checks the bodies of the row, and not only its place"
    EVERY_BODY_KEPT = "(iii) the row keeps every wanted body"
    SENT_STAYS = "(iv) a row that was or may have been sent does not move"
    ONLY_ITS_BODY = "(v) the retraction of the activity removes only its body"
    CRITICAL_ALONE = "(vi) a critical body with part_of has a row of its own"
    WITH_POINTER = "a body and its pointer are written in one transaction"
    REMOVED_AGAIN = "a repeated retraction removes the body, although its trace is stored"
    MARK_GUARDED = "a body that replaces a mark of a retraction reads the runs of the former place"
    EPOCHS_RAISED = "a change in place raises the epochs of the runs"
    READ_AGAIN = "choices, and the follows of its own body, are read again after the write"
    ARM_AGAIN = "a repeated message arms as well"
    FOLLOWS_AT_DELIVERY = "a run routes its row again after a change of choices"


class Message(StrEnum):
    """A message about the happening."""

    COMMENT = "comment"
    MENTION = "mention"
    RETRACT_COMMENT = "retraction of the comment"
    RETRACT_MENTION = "retraction of the mention"
    MUTE = "mute of mentions"
    UNFOLLOW = "end of the follow"


class At(StrEnum):
    """The next call of a worker."""

    WRITE_CHOICE = "write choice"
    MARK = "mark"
    INPUTS = "inputs"
    READ = "read"
    POINTER = "pointer"
    TRACE = "trace"
    GUARD = "guard"
    WRITE = "write"
    EPOCHS = "epochs"
    SETTLE = "settle"
    AGAIN = "again"
    LOOK = "look"
    IDLE = "idle"
    ROUTE = "route"
    CLAIM = "claim"
    CALL = "call"


class Row(NamedTuple):
    """The row of the happening. A row without bodies marks the retraction of its last body."""

    place: str = ""
    """The place under which the row waits or, for a mark, under which its last body waited."""

    shown: str = ""
    others: tuple[str, ...] = ()
    stamp: int = 0
    """The number of times that the row got a place, for its storage time."""

    retracted: str = ""
    """The last body of a mark."""

    @property
    def bodies(self) -> frozenset[str]:
        """The bodies that the row stores."""
        return frozenset((self.shown, *self.others)) if self.shown else frozenset()


class Choices(NamedTuple):
    """The reader's choice and follow."""

    is_muted: bool = False
    is_unfollowed: bool = False


class Setup(NamedTuple):
    """The bounds of a search."""

    messages: tuple[Message, ...]
    mention: str = "now"
    """The place of a mention that is alone: `now` or `daily`."""

    comment: str = "daily"
    """The place of a comment that is alone."""

    critical: bool = False
    """True if the category of the mention is critical."""

    schedule: ScheduleState = ScheduleState.IDLE
    workers: int = 2
    deaths: int = 0
    repeats: int = 0
    ticks: int = 0
    """The number of occurrences of the daily digest."""

    refusals: int = 0
    """The number of emails that the provider rejects for now."""

    without: frozenset[Rule] = frozenset()

    def holds(self, rule: Rule) -> bool:
        """Return True if the condition is followed."""
        return rule not in self.without


class Worker(NamedTuple):
    """One invocation, with its next call and the data it has read."""

    task: str
    """Its message, or `delivery` or `fan-out`."""

    at: At
    seen: Choices = Choices()
    row: Row | None = None
    """The row as read."""

    pointer: str = ""
    """The pointer as read."""

    after: Row | None = None
    """The row that it would write."""

    removes: bool = False
    """True if the worker of the comment has read that the activity was retracted."""

    wrote: bool = False
    """True if this invocation has written the row."""

    is_guarded: bool = False
    """True while no run and no schedule has changed since its guard was read."""

    is_fresh: bool = True
    """False once the epoch of the run that a worker delivers was raised."""

    is_reader_fresh: bool = True
    """False once the reader has changed since a worker prepared its run."""

    place: str = ""
    """The place of the run that a worker delivers."""


class State(NamedTuple):
    """The whole state of the search."""

    row: Row | None
    pointer: str
    """Empty, `body`, or `trace`."""

    critical_row: str
    """The row of a critical mention: empty, `now`, `sent` or `trace`."""

    attempt: int
    """0 if no email with the row was claimed, 1 if one was claimed, 2 if one was sent."""

    is_retracted: bool
    """True if the activity was retracted."""

    choices: Choices
    is_marked: bool
    """True if `routes_since` was stored."""

    schedule: ScheduleState
    runs: tuple[str, ...]
    """The places with an open run that no worker has read."""

    messages: tuple[int, ...]
    """The state of each message: 0 if it waits, 1 if it was acknowledged."""

    workers: tuple[Worker, ...]
    emails: int
    deaths: int
    repeats: int
    ticks: int
    refusals: int
    fault: str
    """The promise that a step broke."""


Step = tuple[tuple[object, ...], State]
"""A label template with its values, and the state after the step."""


def beginning(setup: Setup) -> State:
    """Return the first state: no row, no workers, and all messages waiting."""
    return State(
        row=None,
        pointer="",
        critical_row="",
        attempt=0,
        is_retracted=False,
        choices=Choices(),
        is_marked=False,
        schedule=setup.schedule,
        runs=(),
        messages=(0,) * len(setup.messages),
        workers=(),
        emails=0,
        deaths=setup.deaths,
        repeats=setup.repeats,
        ticks=setup.ticks,
        refusals=setup.refusals,
        fault="",
    )


def canonical(state: State) -> State:
    """Return the state with its workers in order, because they have no names."""
    if len(state.workers) < 2:
        return state
    return state._replace(workers=tuple(sorted(state.workers, key=repr)))


def with_worker(state: State, w: int, worker: Worker) -> State:
    """Return the state with the new state of worker `w`."""
    return state._replace(workers=(*state.workers[:w], worker, *state.workers[w + 1 :]))


def begun(state: State, worker: Worker) -> State:
    """Add a worker to the state."""
    return state._replace(workers=(*state.workers, worker))


def gone(state: State, w: int) -> State:
    """Remove a worker from the state."""
    return state._replace(workers=(*state.workers[:w], *state.workers[w + 1 :]))


def is_done(state: State, setup: Setup, message: Message) -> bool:
    """Return True if the message was acknowledged."""
    return message in setup.messages and state.messages[setup.messages.index(message)] == 1
