"""A seed of `make release`: the files of the tree, released as version 9.9.9."""

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from release.__main__ import release
from release.building import CHECKSUMS, build_twice
from release.checks import Refused
from tests.unit.release.test_checks import commit

ROOT = Path(__file__).parents[2]
VERSION = "9.9.9"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of this tree in a repository of its own."""
    folder = tmp_path_factory.mktemp("tree")
    git = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    project, changelog = folder / "pyproject.toml", folder / "CHANGELOG.md"
    version = re.compile(r'^version = ".+"$', re.MULTILINE)
    project.write_text(version.sub(f'version = "{VERSION}"', project.read_text(), count=1))
    section = re.compile(r"^## \d.+$", re.MULTILINE)
    changelog.write_text(section.sub(f"## {VERSION}, 2026-12-01", changelog.read_text(), count=1))
    commit(folder)
    return folder


@pytest.fixture(scope="module")
def released(tree: Path) -> Path:
    return release(tree)


def test_release_contains_its_files_and_their_checksums(released: Path) -> None:
    files = {file.name for file in released.iterdir()}
    lines = [line.split("  ") for line in (released / CHECKSUMS).read_text().splitlines()]
    listed = {name: checksum for checksum, name in lines}
    assert (
        files - {CHECKSUMS}
        == listed.keys()
        == {
            f"gazette_digest-{VERSION}-py3-none-any.whl",
            f"gazette_digest-{VERSION}.tar.gz",
            f"gazette_events-{VERSION}-py3-none-any.whl",
            "installed.cdx.json",
            "layer.cdx.json",
        }
    )
    for name, checksum in listed.items():
        assert hashlib.sha256((released / name).read_bytes()).hexdigest() == checksum


def test_release_leaves_the_tree_unchanged(tree: Path, released: Path) -> None:
    assert released.is_relative_to(tree)
    status = ["git", "-C", str(tree), "status", "--porcelain"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b""


def test_source_distribution_builds_the_same_wheel(released: Path, tmp_path: Path) -> None:
    (sources,) = released.glob("*.tar.gz")
    unpack = ["tar", "-xzf", str(sources), "-C", str(tmp_path)]
    subprocess.run(unpack, check=True)
    (folder,) = tmp_path.iterdir()
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")],
        cwd=folder,
        env={"SOURCE_DATE_EPOCH": "1796083200"},
        check=True,
        capture_output=True,
    )
    (built,) = (tmp_path / "dist").glob("*.whl")
    assert built.read_bytes() == (released / built.name).read_bytes()


def test_producer_has_the_version_of_the_release(released: Path) -> None:
    (wheel,) = released.glob("gazette_events-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(f"gazette_events-{VERSION}.dist-info/METADATA").decode()
        module = archive.read("gazette_events.py")
    assert [each for each in names if "dist-info" not in each] == ["gazette_events.py"]
    assert f"Version: {VERSION}" in metadata
    assert module == (ROOT / "producer" / "gazette_events.py").read_bytes()


@pytest.mark.parametrize("name", ["layer", "installed"])
def test_sbom_lists_every_pinned_package(name: str, released: Path) -> None:
    sbom = json.loads((released / f"{name}.cdx.json").read_text())
    assert (sbom["bomFormat"], sbom["specVersion"]) == ("CycloneDX", "1.6")
    root = sbom["metadata"]["component"]
    assert (root["name"], root["version"]) == ("gazette-digest", VERSION)
    listed = {each["name"]: each["version"] for each in sbom["components"]}
    pins = "layers/dependencies/requirements.txt" if name == "layer" else "requirements/dev.txt"
    pinned = dict(
        re.findall(r"^([\w.-]+)(?:\[.+\])?==([^ ;\\]+)", (ROOT / pins).read_text(), re.MULTILINE)
    )
    assert listed.items() <= pinned.items()
    assert listed == pinned or name == "installed"
    assert {"boto3", "jinja2"} <= listed.keys()
    assert name == "layer" or {"aws-cdk-lib", "statsmodels", "typer"} <= listed.keys()
    assert all(each["externalReferences"][0]["hashes"] for each in sbom["components"])


def test_builds_that_differ_are_refused(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(source: Path, output: Path, *, epoch: int) -> None:
        output.mkdir()
        (output / "same").write_text("same")
        (output / "file").write_text(str(source))

    monkeypatch.setattr("release.building.build", build)
    with pytest.raises(Refused, match="differ: file"):
        build_twice(tree, tmp_path, epoch=0)
