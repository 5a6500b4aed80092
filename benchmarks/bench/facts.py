"""The facts of a run: the time, the machine, the version of Python and the commit."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.bench.stage import ROOT


def facts(rounds: int) -> dict[str, str]:
    """Return the facts of a run that ends now. The commit is absent if git is unavailable."""
    known = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "rounds": str(rounds),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {_processor()}",
    }
    commit = commit_of(ROOT)
    return {**known, "commit": commit} if commit else known


def commit_of(folder: Path) -> str:
    """Return the commit of a checkout, with `-dirty` if a file differs, or an empty string."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        described = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return described.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "processor unknown"
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "processor unknown")
