"""The command `make bench`, which reports each speed and cost goal with its figure, peers and
verdict.
"""

import argparse
import sys
from collections.abc import Sequence

from benchmarks.bench.goals import Goal
from benchmarks.bench.parts import PARTS
from benchmarks.bench.reports import exit_status, report
from benchmarks.bench.running import Run, judge, measure, one_interrupt
from benchmarks.bench.stage import FOLDER, stage
from benchmarks.bench.table import GOALS

_ROUNDS = 7
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the goals, print the results, and write them to build/bench.

    Return exit status 1 if a goal is missed beyond noise, 2 if a part failed or a file was not
    written, or 130 if the run was interrupted.
    """
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    names = sorted({*PARTS, *(goal.name for goal in GOALS)})
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="of each measurement")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", default=[])
    parser.add_argument("--without", action="append", choices=names, metavar="NAME", default=[])
    given = parser.parse_args(arguments)
    if given.rounds < 1:
        parser.error("rounds must be 1 or more.")
    chosen = [goal for goal in GOALS if _is_chosen(goal, given.only, given.without)]
    parts = {name: part for name, part in PARTS.items() if name in {goal.part for goal in chosen}}
    run = Run()
    with one_interrupt() as ignore_interrupts:
        try:
            FOLDER.mkdir(parents=True, exist_ok=True)
            measure(parts, stage, given.rounds, run)
            ignore_interrupts()
        except KeyboardInterrupt:
            run.is_interrupted = True
            print("bench: interrupted", file=sys.stderr, flush=True)
        results = judge(GOALS, chosen, run)
        is_complete = report(results, FOLDER, rounds=given.rounds)
    return _INTERRUPTED if run.is_interrupted else exit_status(results, is_complete=is_complete)


def _is_chosen(goal: Goal, only: Sequence[str], without: Sequence[str]) -> bool:
    names = {goal.name, goal.part}
    return (not only or bool(names & {*only})) and not names & {*without}


if __name__ == "__main__":
    sys.exit(main())
