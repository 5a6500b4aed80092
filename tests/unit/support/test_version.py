"""`gazette --version`."""

import re
import socket
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gazette_cli.main import app
from gazette_cli.templates.deployed import release_here

ROOT = Path(__file__).parents[3]


def test_package_version_and_code_release_are_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without AWS: neither credentials nor a region, and no socket."""
    for variable in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(socket, "socket", None)
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.stderr) == (0, "")
    told = re.fullmatch(r"gazette (\S+) \(release ([0-9a-f]{64})\)\n", done.stdout)
    assert told
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert told[1] == project["version"]
    assert told[2] == release_here()


def test_command_group_without_a_subcommand_prints_its_help() -> None:
    done = CliRunner().invoke(app, [])
    assert done.exit_code == 2
    assert "--version" in done.output
    assert "overview" in done.output
