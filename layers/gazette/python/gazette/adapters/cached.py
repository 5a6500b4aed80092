"""What all workers go by, and look at now and then: a row or a few, which somebody may change."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Generic, TypeVar

from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.ports.outside import Clock

ValueT = TypeVar("ValueT")

CACHED_FOR = timedelta(minutes=1)
"""How long a worker goes by what it has read: so long after a change some do as before."""


class Cached(Generic[ValueT]):
    """What a worker knows, as soon as it begins. None fails for want of an answer.

    `read` may raise Unavailable or UnreadableRow; `unknown` is what holds until it answers for the
    first time.
    """

    def __init__(self, read: Callable[[], ValueT], *, unknown: ValueT, clock: Clock) -> None:
        self._read = read
        self._clock = clock
        self._known = unknown
        self._look()

    def known(self) -> ValueT:
        """As it was a minute ago at most; older where the table does not answer."""
        if self._clock() - self._asked_at > CACHED_FOR:
            self._look()
        return self._known

    def _look(self) -> None:
        self._asked_at = self._clock()
        with suppress(Unavailable, UnreadableRow):
            self._known = self._read()
