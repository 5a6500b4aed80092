"""The calls of a step, computed on the fakes as the adapters would make them.

Each call of a port's method is one request, with these exceptions:

- Reading rows one by one takes one Query per megabyte, the maximum of a page
  (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html). Each row
  has the size that the real adapter would store for the first row of its kind.
- A chain is read in pages of sixteen runs. If no run ends the chain, a full last page is followed
  by an empty page, or by a page with a run that a head has settled.
- The first digest sent after another is found in pages of a hundred runs.
- Rows by key take one BatchGetItem per hundred
  (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html).
- Deletions take one BatchWriteItem per 25
  (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html), messages
  one SendMessageBatch per ten, and deferred events one transaction per 49.
- An activity that is found through a side takes one more GetItem. It is stored once per side.
- The last look before a call is one BatchGetItem of two tables.

`proofs/history/real.py` compares these counts with the requests of the real adapters. A method that
this module does not list takes one request, or one per megabyte of its result.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Sized
from copy import copy
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from functools import partial
from math import ceil
from typing import Any

from gazette.domain.delivery.run import Run
from gazette.domain.subscribers.subscriber import Reader
from gazette.steps.context import RoutingContext

from proofs.history.weight import weight
from tests.builders import SettableClock
from tests.world import PORTS, World

A_CALL = timedelta(milliseconds=5)
"""The duration of a call on the simulated clock."""

RUNS_A_PAGE = 16

HOPELESS = 30_000
"""The number of calls at which a case is abandoned. They take 150 seconds, above any timeout."""
_MEGABYTE = 1024 * 1024
_KEYS_A_CALL = 100
_DELETIONS_A_CALL = 25
_ERASED_A_CALL = 500
_DEFERRED_A_CALL = 49
_MESSAGES_A_CALL = 10

_FREE = {"outlook", "around", "flush"}
"""Methods that return values from the memory of the process."""

_WRITES = frozenset(
    """
    add amend announce begin cancel cap catch_up create defer erase exclude expire extend
    extend_together forget keep leave_behind lift mark_active mark_rerouted mark_routed mark_seen
    mark_walked
    move move_together put put_early record release remember remove remove_together replace reserve
    reset resubscribe retract save_checkpoint send set_dormant store store_together swap
    swap_together trip trip_if_closed unsubscribe withdraw
    """.split()
)
"""Methods that write. Every other method reads."""

_OUTSIDE = {"mailer", "bus", "canary", "source", "rate_limiter", "immediate_rate_limiter"}
"""Ports that use neither DynamoDB nor SQS, and the permits, which always take one call."""


class Hopeless(BaseException):
    """A case that takes too many calls. Not a subclass of Exception, so that no step catches it."""


@dataclass
class Tally:
    """The requests of a case."""

    clock: SettableClock
    timeout: timedelta = timedelta(seconds=90)
    """The timeout of the function that receives the message."""

    requests: Counter[str] = field(default_factory=Counter)
    """The requests by `port.method`."""

    calls: int = 0
    """The number of all requests."""

    receives: int = 0
    longest: timedelta = timedelta(0)
    """The longest receive, by the simulated clock."""

    _took: timedelta = timedelta(0)
    _weights: dict[type[Any], int] = field(default_factory=dict)

    @property
    def writes(self) -> int:
        """Return the number of requests that write or queue."""
        return sum(
            number
            for name, number in self.requests.items()
            if name.rpartition(".")[2].partition(",")[0] in _WRITES and "reads" not in name
        )

    @property
    def reads(self) -> int:
        """Return the number of all other requests."""
        return self.calls - self.writes

    @property
    def of_tables_and_queues(self) -> int:
        """Return the number of requests to DynamoDB and SQS."""
        return sum(
            number
            for name, number in self.requests.items()
            if name.partition(".")[0] not in _OUTSIDE
        )

    def receive(self) -> None:
        """Start a receive of a message."""
        self.receives += 1
        self._took = timedelta(0)

    def time_left(self) -> timedelta:
        """Return the time left for this receive."""
        return self.timeout - self._took

    def count(self, name: str, number: int = 1) -> None:
        """Count requests and advance the clock by their duration."""
        self.requests[name] += number
        self.calls += number
        self._took += A_CALL * number
        self.longest = max(self.longest, self._took)
        self.clock.now += A_CALL * number
        if self.calls > HOPELESS:
            raise Hopeless

    def ask(
        self, port: object, name: str, method: Callable[..., Any], *given: Any, **by: Any
    ) -> Any:
        """Call a method of a port."""
        attribute = name.partition(".")[2]
        if attribute in _FREE:
            return method(*given, **by)
        if name.partition(".")[0].endswith(("_queue", "_runs")):
            given = (list(given[0]), *given[1:])
        if reckon := _BEFORE.get(name):
            for what, number in reckon(self, port, given):
                self.count(what, number)
            return method(*given, **by)
        self.count(name)
        answer = method(*given, **by)
        if isinstance(answer, Iterator):
            return self._row_by_row(name, answer)
        self.count(name, self._requests_of(name, given, answer) - 1)
        return answer

    def pages(self, rows: Sequence[Any]) -> int:
        """Yield rows, and count the pages in which the rows are read."""
        return 1 + sum(map(self._weight_of, rows)) // _MEGABYTE

    def _requests_of(self, name: str, given: Sequence[Any], answer: Any) -> int:
        if name.endswith((".get_many", ".load")):
            return ceil(len(given[-1]) / _KEYS_A_CALL)
        if name in {"runs.chain", "runs.of_thread"}:
            is_ended = bool(answer) and _ends_chain(answer)
            return max(ceil(len(answer) / RUNS_A_PAGE), 1) if is_ended else _with_an_empty(answer)
        if name == "runs.first_sent" and answer:
            behind: int = answer.key.sequence - given[0].sequence
            return ceil(behind / _KEYS_A_CALL)
        if isinstance(answer, list | tuple):
            return self.pages(answer)
        return 1

    def _row_by_row(self, name: str, rows: Iterator[Any]) -> Iterator[Any]:
        """Count each page when it is requested, and any further requests for each row."""
        page = 0
        for number, row in enumerate(rows):
            page += self._weight_of(row)
            if page > _MEGABYTE:
                page = self._weight_of(row)
                self.count(name)
            if name == "activities.since" and number % _KEYS_A_CALL == 0:
                self.count(f"{name}, rows")
            if name == "runs.overdue" and number % _KEYS_A_CALL == 0:
                self.count(f"{name}, rows")
            yield row

    def _weight_of(self, row: Any) -> int:
        if type(row) not in self._weights:
            self._weights[type(row)] = weight(row)
        return self._weights[type(row)]


Reckoned = Iterator[tuple[str, int]]


def _messages(tally: Tally, port: object, given: Sequence[Sized]) -> Reckoned:
    yield "queue.send", ceil(len(given[0]) / _MESSAGES_A_CALL)


def _erasure(tally: Tally, port: Any, given: Sequence[Any]) -> Reckoned:
    """Count the requests of an erasure by its remaining rows."""
    user_id, until = given
    rows = [row for key, row in sorted(port.rows.items()) if key[0] == user_id][:_ERASED_A_CALL]
    marks = [at for (of, _), at in port.marks.items() if of == user_id]
    erased = sum(not until or row.event.counts_at <= until for row in rows)
    erased += sum(not until or at <= until for at in marks)
    more = max(len(rows) + len(marks) - _ERASED_A_CALL, 0)
    yield "events.erase, reads", tally.pages(rows) + ceil(more / _ERASED_A_CALL)
    yield "events.erase", ceil(erased / _DELETIONS_A_CALL)


def _forgetting(tally: Tally, port: Any, given: Sequence[Any]) -> Reckoned:
    yield "follows.forget", ceil(len(given[1]) / _DELETIONS_A_CALL)


def _window(tally: Tally, port: Any, given: Sequence[Any]) -> Reckoned:
    yield "events.defer", ceil(len(given[0]) / _DEFERRED_A_CALL)


def _creation(tally: Tally, port: Any, given: Sequence[Any]) -> Reckoned:
    yield "activities.create", len(given[0].sides)


def _resubscription(tally: Tally, port: Any, given: Sequence[Any]) -> Reckoned:
    """Count a resubscription. If the deletion fails its condition, a second read follows."""
    address, user_id = given
    yield "suppressions.resubscribe", 1 if port.by.get(address) == {user_id} else 2


_BEFORE: dict[str, Callable[[Tally, Any, Sequence[Any]], Reckoned]] = {
    "events.erase": _erasure,
    "events.defer": _window,
    "follows.forget": _forgetting,
    "deferred_events.defer": _window,
    "activities.create": _creation,
    "suppressions.resubscribe": _resubscription,
    **{f"{name}.send": _messages for name in PORTS if name.endswith(("_queue", "failed_runs"))},
}


def _ends_chain(chain: Sequence[Run]) -> bool:
    """Return True if the last run of the chain marks its end, so that no earlier row is read."""
    heads = [run.head.sequence for run in chain if run.head]
    return chain[-1].closes_a_window or chain[-1].key.sequence == max(heads, default=-1) + 1


def _with_an_empty(answer: Sized) -> int:
    return len(answer) // RUNS_A_PAGE + 1


class _Port:
    def __init__(self, name: str, port: object, tally: Tally) -> None:
        self._name, self._port, self._tally = name, port, tally

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(self._port, attribute)
        if not callable(found):
            return found
        return partial(self._tally.ask, self._port, f"{self._name}.{attribute}", found)


def counted(world: World, tally: Tally) -> World:
    """Return the same world, in which every call of a port is counted."""
    other = copy(world)
    ports: dict[str, Any] = {name: _Port(name, getattr(world, name), tally) for name in PORTS}
    shared = {one.name for one in fields(RoutingContext)}
    other.context = replace(
        world.context, **{name: port for name, port in ports.items() if name in shared}
    )
    for name, port in ports.items():
        setattr(other, name, port)

    def last_look(
        user_id: str, address_hash: str, *, critical: bool = False
    ) -> tuple[Reader, bool]:
        tally.count("last_look.read")
        return world.last_look(user_id, address_hash, critical=critical)

    other.last_look = last_look  # type: ignore[method-assign]
    other.time_left = tally.time_left
    return other
