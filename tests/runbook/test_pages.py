"""Each command of the runbook is run as it is printed, and does what its page says.

Bash runs all of them, zsh those pages of which it might make something else.
"""

import os
import re
import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.runbook.pages import PAGES, Command, commands
from tests.runbook.scenarios import scenario_of
from tests.runbook.state import State

_WITHIN = 120
"""Seconds."""

BASH = ("bash", "-o", "pipefail")
ZSH = ("zsh", "--no-rcs", "-o", "pipefail")

_LONG = {
    *("account-paused", "bad-deployment", "bad-template", "bounce-rate", "category-held"),
    *("complaint-rate", "dead-letters", "failed-not-empty", "keys-of-links", "restore"),
}
"""The pages whose commands take most of the time. They need emails or a deployment."""

_SHELLS = [
    pytest.param(
        page,
        shell,
        id=f"{page.stem}-{shell[0]}",
        marks=[pytest.mark.long] if page.stem in _LONG else [],
    )
    for page in PAGES
    for shell in (BASH, ZSH)
    if shell is BASH or any(command.is_expanded for command in commands(page))
]

_TROUBLE = re.compile(r"^(gazette: |Traceback|An error occurred)", re.MULTILINE)
"""A line that no command prints while all is well, whatever its exit code."""


def run(
    command: Command, state: State, *, shell: tuple[str, ...] = BASH
) -> subprocess.CompletedProcess[str]:
    """In a folder like that of the project, and confirmed where it asks."""
    return subprocess.run(
        [*shell, "-c", f"{command.given}{command.text}"],
        cwd=state.folder,
        env={
            **os.environ,
            **state.deployed.engine.environment,
            "PATH": os.pathsep.join((str(state.commands), os.environ["PATH"])),
            "AWS_PAGER": "",
            "BROWSER": "true",  # a program that does nothing
        },
        input="y\n",
        capture_output=True,
        text=True,
        timeout=_WITHIN,
        check=False,
    )


@pytest.mark.parametrize(("page", "shell"), _SHELLS)
def test_every_command_of_a_runbook_page_works(
    page: Path, shell: tuple[str, ...], state: State
) -> None:
    assert shutil.which(shell[0]), f"{shell[0]} is missing: make zsh installs it where apt is"
    for command in commands(page):
        if command.why_not:
            continue
        scenario = scenario_of(command.bare)
        said = ""
        try:
            with scenario(state) if scenario else nullcontext():
                done = run(command, state, shell=shell)
                said = f"{done.stdout}{done.stderr}".strip()
                assert not done.returncode, f"it exits with {done.returncode}"
                assert not _TROUBLE.search(said), "it says that something is wrong"
        except AssertionError as err:
            pytest.fail(f"{command}\n{err}\nIt said: {said[-2000:]}", pytrace=False)
