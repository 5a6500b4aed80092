"""The runs of one thread, its events, and who is at work on them."""

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
    """What may be left out, to see what it is worth."""

    FINAL = auto()
    CREATED = auto()
    UNCERTAIN = auto()
    REFUSED = auto()
    BEHIND_GIVES_WAY = auto()
    SENT_UNTIL = auto()


class Setup(NamedTuple):
    """The bounds. `lies`: attempts that are refused although they were accepted."""

    events: int = 2
    repeats: int = 0
    refusals: int = 0
    unknowns: int = 0
    lies: int = 0
    strays: int = 0
    hours: int = 1
    days: int = 0
    policy: Policy = Policy.CARRY_OVER
    without: frozenset[Rule] = frozenset()

    def holds(self, rule: Rule) -> bool:
        """Whether it is not left out."""
        return rule not in self.without


class Worker(NamedTuple):
    """A creator with the run that it stores next; or a deliverer with what it has read."""

    event: int = -1
    run: Run | None = None
    carried: tuple[tuple[Run, Run], ...] = ()
    window: Window | None = None
    shown: frozenset[int] = frozenset()
    is_sending: bool = False


class Mail(NamedTuple):
    """An accepted attempt: which events it shows, and when."""

    sequence: int
    attempt: int
    shown: frozenset[int]
    at: int
    is_lie: bool


class State(NamedTuple):
    """Everything at one moment. `messages`: the events whose message is to be worked off."""

    now: int
    stamps: tuple[int, ...]
    messages: frozenset[int]
    runs: tuple[Run, ...]
    workers: tuple[Worker, ...]
    mails: tuple[Mail, ...]
    left: Setup
    fault: str = ""


Step = tuple[Label, State]


def beginning(setup: Setup) -> State:
    """Nothing has happened yet."""
    return State(1, (), frozenset(), (), (), (), setup)


def canonical(state: State) -> State:
    """The same whatever the order of the workers."""
    return state._replace(workers=tuple(sorted(state.workers, key=repr)))


def instant(second: int) -> datetime:
    """The instant of a second of the model."""
    return _BASE + timedelta(seconds=second)


def key_of(sequence: int) -> RunKey:
    """The run with this sequence."""
    return RunKey("ann", NAME, sequence)


class Rows:
    """As much of the port `Runs` as reading a chain needs."""

    def __init__(self, state: State) -> None:
        self._runs = state.runs

    def chain(self, key: RunKey, *, holding: datetime | None = None) -> list[Run]:
        """Newest first, back to the last one sent or to a head."""
        older = [run for run in self._runs if run.key.sequence <= key.sequence]
        return back_to_end(reversed(older), of=key, holding=holding)

    def get(self, key: RunKey) -> Run | None:
        """The run with that key."""
        return next((run for run in self._runs if run.key == key), None)


def with_run(state: State, run: Run) -> State:
    """The state with this run as it is now."""
    others = [each for each in state.runs if each.key != run.key]
    return state._replace(runs=tuple(sorted([*others, run], key=lambda each: each.key.sequence)))


def without(state: State, worker: Worker) -> State:
    """The state without one of the workers."""
    workers = list(state.workers)
    workers.remove(worker)
    return state._replace(workers=tuple(workers))


def created(sequence: int, state: State, chain: list[Run], setup: Setup) -> Run:
    """A run that collects until now, with the head that its creator stores."""
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
    """The run as it would have to be for a rule that is left out to hold."""
    if not setup.holds(Rule.FINAL) and not run.status.is_final:
        run = replace(run, status=Status.SKIPPED, attempt=0, uncertain=frozenset())
    if not setup.holds(Rule.CREATED):
        run = replace(run, created_at=BEGINNING)
    if not setup.holds(Rule.UNCERTAIN):
        run = replace(run, uncertain=frozenset())
    if not setup.holds(Rule.REFUSED) and run.attempt:
        run = replace(run, claimed_at=BEGINNING)
    return run
