"""The trees that `make release` refuses."""

import subprocess
from pathlib import Path

import pytest

from release.checks import Refused, check
from tests.unit.release.test_changelog import WELL, tree

RELEASED = WELL.replace("not yet released", "2026-12-01")


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """A tree of version 0.3.0 without changes."""
    tree(tmp_path, "0.3.0", RELEASED)
    commit(tmp_path)
    return tmp_path


def commit(folder: Path) -> None:
    git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@example.com"]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "x"]):
        subprocess.run([*git, *command], check=True)


def refusals(root: Path) -> tuple[str, ...]:
    with pytest.raises(Refused) as caught:
        check(root)
    return caught.value.args


def test_release_has_the_time_of_its_date(committed: Path) -> None:
    assert check(committed) == 1_796_083_200  # 2026-12-01T00:00:00Z


def test_changed_and_new_files_are_refused(committed: Path) -> None:
    (committed / "new.txt").write_text("x")
    (committed / "CHANGELOG.md").write_text(f"{RELEASED}\nmore\n")
    (reason,) = refusals(committed)
    assert reason.startswith("2 files are not committed, such as ")


def test_developed_version_is_refused(tmp_path: Path) -> None:
    tree(tmp_path, "0.3.0.dev0")
    commit(tmp_path)
    version, undated = refusals(tmp_path)
    assert "is being developed" in version
    assert "has no date" in undated


def test_version_without_a_section_is_refused(committed: Path) -> None:
    tree(committed, "0.4.0", RELEASED)
    (reason,) = refusals(committed)
    assert "the first section of CHANGELOG.md is 0.3.0" in reason


def test_section_without_instructions_is_refused(tmp_path: Path) -> None:
    tree(tmp_path, "0.3.0", RELEASED.replace("### You must", "### Hints", 1))
    commit(tmp_path)
    assert any("has no heading 'You must'" in each for each in refusals(tmp_path))


def test_folder_without_git_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (reason,) = refusals(tree(tmp_path, "0.3.0", RELEASED))
    assert reason.startswith("git cannot read ")
