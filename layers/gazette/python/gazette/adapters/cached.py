"""Tools shared by a process's threads: cached values, objects built once, and batched requests."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from functools import cache
from threading import Condition, Lock, Thread
from typing import Any, Final, Generic, TypeVar, cast

from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.ports.clock import Clock

RequestT = TypeVar("RequestT")
ItemT = TypeVar("ItemT")
ValueT = TypeVar("ValueT")

READ_INTERVAL = timedelta(minutes=1)
"""The minimum time between two reads of the source, whether or not a read succeeds."""


class _Nothing(Enum):
    """A sentinel for a missing default.

    It is an enum so that mypy can distinguish it from any value.
    """

    GIVEN = 0


_NOTHING: Final = _Nothing.GIVEN


class Cached(Generic[ValueT]):
    """A cached value. It is read when the object is created, and re-read once it is a minute old.

    Only one thread reads the value at a time, while other threads wait. They must not use the old
    value, which may be much older than a minute if Lambda froze the process.

    If the source does not respond (Unavailable) or has an unreadable row (UnreadableRow), the value
    does not change. If that happens on the first read, the value is `default`; without a default,
    the error is raised. All other errors of `read` are always raised.
    """

    def __init__(
        self,
        read: Callable[[], ValueT],
        *,
        clock: Clock,
        default: ValueT | _Nothing = _NOTHING,
    ) -> None:
        self._read = read
        self._clock = clock
        self._reading = Lock()
        self._tried_at = clock()
        try:
            self._value = read()
        except (Unavailable, UnreadableRow):
            if isinstance(default, _Nothing):
                raise
            self._value = default

    def get(self) -> ValueT:
        """Return the value, which is at most a minute old unless the source does not respond."""
        with self._reading:
            now = self._clock()
            # The first comparison: a clock that was ahead and is corrected must not extend the
            # value's life.
            if not timedelta(0) <= now - self._tried_at < READ_INTERVAL:
                self._tried_at = now
                with suppress(Unavailable, UnreadableRow):
                    self._value = self._read()
            return self._value


def when_asked(
    read: Callable[[], ValueT], *, clock: Clock, default: ValueT
) -> Callable[[], ValueT]:
    """Return a function that returns the value of a `Cached`, which is created at the first
    call.
    """
    cached = once(lambda: Cached(read, clock=clock, default=default))
    return lambda: cached().get()


class once(Generic[ValueT]):  # noqa: N801 -- a decorator, used as functools.cache is
    """A decorator that caches the result of `build`. If `build` raises, the next call retries.

    With `functools.cache` alone, threads that call at the same time would each build the value.
    """

    def __init__(self, build: Callable[[], ValueT]) -> None:
        self._building = Lock()
        self._cached = cache(build)

    def __call__(self) -> ValueT:
        with self._building:
            return self._cached()

    def cache_clear(self) -> None:
        """Discard the cached value. The next call builds a new value."""
        self._cached.cache_clear()


class Coalescer:
    """A coordinator that combines the requests of an invocation's threads into one request.

    A requesting thread waits, at most `patience` seconds, until every other thread has also made a
    request or has finished. Then one thread sends the joint request. So no response is older than
    its request, and a slow thread delays the request for at most `patience` seconds. Outside
    `side_by_side`, each thread sends its own request.
    """

    def __init__(self, *, patience: float = 0.25) -> None:
        self._patience = patience
        self._changed = Condition()
        self._members = 0
        # Members that may still make a request, because they neither wait nor have left.
        self._busy = 0
        self._waiting: list[_Question[Any, Any]] = []

    def side_by_side(self, work: Callable[[ItemT], object], items: Sequence[ItemT]) -> None:
        """Call `work` for each item in a separate thread. Return when all threads have ended.

        A single item is processed in the calling thread.
        """
        if len(items) == 1:
            work(items[0])
            return
        with self._changed:
            self._members += len(items)
            self._busy += len(items)
        threads = [Thread(target=self._working, args=(work, item)) for item in items]
        started = []
        for thread, item in zip(threads, items, strict=True):
            try:
                thread.start()
            except RuntimeError:  # the process has reached its thread limit
                self._working(work, item)
            else:
                started.append(thread)
        for thread in started:
            thread.join()

    def _working(self, work: Callable[[ItemT], object], item: ItemT) -> None:
        try:
            work(item)
        finally:
            with self._changed:
                self._members -= 1
            self._step_aside()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Stop other threads from waiting for this thread's request inside a `with` block."""
        if not self._members:
            yield
            return
        self._step_aside()
        try:
            yield
        finally:
            with self._changed:
                self._busy += 1

    def _step_aside(self) -> None:
        """Stop other threads from waiting for this thread's request.

        If they were waiting only for this thread, one of them sends the joint request.
        """
        with self._changed:
            self._busy -= 1
            if not self._busy:
                self._changed.notify_all()

    def ask(
        self,
        answer: Callable[[Sequence[RequestT]], Sequence[ValueT | Exception]],
        request: RequestT,
    ) -> ValueT:
        """Return the response to `request`.

        All requests with the same `answer` function are combined into one call, in any order.
        `answer` may be a method of an object. It returns the responses in the order of its
        requests. If a response is an exception, it is raised in the requesting thread. If the call
        itself raises, all requesting threads raise the exception.
        """
        if not self._members:
            return _raised_or_returned(answer([request])[0])
        question = _Question(answer, request)
        with self._changed:
            self._waiting.append(question)
            self._busy -= 1
            self._changed.wait_for(lambda: question.is_taken or not self._busy, self._patience)
            together = () if question.is_taken else self._taken()
        self._answer(together)
        with self._changed:
            self._changed.wait_for(lambda: question.is_answered)
        return cast("ValueT", _raised_or_returned(question.answer))

    def _taken(self) -> "Sequence[_Question[Any, Any]]":
        """Return all waiting requests and mark them as taken. The calling thread must send them."""
        questions, self._waiting = self._waiting, []
        for question in questions:
            question.is_taken = True
        self._changed.notify_all()
        return questions

    def _answer(self, together: "Sequence[_Question[Any, Any]]") -> None:
        by_source: dict[Any, list[_Question[Any, Any]]] = {}
        for question in together:
            by_source.setdefault(question.source, []).append(question)
        for source, questions in by_source.items():
            try:
                answers = source([question.request for question in questions])
                for question, each in zip(questions, answers, strict=True):
                    question.answer = each
            except BaseException as err:  # noqa: BLE001 -- raised in each requesting thread
                for question in questions:
                    question.answer = err
            with self._changed:
                self._busy += len(questions)
                for question in questions:
                    question.is_answered = True
                self._changed.notify_all()


def _raised_or_returned(answer: ValueT | BaseException) -> ValueT:
    if isinstance(answer, BaseException):
        raise answer
    return answer


@dataclass(slots=True, eq=False)
class _Question(Generic[RequestT, ValueT]):
    source: Callable[[Sequence[RequestT]], Sequence[ValueT | Exception]]
    request: RequestT
    answer: ValueT | BaseException | None = None
    is_taken: bool = False
    is_answered: bool = False


ALONE: Final = Coalescer()
"""A coalescer for a process that handles one item at a time."""
