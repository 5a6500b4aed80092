"""Rules that are taken out of the code, to see that histories break without them."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from proofs.mutations.copy import PACKAGE, ROOT, without
from proofs.mutations.rules import RULES
from proofs.mutations.traces import PREVENTED

_BROKEN = "AssertionError: "
_ALL = {mutation.rule: mutation for mutation in (*RULES, *PREVENTED)}


def search_without(rule: str, examples: int) -> str:
    """What the search prints without the rule; it ends where a promise is broken, and says which.

    Without the rule and with it, as many `examples` are the same histories.
    """
    mutation = _ALL[rule]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / PACKAGE / "gazette", Path(folder) / "gazette")
        module = Path(folder) / "gazette" / mutation.path
        module.write_text(without(mutation, module.read_text()))
        done = subprocess.run(
            [sys.executable, "-m", "proofs.features", f"--examples={examples}", "--no-shrink"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"},
            capture_output=True,
            text=True,
            check=False,
        )
    broken = [line for line in done.stderr.splitlines() if line.startswith(_BROKEN)]
    if done.returncode and not broken:
        raise RuntimeError(done.stderr)
    return "\n".join([*broken[-1:], done.stdout.strip()])
