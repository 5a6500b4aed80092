"""Commands that change a stage: each takes `--yes`, whether it asks or not."""

from collections.abc import Iterator

import pytest
import typer
from typer.core import TyperOption
from typer.testing import CliRunner

from gazette_cli.main import app
from gazette_cli.reference.page import commands
from gazette_cli.reference.permissions import PERMISSIONS
from gazette_cli.shared.commands import UnaskedChange

PATHS = {path: command for group in commands().values() for path, command in group.items()}

_READS = ("BatchGet", "Describe", "Get", "List", "Query", "Receive", "Scan")
_LOOKS = {"ChangeMessageVisibility"}
"""A message that was looked at is let go at once."""

SENDS_ONE_EMAIL = {"doctor", "send-test"}
"""Commands whose only effect is an email that was asked for by `--send`, or by an address."""

ASKS_BEFORE_IT_READS = {"find", "receipt"}


def changes(path: str) -> bool:
    """Whether a command needs a permission to change something."""
    actions = {action.partition(":")[2] for _, action in PERMISSIONS[path]} - _LOOKS
    return any(not action.startswith(_READS) for action in actions)


def options(path: str) -> Iterator[TyperOption]:
    for each in PATHS[path].params:
        if isinstance(each, TyperOption):
            yield each


def test_only_commands_that_change_a_stage_accept_the_yes_option() -> None:
    expected = {path for path in PATHS if changes(path)} - SENDS_ONE_EMAIL | ASKS_BEFORE_IT_READS
    assert {"sending resume", "quarantine redrive", "suppression import"} < expected
    assert {
        path for path in PATHS if any("--yes" in each.opts for each in options(path))
    } == expected


@pytest.mark.parametrize("path", [path for path in PATHS if changes(path)])
def test_yes_option_is_a_flag_with_a_uniform_help_text(path: str) -> None:
    for each in options(path):
        if "--yes" in each.opts:
            assert each.is_flag
            unasked = "Has no effect. Scripts can pass this option to every command."
            asked = "Do not ask for confirmation."
            assert each.help == (unasked if isinstance(PATHS[path], UnaskedChange) else asked)


def test_yes_option_is_ignored_by_commands_without_confirmation() -> None:
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
def test_misspelled_yes_option_is_rejected(path: str) -> None:
    """Without credentials: the command gets as far as its arguments."""
    told = CliRunner().invoke(app, [*path.split(), "--yess"])
    assert told.exit_code == 2
    assert "No such option" in told.output
