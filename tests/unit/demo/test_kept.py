"""The commands and example files for the stage that the demo keeps."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from demo.command import not_shown
from demo.engine import EngineError
from demo.kept import commands, example, running
from gazette_cli.main import app


def test_example_events_have_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "events.json"
    file.write_text(json.dumps(example(datetime.now(UTC))))
    done = CliRunner().invoke(app, ["event", "lint", str(file), "--stage", "local"])
    assert done.exit_code == 0, done.output
    assert len(done.stdout.splitlines()) == 3


def test_commands_are_paths_below_the_folder_of_the_demo() -> None:
    lines = [command for command, _ in commands(Path("build/demo"), "student7")]
    assert lines == [
        "build/demo/gazette explain student7 --stage local",
        "build/demo/publish build/demo/events.json",
        "build/demo/gazette templates push build/demo/templates --yes --stage local",
        "build/demo/next-day",
    ]


@pytest.mark.parametrize(
    ("check", "state", "is_shown"),
    [
        ("table Events", "expiry is None, not expires_at", False),
        ("table Events", "does not exist", True),
        ("identity digest@campus.example", "neither the address nor its domain", False),
        ("queue generate", "visibility timeout is 30, not 240", True),
    ],
)
def test_only_limits_of_the_emulator_are_marked(check: str, state: str, is_shown: bool) -> None:
    assert (not not_shown(check, state)) is is_shown


def test_command_without_a_running_demo_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="Start it with `make demo KEEP=1`"):
        running(tmp_path)
