"""A new project has the CDK's command with which Gazette is tested, and installs it first."""

import json
from pathlib import Path

import pytest

from gazette_cli.init.files import Project, files
from tests.conftest import ROOT

_FILES = files(
    Project(
        name="shop",
        sender="Shop <digest@shop.example>",
        list_id="digest.shop.example",
        alarm_email="none",
    )
)


def test_project_pins_the_tested_command_of_the_cdk() -> None:
    tested = json.loads((ROOT / "package.json").read_text())["devDependencies"]["aws-cdk"]
    pinned = json.loads(_FILES[Path("package.json")])["devDependencies"]
    assert pinned == {"aws-cdk": tested}


@pytest.mark.parametrize("name", ["README.md", ".github/workflows/deploy.yml"])
def test_project_installs_the_command_before_its_use(name: str) -> None:
    text = _FILES[Path(name)]
    assert 0 < text.index("npm install") < text.index("npx cdk")
