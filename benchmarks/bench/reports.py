"""The results of a run as a table in the terminal, as JSON, as a page and in the history."""

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.bench import history
from benchmarks.bench.facts import facts
from benchmarks.bench.goals import Result, Verdict, number
from benchmarks.bench.history import History
from benchmarks.bench.page import page

HISTORY = "history.jsonl"
_COLOURS = {
    Verdict.MET: "green",
    Verdict.MISSED: "red",
    Verdict.WITHIN_NOISE: "yellow",
    Verdict.FAILED: "red",
}


def summary(results: Sequence[Result]) -> str:
    """Return the last line of a run. A goal that is missed within noise counts as missed."""
    counted = Counter(result.verdict for result in results)
    missed = counted[Verdict.MISSED] + counted[Verdict.WITHIN_NOISE]
    return (
        f"bench: goals={len(results)} met={counted[Verdict.MET]} missed={missed} "
        f"within_noise={counted[Verdict.WITHIN_NOISE]} not_run={counted[Verdict.NOT_RUN]} "
        f"failed={counted[Verdict.FAILED]}"
    )


def exit_status(results: Sequence[Result], *, is_complete: bool = True) -> int:
    """Return 2 if a part failed or a report is incomplete, else 1 if a goal is missed beyond noise,
    else 0.
    """
    verdicts = {result.verdict for result in results}
    if Verdict.FAILED in verdicts or not is_complete:
        return 2
    return int(Verdict.MISSED in verdicts)


def report(results: Sequence[Result], folder: Path, *, rounds: int) -> bool:
    """Write the files, print the table, and print the summary as the last line.

    An error of one of these does not prevent the others. Return False if there was one.
    """
    about = facts(rounds)
    path = folder / HISTORY
    earlier = history.read(path, about["machine"])
    for note in earlier.notes:
        _report(f"bench: {note}")
    steps: dict[str, Callable[[], None]] = {
        "bench.json": partial(write_figures, results, folder, about),
        "index.html": partial(write_page, results, folder, about, earlier),
        HISTORY: partial(history.append, path, results, about),
        "the table": partial(show, results),
    }
    is_complete = True
    for name, act in steps.items():
        try:
            act()
        except Exception as err:  # noqa: BLE001 -- the other reports must be written
            is_complete = False
            _report(f"bench: {name} is incomplete: {err!r}")
    print("figures: build/bench/bench.json   plots: build/bench/index.html")
    print(summary(results), flush=True)
    return is_complete


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def show(results: Sequence[Result]) -> None:
    """Print the table."""
    table = Table(title="Goals of speed and cost", show_lines=True)
    for column in ("goal", "wanted", "figure", "noise", "peers, and how", ""):
        table.add_column(column, overflow="fold")
    for result in results:
        colour = _COLOURS.get(result.verdict, "dim")
        verdict = f"[{colour}]{result.verdict}[/]"
        cells = (result.goal.says, result.goal.wanted, *_cells(result))
        table.add_row(*map(escape, cells), verdict)
    Console(highlight=False).print(table)


def _cells(result: Result) -> tuple[str, str, str]:
    measured = result.measured
    if measured is None:
        return "", "", result.why
    peers = "\n".join(f"{name} {number(value)}" for name, value in measured.peers.items())
    text = "\n".join(filter(None, (peers, measured.how)))
    return number(measured.figure), measured.noise_text, text


def write_figures(results: Sequence[Result], folder: Path, about: Mapping[str, str]) -> None:
    """Write `bench.json`."""
    goals = [
        {
            **asdict(result.goal),
            "measured": asdict(result.measured) if result.measured else None,
            "verdict": result.verdict,
            "why": result.why,
        }
        for result in results
    ]
    text = json.dumps({**about, "goals": goals}, indent=2, ensure_ascii=False)
    (folder / "bench.json").write_text(text + "\n", encoding="utf-8")


def write_page(
    results: Sequence[Result], folder: Path, about: Mapping[str, str], earlier: History
) -> None:
    """Write `index.html`."""
    text = page(results, about, summary(results), earlier)
    (folder / "index.html").write_text(text, encoding="utf-8")
