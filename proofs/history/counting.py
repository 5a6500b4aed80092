"""The calls of a step, reckoned on the fakes as the adapters would make them.

A method of a port is one request, with these exceptions:

- What is read row by row takes one Query for each megabyte, which is the most that a page holds
  (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html). Each row
  weighs what the real adapter would store for the first of its kind.
- A chain is read sixteen runs a page. If no run ends it, a last full page has an empty one behind,
  or one with a run that a head has settled.
- The first digest that was sent behind another is found a hundred runs a page.
- Rows by key take one BatchGetItem for each hundred
  (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html).
- Deletions take one BatchWriteItem for each 25
  (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html), messages
  one SendMessageBatch for each ten, deferred events one transaction for each 49.
- An activity that is found from a side takes one GetItem more, and is stored once for each side.
- The last look before a call is one BatchGetItem of two tables.

`proofs/history/real.py` holds this against the requests of the real adapters. A method that this
module does not know is one request, or one for each megabyte that it returns.
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
"""How long a call takes, by which the clock moves on."""

RUNS_A_PAGE = 16

HOPELESS = 30_000
"""Calls after which a case is given up: they would take 150 seconds, which no function has."""
_MEGABYTE = 1024 * 1024
_KEYS_A_CALL = 100
_DELETIONS_A_CALL = 25
_ERASED_A_CALL = 500
_DEFERRED_A_CALL = 49
_MESSAGES_A_CALL = 10

_FREE = {"outlook", "around", "flush"}
"""Methods that answer from what the process remembers."""

_WRITES = frozenset(
    """
    add amend announce begin cancel catch_up create defer erase exclude expire extend
    extend_together forget keep leave_behind lift mark_active mark_rerouted mark_routed mark_walked
    move move_together put put_early record release remember remove remove_together replace reserve
    reset resubscribe retract save_checkpoint send set_dormant store store_together swap
    swap_together trip trip_if_closed unsubscribe withdraw
    """.split()
)
"""Every other method reads."""

_OUTSIDE = {"mailer", "bus", "canary", "source", "rate_limiter", "immediate_rate_limiter"}
"""Ports that are neither DynamoDB nor SQS, or take one call whatever the past: the permits."""


class Hopeless(BaseException):
    """A case takes too many calls to go on. No step may catch it."""


@dataclass
class Tally:
    """`requests` by `port.method`, and all `calls`; `longest` is the longest receive, by the clock.

    `timeout`: of the function that gets the message.
    """

    clock: SettableClock
    timeout: timedelta = timedelta(seconds=90)
    requests: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    receives: int = 0
    longest: timedelta = timedelta(0)
    _took: timedelta = timedelta(0)
    _weights: dict[type[Any], int] = field(default_factory=dict)

    @property
    def writes(self) -> int:
        """Requests that write or queue."""
        return sum(
            number
            for name, number in self.requests.items()
            if name.rpartition(".")[2].partition(",")[0] in _WRITES and "reads" not in name
        )

    @property
    def reads(self) -> int:
        """All other requests."""
        return self.calls - self.writes

    @property
    def of_tables_and_queues(self) -> int:
        """Requests to DynamoDB and SQS."""
        return sum(
            number
            for name, number in self.requests.items()
            if name.partition(".")[0] not in _OUTSIDE
        )

    def receive(self) -> None:
        """Begin with a message."""
        self.receives += 1
        self._took = timedelta(0)

    def time_left(self) -> timedelta:
        """How long this receive may still take."""
        return self.timeout - self._took

    def count(self, name: str, number: int = 1) -> None:
        """Count requests, which take their time."""
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
        """Pages of rows that are read one after the other."""
        return 1 + sum(map(self._weight_of, rows)) // _MEGABYTE

    def _requests_of(self, name: str, given: Sequence[Any], answer: Any) -> int:
        if name.endswith((".get_many", ".load")):
            return ceil(len(given[-1]) / _KEYS_A_CALL)
        if name == "runs.chain":
            is_ended = bool(answer) and _ends_chain(answer)
            return max(ceil(len(answer) / RUNS_A_PAGE), 1) if is_ended else _with_an_empty(answer)
        if name == "runs.first_sent" and answer:
            behind: int = answer.key.sequence - given[0].sequence
            return ceil(behind / _KEYS_A_CALL)
        if isinstance(answer, list | tuple):
            return self.pages(answer)
        return 1

    def _row_by_row(self, name: str, rows: Iterator[Any]) -> Iterator[Any]:
        """Count a page as it is asked for, and what else each row takes."""
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
    """Of a reader who is gone: what was erased before is not there any more."""
    user_id, until = given
    rows = [row for key, row in sorted(port.rows.items()) if key[0] == user_id][:_ERASED_A_CALL]
    erased = sum(not until or row.event.counts_at <= until for row in rows)
    yield "events.erase, reads", tally.pages(rows)
    yield "events.erase", ceil(erased / _DELETIONS_A_CALL)


def _forgetting(tally: Tally, port: Any, given: Sequence[Any]) -> Reckoned:
    yield "follows.forget", ceil(len(given[1]) / _DELETIONS_A_CALL)


def _window(tally: Tally, port: Any, given: Sequence[Any]) -> Reckoned:
    yield "events.defer", ceil(len(given[0]) / _DEFERRED_A_CALL)


def _creation(tally: Tally, port: Any, given: Sequence[Any]) -> Reckoned:
    yield "activities.create", len(given[0].sides)


def _resubscription(tally: Tally, port: Any, given: Sequence[Any]) -> Reckoned:
    """A deletion that is refused has a second look behind it."""
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
    """Whether its last run says that it is the last, so that no row behind it is read."""
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
    """The same world, of whose ports every call is counted."""
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
