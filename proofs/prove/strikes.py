"""What is done to a worker at one of its calls: it is killed, cut off, held up, overtaken."""

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
    """The process is gone. Not an Exception, so that no code under test can catch it."""


class How(StrEnum):
    """Before or after the effect of a call: killed there, or with no answer.

    `HELD_UP`: the worker stands still before it until its invocation is nearly over, and
    everybody else goes on meanwhile. `FROZEN`: after it, until long after the deadline of any
    claim; then it goes on, as if nothing ended it. `OVERTAKEN`: somebody else acts before it.
    """

    KILLED_BEFORE = "killed_before"
    KILLED_AFTER = "killed_after"
    REFUSED = "refused"
    UNANSWERED = "unanswered"
    HELD_UP = "held_up"
    FROZEN = "frozen"
    OVERTAKEN = "overtaken"


Plan = tuple[tuple[int, How], ...]
"""Which calls are struck, counted over all workers of a world from 0, and how."""


@dataclass(eq=False)
class Worker:
    """One invocation: when its time is over, and what it works on."""

    name: str
    ends_at: datetime
    work: Callable[[], object]
    claim_call: int = -1
    """Its last write of a run: before a send, that is the claim."""

    look_call: int = -1
    """Its last read of a reader: before a send, that is the last look."""

    is_frozen: bool = False

    def require_time(self, now: datetime) -> None:
        """Raise Killed where its invocation is over; of one that is frozen, it never is."""
        if now > self.ends_at and not self.is_frozen:
            raise Killed("the time of the invocation is over")


class WorkersClock:
    """The clock of whoever works now: each is a little fast or slow, as much as is allowed.

    `now` is the true time, which it lets pass as a whole.
    """

    def __init__(self, true: SettableClock, skews: Mapping[str, timedelta]) -> None:
        self._true = true
        self._skews = skews
        self.calls: Calls | None = None

    @property
    def now(self) -> datetime:
        """The true time."""
        return self._true.now

    @now.setter
    def now(self, instant: datetime) -> None:
        self._true.now = instant

    def __call__(self) -> datetime:
        worker = self.calls.worker if self.calls else None
        name = worker.name.partition(" ")[0] if worker else ""
        return self._true.now + self._skews.get(name, timedelta(0))

    def sleep(self, wait: timedelta) -> None:
        """Let time pass, as if somebody had slept."""
        self._true.now += wait


@dataclass
class Calls:
    """Every call of a port, counted and perhaps struck.

    `answerless(name, call, done)` is what a call comes to whose answer is lost, `done` or not;
    `others(until)` lets everybody else go on; `overtake(worker)` is what somebody else does.
    `aim(worker, name)` strikes calls that are not in the `plan`, by what they are.
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
        """One call of the current worker; counts nothing if there is none."""
        worker = self.worker
        if worker is None:
            return call()
        worker.require_time(self.clock.now)
        self.clock.now += _A_CALL
        number = self.count
        self.count += 1
        how = self.plan.get(number) or self.aim(worker, name)
        worker.require_time(self.clock.now)  # others may have acted for longer than it has
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
        worker.require_time(self.clock.now)  # whoever went on meanwhile may have been frozen
        return call()


def unavailable(name: str, call: Callable[[], object], done: bool) -> object:
    """A port of ours whose answer is lost, after its effect where `done`."""
    if done:
        call()
    raise Unavailable(f"{name} did not answer.")
