"""A copy of the project in which rules are taken out, and tests are run against it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from proofs.mutations.mutation import Mutation

ROOT = Path(__file__).parents[2]
PACKAGE = Path("layers/gazette/python")

_LEFT_OUT = shutil.ignore_patterns(
    ".*", "build", "node_modules", "__pycache__", "*.egg-info", "cdk.out"
)
_LONGEST = 120
_FAILED = re.compile(r"^FAILED \S+?::(\w+)", re.MULTILINE)


def module_of(mutation: Mutation, project: Path) -> Path:
    """The file that a mutation changes, below a copy of the project."""
    is_of_command = mutation.path.startswith("cli/")
    return (project if is_of_command else project / PACKAGE / "gazette") / mutation.path


def without(mutation: Mutation, text: str) -> str:
    """The module of a mutation without its rule. Raises LookupError where it is not there once."""
    found = text.count(mutation.old)
    if found != 1:
        raise LookupError(f"{mutation.path} has {mutation.old!r} {found} times, and not once.")
    return text.replace(mutation.old, mutation.new)


class Copy:
    """What is imported there is imported from there, and not from where it was installed."""

    def __init__(self, into: Path) -> None:
        self._at = into / "project"
        shutil.copytree(ROOT, self._at, ignore=_LEFT_OUT)
        self._env = {
            **{name: value for name, value in os.environ.items() if "PYTEST" not in name},
            "PYTHONPATH": str(self._at / PACKAGE),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        said = self._python("-c", "import gazette; print(gazette.__file__)").stdout.strip()
        if not Path(said).is_relative_to(self._at):
            raise RuntimeError(f"The tests would import {said}, which is not the copy.")

    def passes(self, tests: Sequence[str]) -> str:
        """What pytest says where a test fails although no rule was taken out; else nothing."""
        done = self._pytest(*dict.fromkeys(tests))
        return "" if done.returncode == 0 else done.stdout

    def kills(self, mutation: Mutation) -> str:
        """The name of the test that fails or never ends without the rule; empty where none does.

        Raises LookupError where what is to be replaced is not there exactly once.
        """
        path = module_of(mutation, self._at)
        text = path.read_text()
        path.write_text(without(mutation, text))
        try:
            done = self._pytest(mutation.test, within=_LONGEST)
        except subprocess.TimeoutExpired:
            return f"{mutation.test.rpartition('::')[2]}, which does not end"
        finally:
            path.write_text(text)
        failed = _FAILED.search(done.stdout)
        return failed[1] if done.returncode == 1 and failed else ""

    def _pytest(self, *tests: str, within: int | None = None) -> subprocess.CompletedProcess[str]:
        """Raises TimeoutExpired where they take longer than `within` seconds."""
        plain = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider")
        return self._python("-m", "pytest", *plain, *tests, within=within)

    def _python(
        self, *arguments: str, within: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self._at,
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
            timeout=within,
        )
