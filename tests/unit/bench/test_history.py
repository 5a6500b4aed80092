"""The history of `make bench`: one line for each run, and plots of the runs on this machine."""

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks.bench.facts import commit_of, facts
from benchmarks.bench.goals import Goal, Result, computed, of_rounds
from benchmarks.bench.history import History, append, read
from benchmarks.bench.page import page
from benchmarks.bench.reports import HISTORY, report, summary
from tests.unit.bench.pages import Parsed

FAST = Goal("fast", "digests <a second>", 60, "a second", "digests", is_floor=True)
CHEAP = Goal("cheap", "what it costs", 20, "dollars", "bill")
OURS = {"at": "2026-11-28T12:00:00+00:00", "machine": "ours & fast", "commit": "abc-dirty"}
OTHER = {**OURS, "machine": "another one"}
MEASURED = (Result(FAST, of_rounds([50, 58, 70])), Result(CHEAP, computed(19)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bench" / HISTORY


class _Page(Parsed):
    def of_class(self, tag: str, kind: str) -> list[dict[str, str | None]]:
        return [each for name, each in self.tags if name == tag and each.get("class") == kind]

    @property
    def plots(self) -> list[str]:
        return [each["aria-label"] or "" for name, each in self.tags if name == "svg"]


def _page(results: tuple[Result, ...], earlier: History) -> _Page:
    return _Page(page(results, OURS, summary(results), earlier))


def test_each_run_is_appended(path: Path) -> None:
    append(path, MEASURED, OURS)
    append(path, [Result(FAST, None), MEASURED[1]], OURS)
    first, second = map(json.loads, path.read_text().splitlines())
    assert first == {
        "at": "2026-11-28T12:00:00Z",
        "machine": "ours & fast",
        "commit": "abc-dirty",
        "goals": {
            "fast": {
                "figure": 58,
                "low": 54,
                "high": 64,
                "noise": "quartiles of the rounds",
                "verdict": "missed, within noise",
            },
            "cheap": {
                "figure": 19,
                "low": 19,
                "high": 19,
                "noise": "computed, no noise",
                "verdict": "met",
            },
        },
    }
    nothing = {"figure": None, "low": None, "high": None, "noise": None, "verdict": "not run"}
    assert second["goals"]["fast"] == nothing
    earlier = read(path, "ours & fast")
    assert [each.measured.figure for each in earlier.of("fast")] == [58]
    assert [each.measured.figure for each in earlier.of("cheap")] == [19, 19]
    assert earlier.of("a goal of an older version") == []
    assert earlier.notes == []


def test_run_without_git_has_no_commit(path: Path) -> None:
    append(path, MEASURED, {"at": OURS["at"], "machine": OURS["machine"]})
    assert [each.commit for each in read(path, OURS["machine"]).of("fast")] == [""]


def test_runs_on_another_machine_are_left_out(path: Path) -> None:
    append(path, MEASURED, OTHER)
    append(path, MEASURED, OURS)
    earlier = read(path, OURS["machine"])
    assert len(earlier.of("fast")) == 1
    assert earlier.notes == ["Runs on other machines, which are left out: 1."]


def _damaged() -> dict[str, bytes]:
    run = {
        **OURS,
        "goals": {
            "fast": {
                "figure": 1,
                "low": 1,
                "high": 1,
                "noise": "computed, no noise",
                "verdict": "met",
            }
        },
    }
    past = run["goals"]["fast"]  # type: ignore[index]

    def line(**changes: object) -> bytes:
        return json.dumps({**run, "goals": {"fast": {**past, **changes}}}).encode()

    return {
        "incomplete": line()[:-20],
        "not JSON": b"<<<<<<< HEAD",
        "not UTF-8": b"\xff\xfe" + line(),
        "zeros": b"\0" * 40,
        "a list": b"[]",
        "nested": b"[" * 100_000,
        "no machine": json.dumps({"at": run["at"], "goals": {}}).encode(),
        "no zone": json.dumps({**run, "at": "2026-11-28T12:00:00"}).encode(),
        "no goals": json.dumps(OURS).encode(),
        "a text": line(figure="1"),
        "not a number": line(figure=float("nan"), low=float("nan")),
        "infinite": line(high=float("inf")),
        "no low": line(low=None),
        "no noise": line(noise=None),
        "another noise": line(noise="some"),
        "low above high": line(low=2),
        "another verdict": line(verdict="perhaps"),
    }


@pytest.mark.parametrize("line", _damaged().values(), ids=_damaged())
def test_damaged_line_is_left_out_with_a_note(path: Path, line: bytes) -> None:
    append(path, MEASURED, OURS)
    with path.open("ab") as file:
        file.write(line)  # without an end of line, as after a crash
    append(path, MEASURED, OURS)
    earlier = read(path, OURS["machine"])
    assert len(earlier.of("fast")) == 2
    assert earlier.notes == ["Line 2 of history.jsonl is damaged and is left out."]
    assert earlier.notes[0] in _page(MEASURED, earlier).text


def test_absent_history_has_no_notes(path: Path) -> None:
    assert read(path, "ours") == History()


def test_unreadable_history_is_a_note(path: Path) -> None:
    path.mkdir(parents=True)
    (note,) = read(path, "ours").notes
    assert note.startswith("The history cannot be read")


def test_first_run_has_no_plot_of_runs(path: Path) -> None:
    shown = _page(MEASURED, read(path, OURS["machine"]))
    assert len(shown.plots) == len(MEASURED)
    assert "Earlier runs" not in shown.text


def test_page_plots_earlier_runs_of_each_goal(path: Path) -> None:
    append(path, MEASURED, OURS)
    append(path, [Result(FAST, of_rounds([65])), Result(CHEAP, None)], OURS)
    append(path, MEASURED, OTHER)
    earlier = read(path, OURS["machine"])
    shown = _page(MEASURED, earlier)
    assert [label for label in shown.plots if "by run from" in label] == [
        "digests <a second>, by run from 2026-11-28: 58, 65, 58; goal at least 60 a second",
        "what it costs, by run from 2026-11-28: 19, 19; goal at most 20 dollars",
    ]
    assert len(shown.of_class("circle", "peer")) == 3
    assert len(shown.of_class("circle", "ours")) == 2
    assert len(shown.of_class("path", "goal")) == 2 * len(MEASURED)
    # In each of the two kinds of plots, only a figure of several rounds has a bar for its noise.
    assert len(shown.of_class("path", "noise")) == 1 + 2
    assert "abc-dirty" in shown.text
    assert shown.text.count("one run: noise unknown") == 1
    assert shown.text.count("computed, no noise") == 3


def test_plot_of_runs_lies_within_its_box(path: Path) -> None:
    for rounds in ([10, 20, 30], [1000, 5000, 9000], [60]):
        append(path, [Result(FAST, of_rounds(rounds))], OURS)
    shown = _page((Result(FAST, computed(60)),), read(path, OURS["machine"]))
    heights = [
        float(each["cy"] or "")
        for kind in ("peer", "ours")
        for each in shown.of_class("circle", kind)
    ]
    assert len(heights) == 4
    assert all(15 <= height <= 155 for height in heights)
    assert heights[0] > heights[2] > heights[1], "A higher figure is further up."
    assert heights[2] == heights[3]


def test_goal_that_was_not_run_shows_its_earlier_runs(path: Path) -> None:
    append(path, MEASURED, OURS)
    shown = _page((Result(FAST, None, why="interrupted"),), read(path, OURS["machine"]))
    assert len(shown.plots) == 1
    assert not shown.of_class("circle", "ours")
    assert "not run: interrupted" in shown.text


def test_report_shows_earlier_runs_and_not_itself(tmp_path: Path) -> None:
    plots = []
    for _ in range(2):
        assert report(MEASURED, tmp_path, rounds=3)
        plots.append(_Page((tmp_path / "index.html").read_text()).plots)
    assert [len(each) for each in plots] == [2, 4]
    assert len((tmp_path / HISTORY).read_text().splitlines()) == 2


def test_history_that_cannot_be_written_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / HISTORY).mkdir()
    assert not report(MEASURED, tmp_path, rounds=3)
    out = capsys.readouterr()
    assert "history.jsonl is incomplete" in out.err
    assert out.out.splitlines()[-1] == summary(MEASURED)
    assert (tmp_path / "bench.json").exists()


def test_commit_is_empty_outside_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert commit_of(tmp_path) == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit_of(tmp_path) == ""
    assert "commit" not in facts(1)


def test_commit_names_changed_files(tmp_path: Path) -> None:
    author = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for arguments in (("init", "-q"), (*author, "commit", "-q", "--allow-empty", "-m", "One")):
        _git(tmp_path, *arguments)
    commit = commit_of(tmp_path)
    assert len(commit) == 12
    (tmp_path / "file").write_text("")
    _git(tmp_path, "add", "file")
    assert commit_of(tmp_path) == f"{commit}-dirty"


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(("git", *arguments), cwd=folder, check=True)  # noqa: S607 -- as in the code
