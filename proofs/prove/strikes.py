"""Strikes on a worker at one of its calls: killed, refused, unanswered, delayed or overtaken."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from gazette.domain.errors import Unavailable

from tests.builders import SettableClock

_A_CALL = timedelta(milliseconds=10)
_MARGIN = timedelta(seconds=1)
_LONG = timedelta(minutes=45)


class Killed(BaseException):
    """The death of the process. It is not an Exception, so that no code under test can catch it."""


class How(StrEnum):
    """A kind of strike on a call."""

    KILLED_BEFORE = "killed_before"
    KILLED_AFTER = "killed_after"
    REFUSED = "refused"
    """The call has no effect and no answer."""

    UNANSWERED = "unanswered"
    """The call takes effect, but its answer is lost."""

    HELD_UP = "held_up"
    """The worker stops before the call until its invocation is nearly over; all others go on."""

    FROZEN = "frozen"
    """The worker stops after the call, past the deadline of any claim, then continues unlimited."""

    OVERTAKEN = "overtaken"
    """A competing action runs before the call."""


Plan = tuple[tuple[int, How], ...]
"""The struck calls, counted over all workers of a world from 0, and the kind of each strike."""


@dataclass(eq=False)
class Worker:
    """One invocation, with the time at which it ends and its work."""

    name: str
    ends_at: datetime
    work: Callable[[], object]
    claim_call: int = -1
    """The position of its last write of a run: before a send, that is the claim."""

    look_call: int = -1
    """The position of its last read of a reader: before a send, that is the last look."""

    is_frozen: bool = False

    def require_time(self, now: datetime) -> None:
        """Raise Killed if the invocation is over. A frozen invocation never is."""
        if now > self.ends_at and not self.is_frozen:
            raise Killed("the time of the invocation is over")


class WorkersClock:
    """The clock of the current worker, fast or slow by as much as is allowed.

    `now` is the true time, which advances for all workers together.
    """

    def __init__(self, true: SettableClock, skews: Mapping[str, timedelta]) -> None:
        self._true = true
        self._skews = skews
        self.calls: Calls | None = None

    @property
    def now(self) -> datetime:
        """Return the true time."""
        return self._true.now

    @now.setter
    def now(self, instant: datetime) -> None:
        self._true.now = instant

    def __call__(self) -> datetime:
        worker = self.calls.worker if self.calls else None
        name = worker.name.partition(" ")[0] if worker else ""
        return self._true.now + self._skews.get(name, timedelta(0))

    def sleep(self, wait: timedelta) -> None:
        """Advance the time, like a sleep."""
        self._true.now += wait


@dataclass
class Calls:
    """Every call of a port, counted and possibly struck.

    `answerless(name, call, done)` performs a call whose answer is lost, and applies it if `done`.
    `others(until)` runs all other workers. `overtake(worker)` runs the competing action.
    `aim(worker, name)` selects a strike by the kind of call, outside the `plan`.
    """

    clock: SettableClock
    plan: Mapping[int, How]
    answerless: Callable[[str, Callable[[], object], bool], object]
    others: Callable[[datetime], None]
    overtake: Callable[[Worker], None]
    claims: frozenset[str]
    worker: Worker | None = None
    aim: Callable[[Worker, str], How | None] = lambda _, __: None
    count: int = 0
    struck: int = 0
    story: list[tuple[datetime, str, int, str, How | None]] = field(default_factory=list)

    def around(self, name: str, call: Callable[[], object]) -> object:
        """Make a call of the current worker. Without a worker the call is not counted."""
        worker = self.worker
        if worker is None:
            return call()
        worker.require_time(self.clock.now)
        self.clock.now += _A_CALL
        number = self.count
        self.count += 1
        how = self.plan.get(number) or self.aim(worker, name)
        worker.require_time(self.clock.now)  # other workers may have run past its end
        self.story.append((self.clock.now, worker.name, number, name, how))
        if name in self.claims:
            worker.claim_call = number
        if name == "subscribers.get":
            worker.look_call = number
        if how is None:
            return call()
        self.struck += 1
        match how:
            case How.KILLED_BEFORE:
                raise Killed
            case How.KILLED_AFTER:
                call()
                raise Killed
            case How.REFUSED | How.UNANSWERED:
                return self.answerless(name, call, how is How.UNANSWERED)
            case How.HELD_UP:
                self.others(worker.ends_at - _MARGIN)
            case How.FROZEN:
                answer = call()
                worker.is_frozen = True
                self.others(self.clock.now + _LONG)
                return answer
            case How.OVERTAKEN:
                self.overtake(worker)
        worker.require_time(self.clock.now)  # the worker that ran meanwhile may have been frozen
        return call()


def unavailable(name: str, call: Callable[[], object], done: bool) -> object:
    """Drop the answer of one of our ports, after its effect if `done`."""
    if done:
        call()
    raise Unavailable(f"{name} did not answer.")
