"""Runs of `make bench`: each goal has a line, and each file is written, whatever fails."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from benchmarks.bench import __main__ as command
from benchmarks.bench import history, reports
from benchmarks.bench import stage as stage_module
from benchmarks.bench.goals import Goal, Measured, Verdict, computed
from benchmarks.bench.parts import Part
from benchmarks.bench.reports import HISTORY
from benchmarks.bench.running import Run, judge
from benchmarks.bench.shared_stage import SharedStage
from benchmarks.bench.stage import BenchStage, Process
from benchmarks.loopback.client import Loopback, end

NAMES = ("first", "second", "third")
GOALS = tuple(Goal(name, f"the goal {name}", 2, "s", name) for name in NAMES)
LAST = "bench: goals=3 met={} missed=0 within_noise=0 not_run={} failed={}"

Bench = Callable[..., tuple[int, Mapping[str, str]]]


def measures(name: str, *, on_stage: bool = False) -> Part:
    """Return a part that measures its goal."""

    def part(stage: SharedStage, _: int) -> Mapping[str, Measured]:
        if on_stage:
            stage()
        return {name: computed(1)}

    return part


def raises(error: BaseException) -> Part:
    """Return a part that raises an error."""

    def part(_: SharedStage, __: int) -> Mapping[str, Measured]:
        raise error

    return part


@contextmanager
def works() -> Iterator[BenchStage]:
    """Start a stage without processes."""
    yield BenchStage(Loopback("http://127.0.0.1:0"), {})


@contextmanager
def does_not_start() -> Iterator[BenchStage]:
    """Fail to start a stage."""
    raise OSError("no memory")
    yield


@contextmanager
def does_not_end() -> Iterator[BenchStage]:
    """Start a stage that cannot end."""
    yield BenchStage(Loopback("http://127.0.0.1:0"), {})
    raise OSError("still busy")


@pytest.fixture
def bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Bench:
    """A run of the command, which returns the exit status and the verdict of each goal.

    It asserts that all reports are complete.
    """
    monkeypatch.setenv("COLUMNS", "200")

    def run(
        *parts: Part, start: object = works, arguments: tuple[str, ...] = ()
    ) -> tuple[int, Mapping[str, str]]:
        monkeypatch.setattr(command, "GOALS", GOALS)
        monkeypatch.setattr(command, "PARTS", dict(zip(NAMES, parts, strict=True)))
        monkeypatch.setattr(command, "FOLDER", tmp_path)
        monkeypatch.setattr(command, "stage", start)
        status = command.main(arguments)
        lines = capsys.readouterr().out.splitlines()
        verdicts = {}
        for goal in GOALS:
            (line,) = (line for line in lines if goal.says in line)
            verdicts[goal.name] = line.split("│")[-2].strip()
        counted = [*verdicts.values()]
        assert lines[-1] == LAST.format(
            counted.count("met"), counted.count("not run"), counted.count("failed")
        )
        assert all(goal.says in (tmp_path / "index.html").read_text() for goal in GOALS)
        text = (tmp_path / "bench.json").read_text()
        assert all(f'"name": "{name}"' in text for name in NAMES)
        record = history.PastRun.model_validate_json((tmp_path / HISTORY).read_text())
        assert {name: str(past.verdict) for name, past in record.goals.items()} == verdicts
        return status, verdicts

    return run


@pytest.mark.parametrize("error", [KeyError("Responses"), SystemExit(3), RecursionError()])
def test_part_that_raises_does_not_stop_the_others(bench: Bench, error: BaseException) -> None:
    status, verdicts = bench(measures("first"), raises(error), measures("third"))
    assert status == 2
    assert verdicts == {"first": "met", "second": "failed", "third": "met"}


def test_part_that_does_not_measure_its_goal_has_failed(bench: Bench) -> None:
    status, verdicts = bench(measures("first"), measures("first"), measures("third"))
    assert (status, verdicts["second"]) == (2, "failed")


def test_interrupted_run_reports_each_goal(bench: Bench) -> None:
    status, verdicts = bench(measures("first"), raises(KeyboardInterrupt()), measures("third"))
    assert status == 130
    assert verdicts == {"first": "met", "second": "not run", "third": "not run"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_second_interrupt_does_not_stop_the_report(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    interrupt = reports.show

    def interrupted_again(*results: object) -> None:
        os.kill(os.getpid(), number)
        interrupt(*results)  # type: ignore[arg-type]

    def interrupted(_: SharedStage, __: int) -> Mapping[str, Measured]:
        os.kill(os.getpid(), number)
        raise AssertionError("The signal must end the part.")

    monkeypatch.setattr(reports, "show", interrupted_again)
    status, verdicts = bench(measures("first"), interrupted, measures("third"))
    assert status == 130
    assert verdicts == {"first": "met", "second": "not run", "third": "not run"}
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


def test_interrupt_of_the_report_does_not_stop_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = reports.show

    def interrupted(*results: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        show(*results)  # type: ignore[arg-type]

    monkeypatch.setattr(reports, "show", interrupted)
    status, verdicts = bench(*map(measures, NAMES))
    assert (status, {*verdicts.values()}) == (0, {"met"})


def test_stage_that_cannot_start_fails_only_parts_that_use_it(bench: Bench, tmp_path: Path) -> None:
    parts = (
        measures("first", on_stage=True),
        measures("second"),
        measures("third", on_stage=True),
    )
    status, verdicts = bench(*parts, start=does_not_start)
    assert status == 2
    assert verdicts == {"first": "failed", "second": "met", "third": "failed"}
    assert "the stage did not start: OSError('no memory')" in (tmp_path / "bench.json").read_text()


def test_stage_that_does_not_end_loses_no_figure(bench: Bench) -> None:
    parts = [measures(name, on_stage=True) for name in NAMES]
    status, verdicts = bench(*parts, start=does_not_end)
    assert (status, {*verdicts.values()}) == (0, {"met"})


def test_stage_starts_only_if_a_part_uses_it(bench: Bench) -> None:
    status, _ = bench(*map(measures, NAMES), start=None)
    assert status == 0


def test_unselected_part_is_not_run(bench: Bench) -> None:
    status, verdicts = bench(
        measures("first"), raises(OSError()), measures("third"), arguments=("--only", "third")
    )
    assert status == 0
    assert verdicts == {"first": "not run", "second": "not run", "third": "met"}


@pytest.mark.parametrize("step", ["write_figures", "write_page", "show"])
def test_report_that_fails_does_not_stop_the_others(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(reports, step, broken)
    results = judge(GOALS, GOALS, Run({name: computed(1) for name in NAMES}))
    assert not reports.report(results, tmp_path, rounds=1)
    assert reports.exit_status(results, is_complete=False) == 2
    files = {
        "bench.json": step == "write_figures",
        "index.html": step == "write_page",
        HISTORY: False,
    }
    assert {name: not (tmp_path / name).exists() for name in files} == files
    out = capsys.readouterr()
    assert "disk full" in out.err
    assert out.out.splitlines()[-1] == LAST.format(3, 0, 0)


_DIES = """
import os
def lambda_handler(event, _):
    os._exit(3)
