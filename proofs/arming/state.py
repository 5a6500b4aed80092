"""The state of the search: one schedule with its index entry, runs and events, and the workers."""

from enum import StrEnum
from typing import NamedTuple

from gazette.domain.model import ScheduleState

from proofs.arming.numbered import ABSENT, NO_RUN, created, listed_at, restamped, window_end


class Rule(StrEnum):
    """A rule that the model can omit, to show whether it prevents a fault.

    The letters and numbers are those of the design, A1 to A8.
    """

    STORE_BEFORE_READ = "A1: the event is stored before the row is read"
    ARM_AT_LEAVING = "A1: an event arms a row that is leaving"
    ARM_AGAIN = "A2: a repeated message arms as well"
    FLAG = "A3: a row is flagged before it is taken out"
    SECOND_LOOK = "A3: fan-out looks again once the row is flagged"
    SPENT_NUMBER = "A3: the number of an occurrence without waiting events gets an ended run"
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
    ASK_PROFILE = "A1: a worker that armed a row reads the profile, and withdraws it again"
    ASK_AGAIN = "A1: a worker that found a row armed reads the profile as well"


class Place(StrEnum):
    """The place of an event."""

    NOWHERE = "nowhere"
    HERE = "here"
    AWAY = "away"


class Setup(NamedTuple):
    """The bounds of a search."""

    row: ScheduleState | None = ScheduleState.ARMED
    """The initial state of the schedule."""

    events: tuple[Place, ...] = (Place.NOWHERE, Place.NOWHERE)
    """The initial place of each event."""

    moves: tuple[Place, ...] = (Place.NOWHERE, Place.NOWHERE)
    """The place to which each event is moved once."""

    ingests: int = 2
    """The most concurrent ingest workers."""

    fanouts: int = 2
    """The most concurrent fan-out workers."""

    deliveries: int = 1
    """The most concurrent delivery workers."""

    hasty: int = 1
    """The number of occurrences that may come due while workers are active. Messages arrive until
    then.
    """

    occurrences: int = 5
    """The number of all occurrences. Those after the hasty ones come once all workers are done."""

    deaths: int = 0
    """The number of workers that die."""

    repeats: int = 0
    """The number of messages delivered again after they were processed, or twice concurrently."""

    late: int = 0
    """The number of writes that take longer than the settle lag."""

    refusals: int = 0
    """The number of runs that the provider rejects for good."""

    births: int = 0
    """The number of profiles that create the row."""

    sunsets: int = 0
    """The number of times the reader becomes dormant."""

    wakes: int = 0
    """The number of times the reader returns."""

    asks: bool = False
    """True if the schedule has a content source."""

    unfetched: int = 0
    """The number of occurrences that come due before their content is fetched."""

    idle_is_final: bool = True
    """True if no run may start for an occurrence without waiting events."""

    without: frozenset[Rule] = frozenset()
    """The omitted rules."""

    def holds(self, rule: Rule) -> bool:
        """Return True if the rule is followed."""
        return rule not in self.without


class Kind(StrEnum):
    """The task of a worker."""

    INGEST = "ingest"
    MOVER = "mover"
    FANOUT = "fan-out"
    DELIVERY = "delivery"
    PROFILE = "profile"
    SUNSET = "sunset"
    WAKER = "waker"


class At(StrEnum):
    """The next call of a worker."""

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
    """One invocation, with its next call and the data it has read."""

    kind: Kind
    at: At
    number: int = -1
    """The number of its event or run."""

    row: int = ABSENT
    """The row as read."""

    is_current: bool = True
    """False once another worker has written the row or, for a mover or
    delivery, raised an epoch.
    """

    after: int = ABSENT
    """The row that it would write."""

    since: int = 0
    """The end of the sent events."""

    stamp: int = 0
    """The storage time that it will write, or the end of the events that it has read."""

    events: int = 0
    """The events read, as bits."""

    runs: tuple[int, ...] = ()
    """The runs as read."""

    is_again: bool = False
    """True during the second look."""


class Event(NamedTuple):
    """An event and its state."""

    place: Place
    stamp: int = 0
    mails: int = 0
    """The emails that contain it: 1 for this schedule, 2 for the other, as bits."""

    is_asked: bool = False
    """True if its message waits."""

    to: Place = Place.NOWHERE
    """The place to which a mover must bring it."""

    waited: int = 0
    """The occurrences that came due while it waited here and all workers were done."""

    @property
    def is_known(self) -> bool:
        """Return True if the event is stored."""
        return self.place is not Place.NOWHERE


class State(NamedTuple):
    """The whole state of the search."""

    row: int
    shown: int
    """The occurrence under which the index shows the row."""

    runs: tuple[int, ...]
    """The runs by sequence."""

    events: tuple[Event, ...]
    workers: tuple[Worker, ...]
    now: int
    """The number of occurrences that have come due."""

    is_behind: bool
    """True if the ticks of the last occurrence are over."""

    stamp: int
    """The last storage time assigned."""

    settled: int
    """The last storage time older than the settle lag."""

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
    """The promise that a step broke."""


Step = tuple[tuple[object, ...], State]
"""A label template with its values, and the state after the step."""


def beginning(setup: Setup) -> State:
    """Return the first state: no workers, no occurrence yet, and all messages waiting."""
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
    """Return the canonical form: workers unordered, storage times ranked, and equal parts shared.

    Shared objects save memory.
    """
    state = _ranked(state)
    workers = tuple(sorted(state.workers)) if len(state.workers) > 1 else state.workers
    return state._replace(
        workers=_WORKERS.setdefault(workers, workers),
        events=_EVENTS.setdefault(state.events, state.events),
    )


def _ranked(state: State) -> State:
    """Return the state with storage times renumbered, without gaps for unused ones."""
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
    """Return the number of workers of a kind."""
    return sum(worker.kind is kind for worker in state.workers)


def begun(state: State, worker: Worker) -> State:
    """Add a worker to the state."""
    return state._replace(workers=(*state.workers, worker))


def gone(state: State, w: int) -> State:
    """Remove a worker from the state."""
    return state._replace(workers=(*state.workers[:w], *state.workers[w + 1 :]))


def done(state: State, worker: Worker) -> State:
    """Delete the message of a worker that is done."""
    if worker.kind not in {Kind.INGEST, Kind.MOVER}:
        return state
    event = state.events[worker.number]
    if worker.kind is Kind.INGEST:
        event = event._replace(is_asked=False)
    else:
        event = event._replace(to=Place.NOWHERE)
    return with_event(state, worker.number, event)


def with_worker(state: State, w: int, worker: Worker) -> State:
    """Return the state with the new state of worker `w`."""
    return state._replace(workers=(*state.workers[:w], worker, *state.workers[w + 1 :]))


def with_event(state: State, number: int, event: Event) -> State:
    """Return the state with the new state of an event."""
    return state._replace(events=(*state.events[:number], event, *state.events[number + 1 :]))


def with_run(state: State, number: int, run: int) -> State:
    """Return the state with the new state of a run, or with the next run added."""
    runs = state.runs + (NO_RUN,) * (number + 1 - len(state.runs))
    return state._replace(runs=(*runs[:number], run, *runs[number + 1 :]))
