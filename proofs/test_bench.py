"""A seed of `make bench`: every part measures its goals, in one round."""

import pytest

from benchmarks.bench.__main__ import judge, measure
from benchmarks.bench.goals import Verdict
from benchmarks.bench.parts import PARTS
from benchmarks.bench.reports import show
from benchmarks.bench.stage import stage
from benchmarks.bench.table import GOALS

pytestmark = pytest.mark.enable_socket


def assert_measured(part: str) -> None:
    """Assert that a round of the part measures each of its goals. A missed goal is not a
    failure."""
    goals = [goal for goal in GOALS if goal.part == part]
    with stage() as made:
        results = judge(goals, goals, measure({part: PARTS[part]}, made, rounds=1))
    show(results)
    assert Verdict.FAILED not in {result.verdict for result in results}


@pytest.mark.parametrize("part", sorted(PARTS.keys() - {"demo"}))
def test_a_part_measures_each_of_its_goals(part: str) -> None:
    assert_measured(part)


@pytest.mark.e2e
def test_the_demo_runs_from_nothing_to_its_end() -> None:
    """`make demo` runs in a copy of the project, including installation."""
    assert_measured("demo")
