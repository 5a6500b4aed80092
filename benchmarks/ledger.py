"""A ledger of the calls of a step to its ports, and of the memory that the step uses."""

import gc
import tracemalloc
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from gazette.domain.delivery.batch import Batch
from gazette.domain.delivery.run import Run
from gazette.domain.model import RunKey, Schedule, Window
from gazette.domain.ports.queues import QueuedRun, Shard

_PAGES = {"due"}
"""The methods that return pages."""

_BEGAN, _KEPT, _PEAK, _BEFORE, _ANSWERED, _COPIED, _AFTER = range(7)


@dataclass
class Ledger:
    """A record of calls by `port.method`, and of the caller's peak memory in bytes.

    The memory is what Python has allocated, excluding the data that the ports store. To separate
    the two, a port accepts and returns only copies, as a real table does. The numbers are in an
    array, because a number in a list would itself use memory. Python's free lists, which both the
    caller and the ports use, cause an error of less than a hundred bytes per reader.
    """

    calls: Counter[str] = field(default_factory=Counter)
    _bytes: "array[int]" = field(default_factory=lambda: array("q", [0] * 7))

    @property
    def peak(self) -> int:
        """The peak in bytes, sampled at each call."""
        return self._bytes[_PEAK]

    @contextmanager
    def weighing(self) -> Iterator[None]:
        """Measure the memory of the caller within the block.

        The block must not leave reference cycles. The garbage collector is disabled, because its
        runs and free lists would change the result.
        """
        gc.collect()
        gc.disable()
        tracemalloc.start()
        self._bytes[_KEPT] = 0
        self._bytes[_BEGAN] = tracemalloc.get_traced_memory()[0]
        try:
            yield
        finally:
            tracemalloc.stop()
            gc.enable()

    def port(self, name: str, port: object) -> Any:
        """Return a wrapper of the port that counts all calls."""
        return _Port(name, port, self)

    def ask(self, name: str, method: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Call a method of a port and record the call."""
        self.calls[name] += 1
        if not tracemalloc.is_tracing():
            return method(*given, **named)
        now, book = tracemalloc.get_traced_memory, self._bytes
        self._look()
        book[_BEFORE] = now()[0]
        answer = method(*_copies(given), **{each: _copy(named[each]) for each in named})
        book[_ANSWERED] = now()[0]
        copy = _copy(answer)
        book[_COPIED] = now()[0]
        del answer
        book[_AFTER] = now()[0]
        book[_KEPT] += book[_AFTER] - book[_BEFORE] - (book[_COPIED] - book[_ANSWERED])
        self._look()
        return copy

    def pages(self, name: str, method: Callable[..., Any], *given: Any) -> Iterator[Sequence[Any]]:
        """Call a method of a port that returns pages. Request each page only when needed."""
        self.calls[name] += 1
        pages = method(*given)
        while page := self.ask(f"{name}, pages", partial(next, pages, ())):
            yield page
        self.calls[f"{name}, pages"] -= 1  # the last call returned no page

    def _look(self) -> None:
        book = self._bytes
        held = tracemalloc.get_traced_memory()[0] - book[_BEGAN] - book[_KEPT]
        book[_PEAK] = max(book[_PEAK], held)


class _Port:
    def __init__(self, name: str, port: object, ledger: Ledger) -> None:
        self._name = name
        self._port = port
        self._ledger = ledger

    def __getattr__(self, attribute: str) -> Any:
        asked = self._ledger.pages if attribute in _PAGES else self._ledger.ask
        return partial(asked, f"{self._name}.{attribute}", getattr(self._port, attribute))


def _copy(value: Any) -> Any:
    """Return a copy of a value, as a port would create it. Immutable values are not copied."""
    copied = _COPIES.get(type(value))
    return copied(value) if copied else value


def _copies(values: Sequence[Any]) -> list[Any]:
    return [_copy(value) for value in values]


def _rebuilt(kind: type[Any]) -> Callable[[Any], Any]:
    names = [part.name for part in fields(kind)]

    def rebuild(value: Any) -> Any:
        """Rebuild each part of the value.

        A tuple of all parts would remain in Python's free lists.
        """
        made = object.__new__(kind)
        for name in names:
            object.__setattr__(made, name, _copy(getattr(value, name)))
        return made

    return rebuild


_COPIES: dict[type[Any], Callable[[Any], Any]] = {
    datetime: datetime.replace,
    timedelta: lambda value: value + timedelta(0),
    list: _copies,
    **{kind: _rebuilt(kind) for kind in (Batch, QueuedRun, Run, RunKey, Schedule, Shard, Window)},
}
