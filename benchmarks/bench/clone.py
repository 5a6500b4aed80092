"""A copy of the project's files, in which `make demo` runs as in a new clone.

The copy remains until the next run or `make clean`, because removing its 40,000 files can take
minutes.
"""

import filecmp
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from benchmarks.bench.stage import FOLDER, ROOT

FIRST_EMAIL = "the first email arrived"
ENGINE = "engine at"
_STOPS_WITHIN = 60
_REMOVED = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHONPATH", "VIRTUAL_ENV"}
"""Environment variables to remove, which belong to this run and its environments."""


def fresh_clone(folder: Path = FOLDER / "clone") -> Path:
    """Copy the project's files to an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in _files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    return folder


def current_clone(folder: Path = FOLDER / "clone") -> Path:
    """Return the existing copy with everything installed.

    Copy the files anew if the copy is absent or differs from the project.
    """
    if not all(_is_equal(ROOT / name, folder / name) for name in _files()):
        fresh_clone(folder)
    make = ["make", "setup", _python()]
    subprocess.run(make, cwd=folder, env=_environment(), stdout=subprocess.DEVNULL, check=True)
    return folder


def timed(clone: Path, name: str, *variables: str) -> dict[str, float]:
    """Run `make demo`, and write its output to `<name>.log`.

    Return the seconds until the demo started, until its first email, and until its end.
    """
    log = FOLDER / f"{name}.log"
    seconds: dict[str, float] = {}
    began = time.monotonic()
    with (
        log.open("w", buffering=1) as written,
        subprocess.Popen(
            ["make", "demo", _python(), *variables],  # noqa: S607 -- the make that runs this one
            cwd=clone,
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        try:
            for line in process.stdout or ():
                written.write(line)
                for event in (ENGINE, FIRST_EMAIL):
                    if event in line:
                        seconds.setdefault(event, time.monotonic() - began)
        except BaseException:
            process.terminate()  # make then ends the demo, which ends its own processes
            with suppress(subprocess.TimeoutExpired):
                process.wait(_STOPS_WITHIN)
            raise
    seconds["end"] = time.monotonic() - began
    if process.returncode or not {ENGINE, FIRST_EMAIL} <= seconds.keys():
        raise RuntimeError(f"`{' '.join(('make demo', *variables))}` failed; see {log}.")
    return seconds


def _files() -> list[str]:
    """Return the paths of the files that a new clone would have, and of files not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def _is_equal(one: Path, other: Path) -> bool:
    return other.is_file() and filecmp.cmp(one, other)


def _python() -> str:
    return f"PYTHON={Path(sys.base_prefix) / 'bin' / 'python3'}"


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _REMOVED}
