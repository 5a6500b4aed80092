"""What the search looks at: one schedule, its index entry, its runs and events, and who works."""

from enum import StrEnum
from typing import NamedTuple

from gazette.domain.model import ScheduleState

from proofs.arming.numbered import ABSENT, NO_RUN, created, listed_at, restamped, window_end


class Rule(StrEnum):
    """A rule that the model can do without, to show what it prevents, or that it prevents nothing.

    The letters and numbers are those of the design: A1 to A8.
    """

    STORE_BEFORE_READ = "A1: the event is stored before the row is read"
    ARM_AT_LEAVING = "A1: an event arms a row that is leaving"
    ARM_AGAIN = "A2: a repeated message arms as well"
    FLAG = "A3: a row is flagged before it is taken out"
    SECOND_LOOK = "A3: fan-out looks again once the row is flagged"
    SPENT_NUMBER = "A3: the number of an occurrence at which nothing waited gets an ended run"
    LATER_NUMBER = "A3: taking the row out raises its sequence"
    ADOPTED_LOOK = "A3: fan-out looks twice at a row that it found flagged"
    FOUND_RUN_COUNTS = "A3: a run of the occurrence that is found at its number counts as waiting"
    NO_UPPER_END = "A4: the look has no upper end"
    CHAIN_FIRST = "A4: the look reads the chain before the events"
    READ_AGAIN = "A5: fan-out that was overtaken reads the row again"
    LOOK_BACK = "A5: ticks look far back"
    BORN_IF_ABSENT = "A8: a row is born idle only where there is none"
    WAKE_UNSEEN = "A8: a reader who is back has their rows armed without a look"
    STATUS_FIRST = "A8: the status is written before the rows are armed"
    WAKE_WRITES = "A8: a row that is armed already is written as well"
    ASK_PROFILE = "A1: whoever armed a row reads the profile, and withdraws it again"
    ASK_AGAIN = "A1: whoever found a row armed reads the profile as well"


class Place(StrEnum):
    """Where an event is."""

    NOWHERE = "nowhere"
    HERE = "here"
    AWAY = "away"


class Setup(NamedTuple):
    """What is searched, and how far.

    `row`: how the schedule begins. `events`: where each is in the beginning. `moves`: where each
    shall be moved once. `ingests`, `fanouts`, `deliveries`: the most workers of each kind at once.
    `hasty`: the occurrences that come whenever they like; up to them messages come too.
    `occurrences`: all; those after the hasty ones come only when everybody has done their work.
    `deaths`: workers that die. `repeats`: messages that come again although they were done with, or
    twice at once. `late`: writes that take longer than the settle lag. `refusals`: runs that
    the provider refuses for good. `births`: profiles that create the row. `sunsets`, `wakes`: the
    reader becomes dormant, or comes back. `asks`: the schedule asks a content source; `unfetched`:
    occurrences for which that was not done when they come. `idle_is_final`: no run may be started
    for an occurrence at which nothing waited. `without`: the rules that are taken out.
    """

    row: ScheduleState | None = ScheduleState.ARMED
    events: tuple[Place, ...] = (Place.NOWHERE, Place.NOWHERE)
    moves: tuple[Place, ...] = (Place.NOWHERE, Place.NOWHERE)
    ingests: int = 2
    fanouts: int = 2
    deliveries: int = 1
    hasty: int = 1
    occurrences: int = 5
    deaths: int = 0
    repeats: int = 0
    late: int = 0
    refusals: int = 0
    births: int = 0
    sunsets: int = 0
    wakes: int = 0
    asks: bool = False
    unfetched: int = 0
    idle_is_final: bool = True
    without: frozenset[Rule] = frozenset()

    def holds(self, rule: Rule) -> bool:
        """Whether the rule is followed."""
        return rule not in self.without


class Kind(StrEnum):
    """What a worker does."""

    INGEST = "ingest"
    MOVER = "mover"
    FANOUT = "fan-out"
    DELIVERY = "delivery"
    PROFILE = "profile"
    SUNSET = "sunset"
    WAKER = "waker"


class At(StrEnum):
    """Which call a worker makes next."""

    STORE = "store"
    LATE = "late"
    READ = "read"
    ARM = "arm"
    PROFILE = "profile"
    ROWS = "rows"
    ASK = "ask"
    WITHDRAW = "withdraw"
    FIND = "find"
    CHAIN = "chain"
    MOVE = "move"
    EVENTS = "events"
    START = "start"
    ADVANCE = "advance"
    FLAG = "flag"
    SPEND = "spend"
    LEAVE = "leave"
    PASS = "pass"
    RENUMBER = "renumber"
    CLAIM = "claim"
    CALL = "call"
    STATUS = "status"


class Worker(NamedTuple):
    """One invocation: what it does next, and what it has read.

    `number`: of its event, or of its run. `row`: as read; `is_current`: nobody has written the row
    or, for a mover and a delivery, raised an epoch since. `after`: the row as it would write it.
    `stamp`: the storage time that it will write, or the end of what it has read. `since`: the end
    of what was sent. `runs`: as read. `events`: bits, as read. `is_again`: at the second look.
    """

    kind: Kind
    at: At
    number: int = -1
    row: int = ABSENT
    is_current: bool = True
    after: int = ABSENT
    since: int = 0
    stamp: int = 0
    events: int = 0
    runs: tuple[int, ...] = ()
    is_again: bool = False


