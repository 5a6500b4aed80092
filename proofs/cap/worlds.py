"""One world: workers whose calls interleave in a given order, on the real steps and the fakes."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.scheduling.kinds import ScheduleKind, is_critical, kind_of

from proofs.state.batons import Order, Worker
from tests.world import Around, World

POINTS = frozenset(
    {"events.get", "events.store", "events.write", "events.move", "events.cap", "runs.chain"}
    | {"immediate_usage.get", "immediate_usage.put", "runs.create", "runs.swap", "mailer.send"}
    | {"schedules.put", "generate_queue.send", "deferred_events.exclude"}
)
"""The calls before which another worker can continue. All other calls read rows that no worker of
these worlds writes, or that a later call of the list checks."""

Act = Callable[[World], object]


@dataclass(frozen=True)
class Setup:
    """The beginning of some worlds, and what their workers do."""

    make: Callable[[], World]
    acts: tuple[Act, ...]
    events: tuple[str, ...]
    """The entities of the events, one for each event that must be in exactly one email."""

    most: int
    """The maximum number of immediate emails."""

    switches: int = 3
    """The maximum number of times that a worker waits for another one before it ends."""

    deaths: int = 0


class Move(NamedTuple):
    """A decision: this worker makes its next call, or dies before it."""

    worker: int
    dies: bool = False


@dataclass
class Outcome:
    """The result of one world."""

    moves: list[Move] = field(default_factory=list)
    others: list[list[Move]] = field(default_factory=list)
    """The other decisions that were possible, for each move."""

    story: list[str] = field(default_factory=list)
    immediate: int = 0
    violation: str | None = None


def play(setup: Setup, first: Sequence[Move]) -> Outcome:
    """Play a world that begins with these moves. Afterwards, each worker continues to its end.

    No worker dies right before or after it calls the provider. The policy for unknown outcomes
    would then decide whether the email is sent again, which is the subject of `proofs.prove`.
    """
    world = setup.make()
    workers = [_worker(world, number, act) for number, act in enumerate(setup.acts)]
    outcome, current = Outcome(), 0
    switches, deaths, dead = setup.switches, setup.deaths, list[int]()
    sending: int | None = None
    while alive := [each for each, worker in enumerate(workers) if not worker.is_over]:
        possible = [
            each
            for each in _possible(alive, current, switches, deaths)
            if not (each.dies and each.worker in {sending, *_at_provider(workers)})
        ]
        number = len(outcome.moves)
        move = first[number] if number < len(first) else possible[0]
        outcome.moves.append(move)
        outcome.others.append([each for each in possible if each != move])
        worker = workers[move.worker]
        outcome.story.append(f"{worker.name} {'dies before' if move.dies else 'calls'} {worker.at}")
        if move.worker != current and current in alive:
            switches -= 1
        current = move.worker
        if move.dies:
            deaths -= 1
            dead.append(move.worker)
        sending = move.worker if worker.at == "mailer.send" else None
        worker.step(Order.DIE if move.dies else Order.MAKE)
    for number in dead:  # The message is delivered again.
        setup.acts[number](world)
    _judge(world, setup, outcome)
    return outcome


def _at_provider(workers: Sequence[Worker]) -> set[int]:
    return {number for number, each in enumerate(workers) if each.at == "mailer.send"}


def _possible(alive: Sequence[int], current: int, switches: int, deaths: int) -> list[Move]:
    """Return the possible moves. In the first, the current worker continues."""
    others = [each for each in alive if each != current]
    movers = [current, *(others if switches else ())] if current in alive else others
    moves = [Move(each) for each in movers]
    return [*moves, *(Move(each, dies=True) for each in movers if deaths)]


def _worker(world: World, number: int, act: Act) -> Worker:
    def run(around: Around) -> None:
        def at_points(name: str, call: Callable[[], object]) -> object:
            return around(name, call) if name in POINTS else call()

        with suppress(NotYet, Unavailable):
            act(world.seen_through(at_points))
            return
        act(world)  # The message is delivered again.

    return Worker(f"worker {number + 1}", run)


def _judge(world: World, setup: Setup, outcome: Outcome) -> None:
    """Let everything be sent, and compare the emails with what the rules promise."""
    for _ in range(3):
        world.sweep("ann")
        world.send_everything()
    outcome.immediate = sum(
        kind_of(email.schedule) is ScheduleKind.IMMEDIATE and not is_critical(email.schedule)
        for email in world.emails()
    )
    lines = sorted(line for email in world.emails() for line in email.lines)
    counted = [_counted(line) for line in lines]
    shown = {name: sum(number for each, number in counted if each == name) for name, _ in counted}
    expected = {name: setup.events.count(name) for name in setup.events}
    open_runs = [run.key for run in world.runs.rows.values() if not run.status.is_final]
    if outcome.immediate > setup.most:
        outcome.violation = f"{outcome.immediate} immediate emails, more than {setup.most}"
    elif shown != expected:
        outcome.violation = f"the emails show {shown} instead of {expected}"
    elif open_runs:
        outcome.violation = f"these runs never ended: {open_runs}"


def _counted(line: str) -> tuple[str, int]:
    entity, _, number = line.partition(": ")
    return entity, int(number)
