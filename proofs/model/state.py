"""The state of the search: one schedule, its runs and events, and the workers."""

from enum import StrEnum
from typing import NamedTuple, TypeVar

from gazette.domain.delivery.signals import Policy

from proofs.model.numbered import due

T = TypeVar("T")


class Rule(StrEnum):
    """A rule of docs/protocol.md that the model can omit, to show the fault that it prevents."""

    SUPERSEDE = "supersede"
    WAIT_FOR_PREDECESSOR = "wait_for_predecessor"
    ONE_TRANSACTION = "one_transaction"
    CARRIED_IS_CHECKED = "carried_is_checked"
    SINCE_AT_EACH_ATTEMPT = "since_at_each_attempt"
    EVIDENCE_MOVES_ANY_STATUS = "evidence_moves_any_status"
    RESEND_ONCE = "resend_once"
    POLICY_SPEAKS = "policy_speaks"
    OPEN_INDEX_HOLDS_PENDING = "open_index_holds_pending"
    NONCE = "nonce"
    NONCE_ALONE = "nonce_alone"
    OVERDUE_ATTEMPT = "overdue_attempt"
    UNTIL_BEFORE_READ = "until_before_read"
    SETTLE_LAG = "settle_lag"
    DEADLINE_BEFORE_CALL = "deadline_before_call"
    STOP_RAISES_EPOCH = "stop_raises_epoch"
    LAST_LOOK = "last_look"
    ROUTED_AGAIN = "routed_again"
    CLAIM_CONDITION = "claim_condition"
    WINDOW_FROM_SENT_RUNS = "window_from_sent_runs"
    TWO_UNKNOWN = "two_unknown"


class Halt(StrEnum):
    """The subject of the one stop in a search."""

    NOTHING = "nothing"
    SUBSCRIBER = "subscriber"
    CHOICE = "choice"
    BATCH = "batch"
    EVENT = "event"


class Setup(NamedTuple):
    """The bounds of a search."""

    policy: Policy
    occurrences: int = 2
    events: int = 2
    workers: int = 2
    halt: Halt = Halt.NOTHING
    deaths: int = 1
    """The number of claimants that die after their claim or outlive its deadline."""

    losses: int = 1
    """The number of lost answers, to claims or from the provider."""

    refusals: int = 1
    """The number of rejections by the provider."""

    drops: int = 1
    """The number of messages that become dead letters."""

    without: frozenset[Rule] = frozenset()
    """The omitted rules."""

    def holds(self, rule: Rule) -> bool:
        """Return True if the rule is followed."""
        return rule not in self.without

    @property
    def is_of_the_reader(self) -> bool:
        """Return True if the stop is a reader's stop or choice, which the last look sees."""
        return self.halt in {Halt.SUBSCRIBER, Halt.CHOICE}


class At(StrEnum):
    """The next call of a worker."""

    IDLE = "idle"
    SETTLE = "settle"
    READ = "read"
    STOPS = "stops"
    END = "end"
    CLOSE = "close"
    CLAIM = "claim"
    RECLAIM = "reclaim"
    LOOK = "look"
    CALL = "call"
    COMMIT = "commit"


BEFORE_CLAIM = frozenset({At.SETTLE, At.READ, At.STOPS, At.END, At.CLOSE, At.CLAIM})
CLAIMED = frozenset({At.RECLAIM, At.LOOK, At.CALL, At.COMMIT})


class Worker(NamedTuple):
    """One invocation, with its next call and the data it has read."""

    at: At = At.IDLE
    run: int = -1
    chain: tuple[int, ...] = ()
    """Its run and the earlier ones, oldest first, as read and settled. After the claim, only its
    own run.
    """

    since: int = 0
    until: int = 0
    events: int = 0
    """The events read, as bits."""

    outcome: str = ""
    """The outcome that it will commit for its run."""

    is_late: bool = False
    """True if the claim's deadline has passed."""

    unknown: int = 0
    """The emails, as bits, that this claim may repeat."""

    seen: int = 0
    """The part of a stop that the reader's row showed."""

    is_spared: bool = False
    """True if a choice does not affect its events, because an attempt may have shown them."""

    is_after_stop: bool = False
    """True if its last chance to see a stop came after the stop was acknowledged."""


IDLE = Worker()


class Email(NamedTuple):
    """An email that the provider accepted."""

    run: int
    attempt: int
    events: int
    """The events, as bits."""

    fault: str = ""
    """The promise that the email broke."""

    is_unknown: bool = False
    """True if the policy decided before any evidence arrived."""

    is_told: bool = False
    """True if evidence arrived."""


class State(NamedTuple):
    """The whole state of the search."""

    runs: tuple[int, ...]
    """The runs by number, oldest first."""

    stored: int
    """The number of stored events."""

    queued: int
    """The runs with a message, as bits."""

    workers: tuple[Worker, ...]
    emails: tuple[Email, ...]
    stop: int
    """0 for none, 1 once written, one more for each run that knows it or for a choice's mark, then
    ACKNOWLEDGED.
    """

    gone: int
    """The runs, as bits, whose claimant died, was late or got no answer."""

    deaths: int
    losses: int
    refusals: int
    drops: int


ACKNOWLEDGED = 9
BATCH = 0
"""The run whose batch is cancelled."""

RETRACTED = 1
"""The event that is retracted or muted, as bits."""

MARKED = 2
"""The value of `stop` once the events that wait before a choice are marked for routing."""


def beginning(setup: Setup) -> State:
    """Return the first state: one event is stored, and one run is due and queued."""
    return State(
        runs=(due(0),),
        stored=1,
        queued=1,
        workers=(IDLE,) * setup.workers,
        emails=(),
        stop=0,
        gone=0,
        deaths=setup.deaths,
        losses=setup.losses,
        refusals=setup.refusals,
        drops=setup.drops,
    )


def canonical(state: State) -> State:
    """Return the state with sorted workers, so that states differing only in
    their order are equal.
    """
    workers = state.workers
    if len(workers) == 2 and workers[1] < workers[0]:
        return state._replace(workers=(workers[1], workers[0]))
    return state


def retracted(state: State, setup: Setup) -> int:
    """Return the events that a read no longer returns, as bits."""
    return RETRACTED if setup.halt is Halt.EVENT and state.stop else 0


def shown_of_stop(state: State, setup: Setup) -> int:
    """Return the visible part of a stop in the reader's row: none, the write, or also the mark."""
    if not setup.is_of_the_reader:
        return 0
    return min(state.stop, MARKED if setup.halt is Halt.CHOICE else 1)


def replaced(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    """Return the values with one replaced."""
    return (*values[:index], value, *values[index + 1 :])
