"""`make bench`: every goal of speed and cost: its figure, its peers, and whether it is met."""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence

from benchmarks.bench.goals import Goal, Measured, Result, Verdict
from benchmarks.bench.parts import PARTS
from benchmarks.bench.reports import show, summary, write
from benchmarks.bench.stage import FOLDER, stage
from benchmarks.bench.table import GOALS

_ROUNDS = 7


def main() -> int:
    """Measure, print, and write build/bench. Exit status 1 if a goal is missed beyond noise."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    names = sorted({*PARTS, *(goal.name for goal in GOALS)})
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="of each measurement")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", default=[])
    parser.add_argument("--without", action="append", choices=names, metavar="NAME", default=[])
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error("rounds must be 1 or more.")
    chosen = [goal for goal in GOALS if _is_chosen(goal, given.only, given.without)]
    found = _measure({goal.part for goal in chosen}, given.rounds)
    results = [Result(goal, found[goal.name] if goal in chosen else None) for goal in GOALS]
    show(results)
    write(results, FOLDER, rounds=given.rounds)
    print("figures: build/bench/bench.json   plots: build/bench/index.html")
    print(summary(results))
    return 1 if any(result.verdict is Verdict.MISSED for result in results) else 0


def _is_chosen(goal: Goal, only: Sequence[str], without: Sequence[str]) -> bool:
    names = {goal.name, goal.part}
    return (not only or bool(names & {*only})) and not names & {*without}


def _measure(parts: set[str], rounds: int) -> Mapping[str, Measured]:
    found: dict[str, Measured] = {}
    began = time.monotonic()
    with stage() as made:
        for name, part in PARTS.items():
            if name in parts:
                try:
                    found.update(part(made, rounds))
                except Exception as err:  # noqa: BLE001 -- the figures of the others are shown
                    print(f"bench: {name} failed: {err}", file=sys.stderr, flush=True)
                    continue
                print(f"{time.monotonic() - began:6.1f} s  {name}", file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
