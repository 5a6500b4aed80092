"""What a process keeps: values that it reads at most once a minute, and what it builds once."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from enum import Enum
from functools import cache
from threading import Lock
from typing import Final, Generic, TypeVar

from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.ports.clock import Clock

ValueT = TypeVar("ValueT")

READ_INTERVAL = timedelta(minutes=1)
"""The shortest time between two reads of the source, whether it answers or not."""


class _Nothing(Enum):
    """A sentinel: no default is given. An enum, so that mypy can tell it from every value."""

    GIVEN = 0


_NOTHING: Final = _Nothing.GIVEN


class Cached(Generic[ValueT]):
    """Reads the value at once, and again when it is a minute old.

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
        self._tried_at = clock()
        try:
            self._value = read()
        except (Unavailable, UnreadableRow):
            if isinstance(default, _Nothing):
                raise
            self._value = default

    def get(self) -> ValueT:
        """The value, at most a minute old; older only if the source does not answer."""
        now = self._clock()
        if now - self._tried_at < READ_INTERVAL:
            return self._value
        self._tried_at = now
        with suppress(Unavailable, UnreadableRow):
            self._value = self._read()
        return self._value


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
