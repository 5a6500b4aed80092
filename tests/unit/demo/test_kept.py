"""The commands and example files for the stage that the demo keeps."""

import json
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import Mock

import pytest
from typer.testing import CliRunner

from demo.engine import EngineError
from demo.kept import commands, example, publish, running
from demo.service import Service
from gazette_cli.doctor.findings import not_shown
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


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "is not JSON"),
        ("[7]", "Entry 0 of .* is not an object with Detail, DetailType, Source"),
        ('[{"Source": "a", "Detail": {}}]', "Entry 0 of .* is not an object with"),
        (
            '{"Source": "a", "DetailType": "event.created", "Detail": {"user": "ann"}}',
            r"detail\.user: unknown field; check the spelling",
        ),
        ('{"Source": "a", "DetailType": "event.made", "Detail": {}}', "detail-type: 'event.made'"),
    ],
)
def test_invalid_file_of_events_publishes_nothing(tmp_path: Path, content: str, says: str) -> None:
    file = tmp_path / "events.json"
    file.write_text(content)
    bus = Mock()
    service = Service("gazette", bus, *[Mock() for _ in range(4)])
    with pytest.raises(EngineError, match=says):
        publish(service, file)
    assert bus.put_events.call_count == 0


def test_command_without_a_running_demo_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="Start it with `make demo KEEP=1`"):
        running(tmp_path)
