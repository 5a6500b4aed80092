"""A seed of `make bench`: every part measures its goals, in one round."""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from benchmarks.bench.goals import Verdict
from benchmarks.bench.parts import PARTS
from benchmarks.bench.reports import show
from benchmarks.bench.running import Run, judge, measure
from benchmarks.bench.stage import BenchStage, stage
from benchmarks.bench.table import GOALS

pytestmark = pytest.mark.enable_socket


@pytest.fixture(scope="module")
def made() -> Iterator[BenchStage]:
    """The stage that all parts share, as in `make bench`."""
    with stage() as made:
        yield made


def assert_measured(part: str, made: BenchStage) -> None:
    """Assert that a round of the part measures each of its goals. A missed goal is not a
    failure."""
    goals = [goal for goal in GOALS if goal.part == part]
    run = Run()
    measure({part: PARTS[part]}, lambda: nullcontext(made), 1, run)
    results = judge(goals, goals, run)
    show(results)
    assert Verdict.FAILED not in {result.verdict for result in results}


@pytest.mark.parametrize("part", sorted(PARTS.keys() - {"demo", "week"}))
def test_a_part_measures_each_of_its_goals(part: str, made: BenchStage) -> None:
    assert_measured(part, made)


@pytest.mark.e2e
def test_the_demo_runs_from_nothing_to_its_end(made: BenchStage) -> None:
    """`make demo` runs in a copy of the project, including installation."""
    assert_measured("demo", made)


@pytest.mark.e2e
@pytest.mark.long
def test_the_week_runs_in_the_clone_of_the_demo(made: BenchStage) -> None:
    """`make demo WEEK=1` runs in the copy that `demo` made."""
    assert_measured("week", made)
