"""Something happens in the middle of what a worker does: it dies, or another overtakes it."""

from collections.abc import Callable
from dataclasses import dataclass

from gazette.domain.errors import Unavailable


@dataclass
class Moments:
    """Counts the moments before and after each call of a port, and does `act` at one of them.

    `around` is for World.watched.
    """

    at: int
    act: Callable[[], object]

    def around(self, _: str, call: Callable[[], object]) -> object:
        """One call of a port, with a moment before and one after it."""
        self._pass_one()
        answer = call()
        self._pass_one()
        return answer

    def _pass_one(self) -> None:
        self.at -= 1
        if self.at == 0:
            self.act()


def die() -> None:
    """What a worker that dies does."""
    raise Unavailable("the worker died")
