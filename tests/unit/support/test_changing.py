"""Commands that change a stage: each takes `--yes`, whether it asks or not."""

from collections.abc import Iterator

import pytest
import typer
from typer.core import TyperOption
from typer.testing import CliRunner

from cli.main import app
from cli.reference.page import commands
from cli.reference.permissions import PERMISSIONS
from cli.shared.commands import UnaskedChange

PATHS = {path: command for group in commands().values() for path, command in group.items()}

_READS = ("BatchGet", "Describe", "Get", "List", "Query", "Receive", "Scan")
_LOOKS = {"ChangeMessageVisibility"}
"""A message that was looked at is let go at once."""

SENDS_ONE_EMAIL = {"doctor", "send-test"}
"""Commands whose only effect is an email that was asked for by `--send`, or by an address."""

ASKS_BEFORE_IT_READS = {"find"}


def changes(path: str) -> bool:
    """Whether a command needs a permission to change something."""
    actions = {action.partition(":")[2] for _, action in PERMISSIONS[path]} - _LOOKS
    return any(not action.startswith(_READS) for action in actions)


def options(path: str) -> Iterator[TyperOption]:
    for each in PATHS[path].params:
        if isinstance(each, TyperOption):
            yield each


def test_exactly_the_commands_that_change_a_stage_take_yes() -> None:
    expected = {path for path in PATHS if changes(path)} - SENDS_ONE_EMAIL | ASKS_BEFORE_IT_READS
    assert {"sending resume", "quarantine redrive", "suppression import"} < expected
    assert {
        path for path in PATHS if any("--yes" in each.opts for each in options(path))
    } == expected


@pytest.mark.parametrize("path", [path for path in PATHS if changes(path)])
def test_yes_is_one_flag_that_says_whether_there_is_a_question(path: str) -> None:
    for each in options(path):
        if "--yes" in each.opts:
            assert each.is_flag
            unasked = "No effect; accepted so that scripts can pass it."
            asked = "Do not ask for confirmation."
            assert each.help == (unasked if isinstance(PATHS[path], UnaskedChange) else asked)


def test_yes_does_not_reach_a_command_that_has_no_use_for_it() -> None:
    probe = typer.Typer()
    said: list[str] = []

    @probe.command(cls=UnaskedChange)
    def resume(stage: str = "prod") -> None:
        """Resume."""
        said.append(stage)

    for given in ([], ["--yes"], ["--yes", "--stage", "test"], ["--json", "--yes"]):
        done = CliRunner().invoke(probe, given)
        assert done.exit_code == 0, done.output
    assert said == ["prod", "prod", "test", "prod"]


@pytest.mark.parametrize("path", [path for path in PATHS if changes(path)])
def test_yes_is_understood_and_a_misspelt_one_is_not(path: str) -> None:
    """Without credentials: the command gets as far as its arguments."""
    told = CliRunner().invoke(app, [*path.split(), "--yess"])
    assert told.exit_code == 2
    assert "No such option" in told.output
