"""What the search looks at: one schedule, its runs and events, and whoever works on them."""

from enum import StrEnum
from typing import NamedTuple, TypeVar

from gazette.domain.delivery.signals import Policy

from proofs.model.numbered import due

T = TypeVar("T")


class Rule(StrEnum):
    """A rule of docs/protocol.md that the model can do without, to show what it prevents."""

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
    """What somebody may stop, once."""

    NOTHING = "nothing"
    SUBSCRIBER = "subscriber"
    CHOICE = "choice"
    BATCH = "batch"
    EVENT = "event"


class Setup(NamedTuple):
    """What is searched, and how far.

    `deaths`: claimants that die after their claim, or outlive its deadline. `losses`: answers of
    the provider or of a claim that get lost. `refusals`: answers by which the provider refuses.
    `drops`: messages that end in a dead-letter queue. `without`: the rules that are taken out.
    """

    policy: Policy
    occurrences: int = 2
    events: int = 2
    workers: int = 2
    halt: Halt = Halt.NOTHING
    deaths: int = 1
    losses: int = 1
    refusals: int = 1
    drops: int = 1
    without: frozenset[Rule] = frozenset()

    def holds(self, rule: Rule) -> bool:
        """Whether the rule is followed."""
        return rule not in self.without

    @property
    def is_of_the_reader(self) -> bool:
        """Whether somebody stops the reader, or chooses for them: the last look sees it."""
        return self.halt in {Halt.SUBSCRIBER, Halt.CHOICE}


class At(StrEnum):
    """Which call a worker makes next."""

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
    """One invocation: what it does next, and what it has read.

    `chain`: its run and those before it, oldest first, as read and settled; after the claim its
    own run as claimed. `events`: bits, as read. `outcome`: what it will say of its run.
    `is_late`: the claim's deadline has passed. `unknown`: the emails, as bits, that this claim
    may repeat. `seen`: how much of a stop the reader's row showed. `is_spared`: a choice does not
    reach its events, because an attempt may have shown them. `is_after_stop`: its last chance to
    learn of a stop that forbids the email came after that was acknowledged.
    """

    at: At = At.IDLE
    run: int = -1
    chain: tuple[int, ...] = ()
    since: int = 0
    until: int = 0
    events: int = 0
    outcome: str = ""
    is_late: bool = False
    unknown: int = 0
    seen: int = 0
    is_spared: bool = False
    is_after_stop: bool = False


IDLE = Worker()


class Email(NamedTuple):
    """What the provider accepted. `events` are bits; `fault`: the promise that it broke.

    `is_unknown`: the policy spoke before any evidence came. `is_told`: evidence arrived.
    """

    run: int
    attempt: int
    events: int
    fault: str = ""
    is_unknown: bool = False
    is_told: bool = False


class State(NamedTuple):
    """All that is: `runs` by number, oldest first; `stored` events; `queued` runs as bits.

    `stop`: 0 none, 1 written, then one more for each run that knows it, or for the mark of a
    choice; ACKNOWLEDGED. `gone`: runs, as bits, whose claimant died, was late or got no answer.
    """

    runs: tuple[int, ...]
    stored: int
    queued: int
    workers: tuple[Worker, ...]
    emails: tuple[Email, ...]
    stop: int
    gone: int
    deaths: int
    losses: int
    refusals: int
    drops: int


ACKNOWLEDGED = 9
BATCH = 0
"""The run whose batch is cancelled."""

RETRACTED = 1
"""The event that is retracted, or whose category is muted, as bits."""

MARKED = 2
"""`stop` once a choice is not only written: what waited before it is marked to be routed again."""


def beginning(setup: Setup) -> State:
    """One event is stored, one run is due and queued."""
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
    """Workers have no names: two states that differ by their order alone are one."""
    workers = state.workers
    if len(workers) == 2 and workers[1] < workers[0]:
        return state._replace(workers=(workers[1], workers[0]))
    return state


def retracted(state: State, setup: Setup) -> int:
    """The events that a read no longer finds, as bits."""
    return RETRACTED if setup.halt is Halt.EVENT and state.stop else 0


def shown_of_stop(state: State, setup: Setup) -> int:
    """How much of a stop the reader's row shows: nothing, that it is written, or the mark too."""
    if not setup.is_of_the_reader:
        return 0
    return min(state.stop, MARKED if setup.halt is Halt.CHOICE else 1)


def replaced(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    """The values with another one at `index`."""
    return (*values[:index], value, *values[index + 1 :])
