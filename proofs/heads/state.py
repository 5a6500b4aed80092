"""The runs of one thread, its events, and the active workers."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from typing import NamedTuple

from gazette.domain.delivery.run import BEGINNING, Head, Run, Status
from gazette.domain.delivery.signals import Policy
from gazette.domain.model import RunKey, Window
from gazette.domain.scheduling.chain import back_to_end, head_for
from gazette.domain.scheduling.kinds import immediate_schedule

from proofs.breadth_first import Label

NAME = immediate_schedule("post#post1")
HOUR, DAY = 3600, 25 * 3600
_BASE = datetime(2026, 1, 1, tzinfo=UTC)


class Rule(Enum):
    """A condition that the model can omit, to show the fault that it prevents."""

    FINAL = auto()
    CREATED = auto()
    UNCERTAIN = auto()
    REFUSED = auto()
    BEHIND_GIVES_WAY = auto()
    SENT_UNTIL = auto()


class Setup(NamedTuple):
    """The bounds of a search."""

    events: int = 2
    repeats: int = 0
    refusals: int = 0
    unknowns: int = 0
    lies: int = 0
    """The number of attempts that are rejected although they were accepted."""

    strays: int = 0
    hours: int = 1
    days: int = 0
    policy: Policy = Policy.CARRY_OVER
    without: frozenset[Rule] = frozenset()

    def holds(self, rule: Rule) -> bool:
        """Return True if the rule is not omitted."""
        return rule not in self.without


class Worker(NamedTuple):
    """A creator with the run that it stores next, or a deliverer with the data it has read."""

    event: int = -1
    run: Run | None = None
    carried: tuple[tuple[Run, Run], ...] = ()
    window: Window | None = None
    shown: frozenset[int] = frozenset()
    is_sending: bool = False


class Mail(NamedTuple):
    """An accepted attempt, with its events and its time."""

    sequence: int
    attempt: int
    shown: frozenset[int]
    at: int
    is_lie: bool


class State(NamedTuple):
    """The whole state of the search."""

    now: int
    stamps: tuple[int, ...]
    messages: frozenset[int]
    """The events whose message waits."""

    runs: tuple[Run, ...]
    workers: tuple[Worker, ...]
    mails: tuple[Mail, ...]
    left: Setup
    fault: str = ""


Step = tuple[Label, State]


def beginning(setup: Setup) -> State:
    """Return the first state, before any step."""
    return State(1, (), frozenset(), (), (), (), setup)


def canonical(state: State) -> State:
    """Return the state with sorted workers, so that their order does not matter."""
    return state._replace(workers=tuple(sorted(state.workers, key=repr)))


def instant(second: int) -> datetime:
    """Return the instant of a second of the model."""
    return _BASE + timedelta(seconds=second)


def key_of(sequence: int) -> RunKey:
    """Return the key of the run with this sequence."""
    return RunKey("ann", NAME, sequence)


class Rows:
    """The part of the port `Runs` that reading a chain needs."""

    def __init__(self, state: State) -> None:
        self._runs = state.runs

    def chain(self, key: RunKey, *, holding: datetime | None = None) -> list[Run]:
        """Return the runs newest first, back to the last sent one or to a head."""
        older = [run for run in self._runs if run.key.sequence <= key.sequence]
        return back_to_end(reversed(older), of=key, holding=holding)

    def get(self, key: RunKey) -> Run | None:
        """Return the run with that key."""
        return next((run for run in self._runs if run.key == key), None)


def with_run(state: State, run: Run) -> State:
    """Return the state with the new state of this run."""
    others = [each for each in state.runs if each.key != run.key]
    return state._replace(runs=tuple(sorted([*others, run], key=lambda each: each.key.sequence)))


def without(state: State, worker: Worker) -> State:
    """Return the state without one of the workers."""
    workers = list(state.workers)
    workers.remove(worker)
    return state._replace(workers=tuple(workers))


def created(sequence: int, state: State, chain: list[Run], setup: Setup) -> Run:
    """Return a run that collects until now, with the head that its creator stores."""
    now = instant(state.now)
    return Run(
        key=key_of(sequence),
        due_at=now,
        check_at=now,
        created_at=now,
        head=_head(chain, now, setup),
    )


def _head(chain: list[Run], now: datetime, setup: Setup) -> Head | None:
    head = head_for([_as_if(run, setup) for run in chain], now, page=1)
    if head and not setup.holds(Rule.SENT_UNTIL):
        return replace(head, sent_until=BEGINNING)
    return head


def _as_if(run: Run, setup: Setup) -> Run:
    """Return the run changed so that an omitted rule accepts it."""
    if not setup.holds(Rule.FINAL) and not run.status.is_final:
        run = replace(run, status=Status.SKIPPED, attempt=0, uncertain=frozenset())
    if not setup.holds(Rule.CREATED):
        run = replace(run, created_at=BEGINNING)
    if not setup.holds(Rule.UNCERTAIN):
        run = replace(run, uncertain=frozenset())
    if not setup.holds(Rule.REFUSED) and run.attempt:
        run = replace(run, claimed_at=BEGINNING)
    return run
