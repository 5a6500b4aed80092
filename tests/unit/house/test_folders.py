"""Tests of the folder of Gazette, and of the project that deploys Gazette."""

import json
from pathlib import Path

import pytest

from gazette_cdk.folders import GAZETTE, context, project
from gazette_cli.shared.console import NotPossible
from gazette_cli.shared.stages import stage_of

ROOT = Path(__file__).parents[3]


def test_checkout_is_the_folder_of_gazette() -> None:
    assert GAZETTE == ROOT
    for own in ("functions", "layers", "templates"):
        assert (GAZETTE / own).is_dir()


def test_project_is_the_nearest_folder_with_stages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"stages": {"prod": {}}}}))
    monkeypatch.chdir(below)
    assert project() == tmp_path
    assert context() == {"stages": {"prod": {}}}


@pytest.mark.parametrize(
    "other",
    ["{", "[]", '"text"', "null", '{"context": []}', '{"context": {"vpc": "vpc-1"}}', "{}", "\xff"],
)
def test_checkout_is_the_project_beside_another_cdk_json(
    other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cdk.json of another app is ignored, so that `gazette` works from any folder."""
    (tmp_path / "cdk.json").write_text(other, encoding="latin-1")
    monkeypatch.chdir(tmp_path)
    assert project() == ROOT


def test_project_does_not_depend_on_the_folder_of_gazette(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert project() == GAZETTE


def test_json_in_gazette_toml_is_refused_with_the_form_of_toml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "gazette.toml"
    file.write_text('[test]\n"services_api": {"requests_per_second": 50}\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotPossible) as caught:
        stage_of("test")
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{file} is not TOML: Expected '=' after a key")
    assert "such as services_api = { requests_per_second = 50 } instead of" in line
