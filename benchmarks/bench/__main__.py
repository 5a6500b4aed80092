"""The command `make bench`, which reports each speed and cost goal with its figure, peers and
verdict.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence

from benchmarks.bench.goals import Goal, Measured, Result
from benchmarks.bench.parts import PARTS, Part
from benchmarks.bench.reports import exit_status, show, summary, write
from benchmarks.bench.stage import FOLDER, BenchStage, stage
from benchmarks.bench.table import GOALS

_ROUNDS = 7


def main() -> int:
    """Measure the goals, print the results, and write them to build/bench.

    Return exit status 1 if a goal is missed beyond noise, or 2 if a part failed.
    """
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    names = sorted({*PARTS, *(goal.name for goal in GOALS)})
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="of each measurement")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", default=[])
    parser.add_argument("--without", action="append", choices=names, metavar="NAME", default=[])
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error("rounds must be 1 or more.")
    chosen = [goal for goal in GOALS if _is_chosen(goal, given.only, given.without)]
    parts = {name: part for name, part in PARTS.items() if name in {goal.part for goal in chosen}}
    with stage() as made:
        measured = measure(parts, made, given.rounds)
    results = judge(GOALS, chosen, measured)
    show(results)
    write(results, FOLDER, rounds=given.rounds)
    print("figures: build/bench/bench.json   plots: build/bench/index.html")
    print(summary(results))
    return exit_status(results)


def _is_chosen(goal: Goal, only: Sequence[str], without: Sequence[str]) -> bool:
    names = {goal.name, goal.part}
    return (not only or bool(names & {*only})) and not names & {*without}


def measure(parts: Mapping[str, Part], made: BenchStage, rounds: int) -> Mapping[str, Measured]:
    """Return the measurement of each goal.

    If a part raises an error, report the error and omit its goals.
    """
    measured: dict[str, Measured] = {}
    began = time.monotonic()
    for name, part in parts.items():
        try:
            measured.update(part(made, rounds))
        except Exception as err:  # noqa: BLE001 -- one part must not hide the figures of the others
            print(f"bench: {name} failed: {err!r}", file=sys.stderr, flush=True)
            continue
        print(f"{time.monotonic() - began:6.1f} s  {name}", file=sys.stderr, flush=True)
    return measured


def judge(
    goals: Sequence[Goal], chosen: Sequence[Goal], measured: Mapping[str, Measured]
) -> list[Result]:
    """Return the result of each goal. A chosen goal without a measurement counts as failed."""
    return [
        Result(goal, measured.get(goal.name), has_failed=goal.name not in measured)
        if goal in chosen
        else Result(goal, None)
        for goal in goals
    ]


if __name__ == "__main__":
    sys.exit(main())
