"""Goals measured by other modules: rendering, cold starts, cost, and the demo from scratch."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from benchmarks import cold_start, rendering
from benchmarks.bench.goals import Measured, exact, number, ratio
from benchmarks.bench.stage import FOLDER, ROOT, BenchStage
from gazette_cli.cost.page import ALONE, MILLION, dollars
from gazette_cli.cost.prices import read_prices

_FIRST = "the first email arrived"
_BEGUN = "engine at"
_OURS = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHONPATH", "VIRTUAL_ENV"}
"""Prefixes of environment variables to remove, which belong to this run and its environments."""


def render(_: BenchStage, rounds: int) -> Mapping[str, Measured]:
    """Compare the rendering of an email with 35 groups, with a cold and a warm cache, with plain
    Jinja2.
    """
    found = rendering.measure(rounds)
    floor = found[rendering.FLOOR]
    ours = {rendering.COLD, rendering.WARM}
    peers = {name: each for name, each in found.items() if name not in ours}
    return {
        f"rendering-{name}": ratio(
            found[name], floor, peers=peers, how=f"{number(1000 * median(found[name]))} ms an email"
        )
        for name in (rendering.COLD, rendering.WARM)
    }


def cold(_: BenchStage, rounds: int) -> Mapping[str, Measured]:
    """Compare the CPU time of a cold start with that of a module that imports everything."""
    found = cold_start.measure(rounds)
    naive = found[cold_start.PEER]
    others = {name: found[name] for name in found if name not in {"generate", cold_start.PEER}}
    took = ", ".join(f"{name} {1000 * median(each):.0f} ms" for name, each in found.items())
    return {"cold": ratio(found["generate"], naive, peers=others, how=took)}


def bill(_: BenchStage, __: int) -> Mapping[str, Measured]:
    """Compute the variable cost of a million digests per month with `gazette cost`."""
    how = "computed by `gazette cost`: what grows with use, default settings"
    peers = {"SES itself": read_prices().plans["none"].of(1_000_000)}
    return {
        "bill-lists": exact(dollars(MILLION), peers=peers, how=how),
        "bill-singles": exact(dollars(ALONE), peers=peers, how=how),
    }


def demo(_: BenchStage, __: int) -> Mapping[str, Measured]:
    """Run `make demo` once in a copy of the project's files, including installation.

    Packages come from the machine's caches if available. The copy remains until the next run or
    `make clean`, because removing its 40,000 files can take minutes.
    """
    clone = FOLDER / "clone"
    shutil.rmtree(clone, ignore_errors=True)
    clone.mkdir(parents=True)
    _copy(clone)
    seconds = _timed(clone)
    how = f"including {number(seconds[_BEGUN])} s for installation; one run"
    return {
        "demo-first": exact(seconds[_FIRST], how=how),
        "demo-day": exact(seconds["end"], how=how),
    }


def _copy(clone: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)


def _timed(clone: Path) -> dict[str, float]:
    """Return the seconds until the demo started, until its first email, and until its end."""
    inherited = {name: value for name, value in os.environ.items() if name not in _OURS}
    python = Path(sys.base_prefix) / "bin" / "python3"
    began = time.monotonic()
    seconds: dict[str, float] = {}
    log = FOLDER / "demo.log"
    with (
        log.open("w", buffering=1) as written,
        subprocess.Popen(
            ["make", "demo", f"PYTHON={python}"],  # noqa: S607 -- the make that runs this one
            cwd=clone,
            env=inherited,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        for line in process.stdout or ():
            written.write(line)
            for said in (_BEGUN, _FIRST):
                if said in line:
                    seconds.setdefault(said, time.monotonic() - began)
    seconds["end"] = time.monotonic() - began
    if process.returncode or _FIRST not in seconds:
        raise RuntimeError(f"`make demo` failed; see {log.relative_to(ROOT)}.")
    return seconds
