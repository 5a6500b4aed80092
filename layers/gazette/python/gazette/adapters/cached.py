"""What the threads of a process share: values that they read at most once a minute, what they
build once, and requests that they make together.
"""

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

AskedT = TypeVar("AskedT")
ItemT = TypeVar("ItemT")
ValueT = TypeVar("ValueT")

READ_INTERVAL = timedelta(minutes=1)
"""The shortest time between two reads of the source, whether it answers or not."""


class _Nothing(Enum):
    """A sentinel: no default is given. An enum, so that mypy can tell it from every value."""

    GIVEN = 0


_NOTHING: Final = _Nothing.GIVEN


class Cached(Generic[ValueT]):
    """Reads the value at once, and again when it is a minute old: one thread, and others wait.

    They must not go on with what they have: it may be older by all the time in which Lambda left
    the process idle.

    If the source does not answer (Unavailable) or has a row that cannot be read (UnreadableRow),
    the value stays as it is. If that happens on the first read, the value is `default`; without a
    default, the error is raised. All other errors of `read` are raised every time.
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
        self._looking = Lock()
        self._tried_at = clock()
        try:
            self._value = read()
        except (Unavailable, UnreadableRow):
            if isinstance(default, _Nothing):
                raise
            self._value = default

    def get(self) -> ValueT:
        """The value, at most a minute old; older only if the source does not answer."""
        with self._looking:
            now = self._clock()
            # A clock that was ahead and is set back must not make the value last longer.
            if not timedelta(0) <= now - self._tried_at < READ_INTERVAL:
                self._tried_at = now
                with suppress(Unavailable, UnreadableRow):
                    self._value = self._read()
            return self._value


def when_asked(
    read: Callable[[], ValueT], *, clock: Clock, default: ValueT
) -> Callable[[], ValueT]:
    """Returns what `Cached` would, read for the first time at the first question."""
    cached = once(lambda: Cached(read, clock=clock, default=default))
    return lambda: cached().get()


class once(Generic[ValueT]):  # noqa: N801 -- a decorator, used as functools.cache is
    """Returns what `build` returned first; if that raises, the next call builds again.

    `functools.cache` would build in each thread that asks before the first one has built.
    """

    def __init__(self, build: Callable[[], ValueT]) -> None:
        self._building = Lock()
        self._cached = cache(build)

    def __call__(self) -> ValueT:
        with self._building:
            return self._cached()

    def cache_clear(self) -> None:
        """Forget it: the next call builds anew."""
        self._cached.cache_clear()


class Coalescer:
    """Joins what the threads of one invocation ask at the same time into one request.

    A thread that asks waits until every other one asks too or has left, at most `patience` seconds.
    Then one of them makes the request for all that wait. So no answer is older than its question,
    and a thread that is held up holds up the others only for that long. Outside `side_by_side`
    everybody asks alone.
    """

    def __init__(self, *, patience: float = 0.25) -> None:
        self._patience = patience
        self._changed = Condition()
        self._members = 0
        self._busy = 0  # members that may still ask: they neither wait nor have left
        self._waiting: list[_Question[Any, Any]] = []

    def side_by_side(self, work: Callable[[ItemT], object], items: Sequence[ItemT]) -> None:
        """Call `work` for each item, in a thread of its own; return when all have ended.

        A single item needs no thread.
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
            except RuntimeError:  # the process may have no more threads
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
        """Inside, no other thread waits for this one, which waits for something else."""
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
        """Expect no question of this thread, which may be the one that the others wait for.

        One of those that wait makes their request: this one has no time for it.
        """
        with self._changed:
            self._busy -= 1
            if not self._busy:
                self._changed.notify_all()

    def ask(
        self,
        answer: Callable[[Sequence[AskedT]], Sequence[ValueT | Exception]],
        asked: AskedT,
    ) -> ValueT:
        """Return the answer to `asked`: `answer` gets all that is asked of it, in any order.

        Questions to the same `answer`, such as a method of one object, go into one call, which
        returns as many answers in the same order. An answer that is an exception is raised by the
        thread that asked for it. If the call itself raises, all that asked raise.
        """
        if not self._members:
            return _raised_or_returned(answer([asked])[0])
        question = _Question(answer, asked)
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
        """All that wait, for one thread to answer."""
        taken, self._waiting = self._waiting, []
        for question in taken:
            question.is_taken = True
        self._changed.notify_all()
        return taken

    def _answer(self, together: "Sequence[_Question[Any, Any]]") -> None:
        by_source: dict[Any, list[_Question[Any, Any]]] = {}
        for question in together:
            by_source.setdefault(question.source, []).append(question)
        for source, questions in by_source.items():
            try:
                answers = source([question.asked for question in questions])
                for question, each in zip(questions, answers, strict=True):
                    question.answer = each
            except BaseException as err:  # noqa: BLE001 -- raised by each that asked
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
class _Question(Generic[AskedT, ValueT]):
    source: Callable[[Sequence[AskedT]], Sequence[ValueT | Exception]]
    asked: AskedT
    answer: ValueT | BaseException | None = None
    is_taken: bool = False
    is_answered: bool = False


ALONE: Final = Coalescer()
"""For a process that handles one thing after the other."""
