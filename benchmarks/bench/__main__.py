"""`make bench`: every goal of speed and cost: its figure, its peer, and whether it is met."""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table

from benchmarks.bench.goals import GOALS, Goal, Measured, Result, Verdict, number
from benchmarks.bench.parts import PARTS
from benchmarks.bench.stage import FOLDER, stage

_ROUNDS = 7
_COLOURS = {Verdict.MET: "green", Verdict.MISSED: "red", Verdict.WITHIN_NOISE: "yellow"}


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
    results = [Result(goal, found.get(goal.name) if goal in chosen else None) for goal in GOALS]
    _print(results)
    _write(results, given.rounds)
    counted = Counter(result.verdict for result in results)
    missed = counted[Verdict.MISSED] + counted[Verdict.WITHIN_NOISE]
    print(
        f"bench: goals={len(results)} met={counted[Verdict.MET]} missed={missed} "
        f"within_noise={counted[Verdict.WITHIN_NOISE]} not_run={counted[Verdict.NOT_RUN]}"
    )
    return 1 if counted[Verdict.MISSED] else 0


def _is_chosen(goal: Goal, only: Sequence[str], without: Sequence[str]) -> bool:
    names = {goal.name, goal.part}
    return (not only or bool(names & {*only})) and not names & {*without}


def _measure(parts: set[str], rounds: int) -> Mapping[str, Measured]:
    found: dict[str, Measured] = {}
    began = time.monotonic()
    with stage() as made:
        for name, part in PARTS.items():
            if name in parts:
                found.update(part(made, rounds))
                print(f"{time.monotonic() - began:6.1f} s  {name}", file=sys.stderr, flush=True)
    return found


def _print(results: Sequence[Result]) -> None:
    table = Table(title="Goals of speed and cost")
    for column in ("goal", "wanted", "figure", "quartiles", "peer", ""):
        table.add_column(column, overflow="fold")
    for result in results:
        colour = _COLOURS.get(result.verdict, "")
        verdict = f"[{colour}]{result.verdict}[/]" if colour else str(result.verdict)
        table.add_row(result.goal.says, result.goal.wanted, *_cells(result.measured), verdict)
    Console(highlight=False).print(table)


def _cells(measured: Measured | None) -> tuple[str, str, str]:
    if measured is None:
        return "", "", ""
    noise = f"{number(measured.low)} to {number(measured.high)}"
    return number(measured.figure), noise, measured.peer


def _write(results: Sequence[Result], rounds: int) -> None:
    report = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "rounds": rounds,
        "goals": [
            {
                **asdict(result.goal),
                "measured": asdict(result.measured) if result.measured else None,
                "verdict": result.verdict,
            }
            for result in results
        ],
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, indent=2, ensure_ascii=False)
    (FOLDER / "bench.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
