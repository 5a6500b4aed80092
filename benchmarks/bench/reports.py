"""The results of a run as a table in the terminal, as JSON and as a page."""

import json
import os
import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.bench.goals import Measured, Result, Verdict, number
from benchmarks.bench.page import page

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


def exit_status(results: Sequence[Result]) -> int:
    """Return 2 if a part failed, else 1 if a goal is missed beyond noise, else 0."""
    verdicts = {result.verdict for result in results}
    return 2 if Verdict.FAILED in verdicts else int(Verdict.MISSED in verdicts)


def show(results: Sequence[Result]) -> None:
    """Print the table."""
    table = Table(title="Goals of speed and cost", show_lines=True)
    for column in ("goal", "wanted", "figure", "quartiles", "peers, and how", ""):
        table.add_column(column, overflow="fold")
    for result in results:
        colour = _COLOURS.get(result.verdict, "dim")
        verdict = f"[{colour}]{result.verdict}[/]"
        table.add_row(result.goal.says, result.goal.wanted, *_cells(result.measured), verdict)
    Console(highlight=False).print(table)


def _cells(measured: Measured | None) -> tuple[str, str, str]:
    if measured is None:
        return "", "", ""
    noise = f"{number(measured.low)} to {number(measured.high)}"
    peers = "\n".join(f"{name} {number(value)}" for name, value in measured.peers.items())
    return number(measured.figure), noise, "\n".join(filter(None, (peers, measured.how)))


def write(results: Sequence[Result], folder: Path, *, rounds: int) -> None:
    """Write `bench.json` and `index.html`."""
    about = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "rounds": str(rounds),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {_processor()}",
    }
    goals = [
        {
            **asdict(result.goal),
            "measured": asdict(result.measured) if result.measured else None,
            "verdict": result.verdict,
        }
        for result in results
    ]
    text = json.dumps({**about, "goals": goals}, indent=2, ensure_ascii=False)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.json").write_text(text + "\n", encoding="utf-8")
    (folder / "index.html").write_text(page(results, about, summary(results)), encoding="utf-8")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "processor unknown"
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "processor unknown")
