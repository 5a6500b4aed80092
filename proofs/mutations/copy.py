"""A copy of the project in which rules are removed and tests run."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from proofs.mutations.mutation import Mutation

ROOT = Path(__file__).parents[2]
PACKAGE = Path("layers/gazette/python")
_PACKAGES = (PACKAGE, Path("infra"), Path("cli"))
"""The folders of the packages that `make setup` installs."""

_LEFT_OUT = shutil.ignore_patterns(
    ".*", "build", "node_modules", "__pycache__", "*.egg-info", "cdk.out"
)
_CPU_SECONDS = 60
"""The CPU time of a test, by which a test that hangs is recognised even on a busy machine."""

_LONGEST = 20 * 60
"""The time in seconds after which a test that waits without CPU time is recognised."""

_FAILED = re.compile(r"^FAILED \S+?::(\w+)", re.MULTILINE)


def module_of(mutation: Mutation, project: Path) -> Path:
    """Return the file that a mutation changes, in a copy of the project."""
    is_of_command = mutation.path.startswith("cli/")
    return (project if is_of_command else project / PACKAGE / "gazette") / mutation.path


def without(mutation: Mutation, text: str) -> str:
    """Return the module's text without the rule.

    Raise LookupError unless the rule's text occurs exactly once.
    """
    found = text.count(mutation.old)
    if found != 1:
        raise LookupError(f"{mutation.path} has {mutation.old!r} {found} times, and not once.")
    return text.replace(mutation.old, mutation.new)


class Copy:
    """A copy of the project. Its tests import the copied package, not the installed one."""

    def __init__(self, into: Path) -> None:
        self._at = into / "project"
        shutil.copytree(ROOT, self._at, ignore=_LEFT_OUT)
        self._env = {
            **{name: value for name, value in os.environ.items() if "PYTEST" not in name},
            "PYTHONPATH": os.pathsep.join(str(self._at / each) for each in _PACKAGES),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        said = self._python("-c", "import gazette; print(gazette.__file__)").stdout.strip()
        if not Path(said).is_relative_to(self._at):
            raise RuntimeError(f"The tests would import {said}, which is not the copy.")

    def passes(self, tests: Sequence[str]) -> str:
        """Return pytest's output if a test fails with all rules in place, or an empty string."""
        done = self._pytest(*dict.fromkeys(tests))
        return "" if done.returncode == 0 else done.stdout

    def kills(self, mutation: Mutation) -> str:
        """Return the name of the test that fails or hangs without the rule, or an empty string.

        Raise LookupError unless the text to replace occurs exactly once.
        """
        path = module_of(mutation, self._at)
        text = path.read_text()
        path.write_text(without(mutation, text))
        try:
            done = self._pytest(mutation.test, is_limited=True)
        except subprocess.TimeoutExpired:
            return _endless(mutation)
        finally:
            path.write_text(text)
        if done.returncode == -signal.SIGXCPU:
            return _endless(mutation)
        failed = _FAILED.search(done.stdout)
        return failed[1] if done.returncode == 1 and failed else ""

    def _pytest(self, *tests: str, is_limited: bool = False) -> subprocess.CompletedProcess[str]:
        """Run the tests, within the limits of one test if `is_limited`.

        A run that exceeds the CPU time ends with SIGXCPU. Raises TimeoutExpired for a run that
        takes too long otherwise.
        """
        plain = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider")
        return self._python("-m", "pytest", *plain, *tests, is_limited=is_limited)

    def _python(
        self, *arguments: str, is_limited: bool = False
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self._at,
            env=self._env,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST if is_limited else None,
            preexec_fn=_limit_cpu if is_limited else None,
        )


def _limit_cpu() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS + 1))


def _endless(mutation: Mutation) -> str:
    return f"{mutation.test.rpartition('::')[2]}, which does not end"