"""


def test_process_that_died_is_an_error_and_can_be_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage_module, "FOLDER", tmp_path)
    (tmp_path / "dying.py").write_text(_DIES)
    paths = os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", "")))
    stage = BenchStage(Loopback("http://127.0.0.1:0"), {**os.environ, "PYTHONPATH": paths})
    process = stage.process("dying")
    with pytest.raises(RuntimeError, match="ended"):
        process.invoke({})
    with pytest.raises(OSError, match="pipe"):
        process.invoke({})
    stage.close()
    assert process.has_ended
    stage.close()


def test_process_that_does_not_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage_module, "FOLDER", tmp_path)
    monkeypatch.setattr(stage_module, "end", partial(end, seconds=0.05))
    (tmp_path / "waiting.py").write_text("import time\ntime.sleep(60)\n")
    paths = os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", "")))
    process = Process("waiting", {**os.environ, "PYTHONPATH": paths})
    process.end()
    assert process.has_ended


def test_verdicts_of_a_run_name_their_reason() -> None:
    run = Run({"first": computed(1)}, {"second": "OSError()"}, is_interrupted=True)
    results = judge(GOALS, GOALS, run)
    assert [(each.verdict, each.why) for each in results] == [
        (Verdict.MET, ""),
        (Verdict.FAILED, "OSError()"),
        (Verdict.NOT_RUN, "interrupted"),
    ]
