"""The folders of versions: what a killed process leaves behind, the next one deletes."""

import fcntl
import gc
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from gazette.adapters.templates import unpacked
from gazette.adapters.templates.unpacked import PREFIX, Unpacked

FILES = {"digest/subject.txt": b"Hello"}

HOLDS = """
import sys
from gazette.adapters.templates.unpacked import Unpacked
held = Unpacked({"digest/subject.txt": b"Hello"})
print(held.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def another() -> tuple["subprocess.Popen[str]", Path]:
    """Another process with a folder of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    return process, Path(process.stdout.readline().strip())


def test_leftovers_of_killed_processes_are_deleted(temporary: Path) -> None:
    for _ in range(3):
        process, left = another()
        with process:
            process.kill()
        assert left.exists()
    held = Unpacked(FILES)
    assert [*temporary.iterdir()] == [held.path]


def test_folder_of_a_running_process_is_kept() -> None:
    process, theirs = another()
    with process:
        held = Unpacked(FILES)
        assert (theirs / "digest" / "subject.txt").read_bytes() == b"Hello"
        assert (held.path / "digest" / "subject.txt").read_bytes() == b"Hello"
        process.kill()


def test_process_does_not_delete_its_own_folders() -> None:
    both = Unpacked(FILES), Unpacked(FILES)
    assert all((each.path / "digest" / "subject.txt").exists() for each in both)


def test_only_leftovers_are_deleted_and_links_are_not_followed(temporary: Path) -> None:
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").touch()
    (temporary / f"{PREFIX}link").symlink_to(elsewhere)
    (temporary / f"{PREFIX}file").touch()
    Unpacked(FILES)
    gc.collect()
    assert sorted(each.name for each in temporary.iterdir()) == [
        "elsewhere",
        f"{PREFIX}file",
        f"{PREFIX}link",
    ]
    assert (elsewhere / "file").exists()


def test_folder_deleted_before_locking_is_created_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another process looks between the two, and takes it for one that was left behind."""
    deleted: list[Path] = []

    def first_deleted(folder: int, how: int) -> None:
        if not deleted:
            deleted.extend(Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))
            deleted[0].rmdir()
        fcntl.flock(folder, how)

    monkeypatch.setattr(unpacked, "flock", first_deleted)
    held = Unpacked(FILES)
    assert held.path not in deleted
    assert (held.path / "digest" / "subject.txt").exists()
