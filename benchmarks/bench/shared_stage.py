"""The stage that the parts of a run share, which starts at its first use."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Self

from benchmarks.bench.stage import BenchStage


class StageError(Exception):
    """An error of a stage that did not start."""


class SharedStage:
    """A stage that starts when a part calls it.

    Parts that do not use the stage can therefore run even if the stage cannot start. After a failed
    start, each call raises StageError.
    """

    def __init__(self, start: Callable[[], AbstractContextManager[BenchStage]]) -> None:
        self._start = start
        self._running = ExitStack()
        self._stage: BenchStage | None = None
        self._error: StageError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._running.close()

    def __call__(self) -> BenchStage:
        """Return the running stage."""
        if self._error is not None:
            raise self._error
        if self._stage is None:
            try:
                self._stage = self._running.enter_context(self._start())
            except (Exception, SystemExit) as err:
                self._error = StageError(f"the stage did not start: {err!r}")
                raise self._error from err
        return self._stage