class Event(NamedTuple):
    """An event. `mails`: 1 for an email of this schedule, 2 for one of the other.

    `is_asked`: its message waits. `to`: where a mover shall bring it. `waited`: occurrences that
    came, everybody having done their work, while it waited here.
    """

    place: Place
    stamp: int = 0
    mails: int = 0
    is_asked: bool = False
    to: Place = Place.NOWHERE
    waited: int = 0

    @property
    def is_known(self) -> bool:
        """Whether somebody has stored it."""
        return self.place is not Place.NOWHERE


class State(NamedTuple):
    """All that is. `runs` by sequence. `shown`: the occurrence under which the index shows the row.

    `now`: occurrences that have come. `is_behind`: the ticks of the last one are over. `stamp`: the
    last storage time given out; `settled`: the last that lies a settle lag back. `fault`: the
    promise that a step broke.
    """

    row: int
    shown: int
    runs: tuple[int, ...]
    events: tuple[Event, ...]
    workers: tuple[Worker, ...]
    now: int
    is_behind: bool
    stamp: int
    settled: int
    deaths: int
    repeats: int
    late: int
    refusals: int
    births: int
    is_dormant: bool
    sunsets: int
    wakes: int
    unfetched: int
    fault: str


Step = tuple[tuple[object, ...], State]
"""What happens, as a template and what to fill in, and the state after it."""


def beginning(setup: Setup) -> State:
    """Nobody works, no occurrence has come, and all messages wait."""
    row = ABSENT
    if setup.row is not None:
        row = created(setup.row, now=0, sequence=1)
    events = tuple(
        Event(place, is_asked=place is Place.NOWHERE, to=to)
        for place, to in zip(setup.events, setup.moves, strict=True)
    )
    return State(
        row=row,
        shown=listed_at(row),
        runs=(),
        events=events,
        workers=(),
        now=0,
        is_behind=False,
        stamp=0,
        settled=0,
        deaths=setup.deaths,
        repeats=setup.repeats,
        late=setup.late,
        refusals=setup.refusals,
        births=setup.births,
        is_dormant=setup.row is ScheduleState.WITHDRAWN,
        sunsets=setup.sunsets,
        wakes=setup.wakes,
        unfetched=setup.unfetched,
        fault="",
    )


_WORKERS: dict[tuple[Worker, ...], tuple[Worker, ...]] = {}
_EVENTS: dict[tuple[Event, ...], tuple[Event, ...]] = {}


def canonical(state: State) -> State:
    """Workers have no names, only the order of storage times matters, and equal parts of two
    states are one object, to save memory.
    """
    state = _ranked(state)
    workers = tuple(sorted(state.workers)) if len(state.workers) > 1 else state.workers
    return state._replace(
        workers=_WORKERS.setdefault(workers, workers),
        events=_EVENTS.setdefault(state.events, state.events),
    )


def _ranked(state: State) -> State:
    """With storage times renumbered, so that those that nobody uses any more leave no gap."""
    used = {0}
    used.update(event.stamp for event in state.events)
    used.update(window_end(run) for run in state.runs)
    for worker in state.workers:
        used.update((worker.since, worker.stamp))
    if state.stamp == len(used) - 1 and state.settled in used:
        return state
    ranks: list[int] = []
    rank = -1
    for stamp in range(state.stamp + 1):
        rank += stamp in used
        ranks.append(rank)
    return state._replace(
        stamp=rank,
        settled=ranks[state.settled],
        events=tuple(event._replace(stamp=ranks[event.stamp]) for event in state.events),
        workers=tuple(
            worker._replace(since=ranks[worker.since], stamp=ranks[worker.stamp])
            for worker in state.workers
        ),
        runs=tuple(restamped(run, tuple(ranks)) for run in state.runs),
    )


def workers_of(state: State, kind: Kind) -> int:
    """How many workers of a kind there are."""
    return sum(worker.kind is kind for worker in state.workers)


def begun(state: State, worker: Worker) -> State:
    """With one worker more."""
    return state._replace(workers=(*state.workers, worker))


def gone(state: State, w: int) -> State:
    """Without a worker."""
    return state._replace(workers=(*state.workers[:w], *state.workers[w + 1 :]))


def done(state: State, worker: Worker) -> State:
    """After a worker that is gone has done its work: its message is deleted."""
    if worker.kind not in {Kind.INGEST, Kind.MOVER}:
        return state
    event = state.events[worker.number]
    if worker.kind is Kind.INGEST:
        event = event._replace(is_asked=False)
    else:
        event = event._replace(to=Place.NOWHERE)
    return with_event(state, worker.number, event)


def with_worker(state: State, w: int, worker: Worker) -> State:
    """With worker `w` where it is now."""
    return state._replace(workers=(*state.workers[:w], worker, *state.workers[w + 1 :]))


def with_event(state: State, number: int, event: Event) -> State:
    """With an event as it is now."""
    return state._replace(events=(*state.events[:number], event, *state.events[number + 1 :]))


def with_run(state: State, number: int, run: int) -> State:
    """With a run as it is now, the next after those there are among them."""
    runs = state.runs + (NO_RUN,) * (number + 1 - len(state.runs))
    return state._replace(runs=(*runs[:number], run, *runs[number + 1 :]))
