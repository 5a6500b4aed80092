"""Workers that take turns. Each stops before every call of a port and waits for an order."""

from collections.abc import Callable
from enum import Enum, auto
from threading import Semaphore, Thread

from gazette.domain.errors import Unavailable

from tests.world import Around


class Order(Enum):
    """An order for a worker that waits before a call."""

    MAKE = auto()
    LOSE_THE_ANSWER = auto()
    LOSE_THE_CALL = auto()
    DIE = auto()


class Died(BaseException):
    """The death of a worker. It is not an Exception, so that no code under test can catch it."""


class Worker:
    """One invocation in its own thread; only one thread runs at a time.

    `act` receives the function through which every call of a port goes. The history depends only on
    the orders, so the same orders always produce the same history.
    """

    def __init__(self, name: str, act: Callable[[Around], None]) -> None:
        self.name = name
        self.at = ""
        self.is_over = False
        self._act = act
        self._order = Order.MAKE
        self._is_dead = False
        self._error: BaseException | None = None
        self._go, self._stands = Semaphore(0), Semaphore(0)
        Thread(target=self._run, daemon=True).start()
        self._wait()

    def step(self, order: Order = Order.MAKE) -> None:
        """Make the pending call and run up to the next one."""
        if not self.is_over:
            self._order = order
            self._go.release()
            self._wait()

    def go_on(self, *, up_to: str = "") -> None:
        """Step until the worker waits before the call `up_to` or ends."""
        self.step()
        while not self.is_over and self.at != up_to:
            self.step()

    def _wait(self) -> None:
        self._stands.acquire()
        if self._error:
            raise self._error

    def _run(self) -> None:
        try:
            self._act(self._around)
        except Died:
            pass
        except BaseException as err:  # noqa: BLE001 -- raised again where the orders are given
            self._error = err
        finally:
            self.is_over = True
            self._stands.release()

    def _around(self, name: str, call: Callable[[], object]) -> object:
        if self._is_dead:
            raise Died
        self.at = name
        self._stands.release()
        self._go.acquire()
        order = self._order
        if order is Order.DIE:
            self._is_dead = True
            raise Died
        if order is Order.LOSE_THE_CALL:
            raise Unavailable(f"{name} was not reached.")
        answer = call()
        if order is Order.LOSE_THE_ANSWER:
            raise Unavailable(f"{name} did not answer.")
        return answer
