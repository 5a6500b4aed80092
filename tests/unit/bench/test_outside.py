"""The bill, and the runs of `make demo` in a copy of the project's files."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from benchmarks.bench import clone as clone_module
from benchmarks.bench.clone import ENGINE, FIRST_EMAIL, current_clone, fresh_clone, timed
from benchmarks.bench.goals import Noise
from benchmarks.bench.outside import bill
from benchmarks.bench.shared_stage import SharedStage
from benchmarks.bench.stage import BenchStage
from benchmarks.bench.table import GOALS

MAKEFILE = """
setup:
\t@echo >> installed
demo:
\t@echo engine at http://localhost
\t@echo "  the first email arrived. $(WEEK)"
\t@{}
"""


@contextmanager
def unused() -> Iterator[BenchStage]:
    """Fail, because no part here uses a stage."""
    raise AssertionError("The stage must not start.")
    yield


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose `make demo` only prints, and a folder for its copy."""
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "bench").mkdir()
    (project / "Makefile").write_text(MAKEFILE.format("true"))
    (project / "README.md").write_text("A project")
    monkeypatch.setattr(clone_module, "FOLDER", tmp_path / "bench")
    monkeypatch.setattr(clone_module, "ROOT", project)
    monkeypatch.setattr(clone_module, "_files", lambda: [each.name for each in project.iterdir()])
    return project


def test_bill_measures_each_of_its_goals() -> None:
    measured = bill(SharedStage(unused), 1)
    assert measured.keys() == {goal.name for goal in GOALS if goal.part == "bill"}
    assert {each.noise for each in measured.values()} == {Noise.NONE}
    assert measured["bill-lists-fast"].figure < measured["bill-lists"].figure
    assert measured["bill-singles-fast"].figure < measured["bill-singles"].figure


def test_targets_of_the_bill() -> None:
    targets = {goal.name: goal.target for goal in GOALS if goal.part in {"bill", "week"}}
    assert targets == {
        "bill-lists": 36,
        "bill-singles": 50,
        "bill-lists-fast": 33,
        "bill-singles-fast": 47,
        "bill-rest": 14,
        "demo-week": 180,
    }


def test_demo_is_timed(project: Path, tmp_path: Path) -> None:
    seconds = timed(project, "week", "WEEK=1")
    assert 0 < seconds[ENGINE] <= seconds[FIRST_EMAIL] <= seconds["end"]
    assert "arrived. 1" in (tmp_path / "bench" / "week.log").read_text()


@pytest.mark.parametrize("makefile", [MAKEFILE.format("false"), "demo:\n\t@true\n"])
def test_demo_that_fails_is_an_error(project: Path, makefile: str) -> None:
    (project / "Makefile").write_text(makefile)
    with pytest.raises(RuntimeError, match=r"`make demo WEEK=1` failed; see .*week\.log"):
        timed(project, "week", "WEEK=1")


def test_interrupted_demo_is_ended(project: Path, tmp_path: Path) -> None:
    written = tmp_path / "bench" / "pid"
    recipe = f"echo $$$$ > {written}.new; mv {written}.new {written}; exec sleep 60"
    (project / "Makefile").write_text(MAKEFILE.format(recipe))

    def interrupt() -> None:
        while not written.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        timed(project, "demo")
    with pytest.raises(ProcessLookupError):
        os.kill(int(written.read_text()), 0)


def test_clone_is_copied_anew_only_if_it_differs(project: Path, tmp_path: Path) -> None:
    clone = fresh_clone(tmp_path / "bench" / "clone")
    (clone / "environment").touch()
    current_clone(clone)
    assert (clone / "environment").exists()
    (project / "Makefile").write_text(MAKEFILE.format("echo other"))
    current_clone(clone)
    assert not (clone / "environment").exists()
    assert (clone / "Makefile").read_text() == (project / "Makefile").read_text()
    assert (clone / "installed").exists()


@pytest.mark.usefixtures("project")
def test_absent_clone_is_made_and_installed(tmp_path: Path) -> None:
    clone = tmp_path / "bench" / "clone"
    current_clone(clone)
    assert (clone / "installed").read_text() == "\n"
