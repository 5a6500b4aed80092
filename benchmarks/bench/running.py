"""A run of the benchmark: its parts, their errors, and an interruption."""

import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from benchmarks.bench.goals import Goal, Measured, Result
from benchmarks.bench.parts import Part
from benchmarks.bench.shared_stage import SharedStage
from benchmarks.bench.stage import BenchStage

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass
class Run:
    """The measurements of a run by goal, and the errors by part."""

    measured: dict[str, Measured] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    is_interrupted: bool = False


@contextmanager
def one_interrupt() -> Iterator[Callable[[], None]]:
    """Raise KeyboardInterrupt at the first SIGINT or SIGTERM, and ignore later ones.

    Yield a function that ignores all of them from then on.
    """
    before = {each: signal.getsignal(each) for each in _SIGNALS}

    def ignore() -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)

    def interrupt(*_: object) -> None:
        ignore()
        raise KeyboardInterrupt

    try:
        for each in _SIGNALS:
            signal.signal(each, interrupt)
        yield ignore
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def measure(
    parts: Mapping[str, Part],
    start: Callable[[], AbstractContextManager[BenchStage]],
    rounds: int,
    run: Run,
) -> None:
    """Add the measurements of the parts to the run.

    An error of a part or of the stage does not prevent the other parts.
    """
    began = time.monotonic()
    try:
        with SharedStage(start) as stage:
            for name, part in parts.items():
                try:
                    run.measured.update(part(stage, rounds))
                except (Exception, SystemExit) as err:  # noqa: BLE001 -- the other parts must run
                    run.errors[name] = repr(err)
                    _report(f"bench: {name} failed: {err!r}")
                else:
                    _report(f"{time.monotonic() - began:6.1f} s  {name}")
    except Exception as err:  # noqa: BLE001 -- the figures are complete
        _report(f"bench: the stage did not end properly: {err!r}")


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def judge(goals: Sequence[Goal], chosen: Sequence[Goal], run: Run) -> list[Result]:
    """Return the result of each goal.

    A chosen goal without a measurement counts as failed, or as not run if the run was interrupted
    before its part ended.
    """
    return [_judged(goal, run, is_chosen=goal in chosen) for goal in goals]


def _judged(goal: Goal, run: Run, *, is_chosen: bool) -> Result:
    if not is_chosen:
        return Result(goal, None, why="not selected")
    if goal.name in run.measured:
        return Result(goal, run.measured[goal.name])
    if goal.part in run.errors:
        return Result(goal, None, has_failed=True, why=run.errors[goal.part])
    if run.is_interrupted:
        return Result(goal, None, why="interrupted")
    return Result(goal, None, has_failed=True, why=f"{goal.part} did not measure this goal")
