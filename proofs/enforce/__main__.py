"""`python -m proofs.enforce`, which records the calls of tests and of the deployed stacks, and
judges the policies by them."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from proofs.enforce.record import FOLDER, stages_in
from proofs.enforce.report import report_on
from proofs.enforce.stages import ROOT, synthesised

_TESTS = ("-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder", "tests/functions")
_DEPLOYED = ("-n", "1", "-m", "e2e", "tests/e2e")


def main() -> int:
    """Return 0 only if no call is denied and every grant is used."""
    parser = argparse.ArgumentParser(prog="make enforce", description=__doc__)
    parser.add_argument("--without-engine", action="store_true", help="only the functions' tests")
    parser.add_argument("--from", dest="folder", type=Path, help="judge what was recorded here")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = asked.folder or Path(made)
        stages = synthesised(stages_in(Path(made)))
        if not asked.folder:
            record(folder, *_TESTS)
            if not asked.without_engine:
                record(folder, *_DEPLOYED)
        report = report_on(stages, folder)
    for problem in report.problems:
        print(f"enforce: {problem}", file=sys.stderr)  # noqa: T201 -- what the command is for
    print(report)  # noqa: T201
    return 1 if report.problems else 0


def record(folder: Path, *tests: str) -> None:
    """Run tests that record their calls in `folder`. Raise SystemExit if a test fails."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *tests],
        cwd=ROOT,
        env={**os.environ, FOLDER: str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout[-4000:]}\nenforce: the tests failed, so there is no verdict")


if __name__ == "__main__":
    sys.exit(main())
