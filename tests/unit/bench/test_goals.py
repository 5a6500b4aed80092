"""Goals: when one is met, when it is missed, and that none is left out of what is shown."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.bench.goals import (
    Goal,
    Measured,
    Result,
    Verdict,
    computed,
    of_one_run,
    of_rounds,
    ratio,
)
from benchmarks.bench.page import page
from benchmarks.bench.parts import PARTS
from benchmarks.bench.reports import exit_status, show, summary, write_figures
from benchmarks.bench.running import Run, judge
from benchmarks.bench.table import GOALS
from tests.unit.bench.pages import Parsed

FLOOR = Goal("fast", "digests <a second>", 60, "a second", "digests", is_floor=True)
CEILING = Goal("cheap", "what it costs", 20, "ms", "digests")


@pytest.mark.parametrize(
    ("goal", "rounds", "verdict"),
    [
        (FLOOR, [59, 60, 61], Verdict.MET),
        (FLOOR, [50, 58, 70], Verdict.WITHIN_NOISE),
        (FLOOR, [50, 51, 59, 59], Verdict.MISSED),
        (CEILING, [19, 20, 25], Verdict.MET),
        (CEILING, [15, 21, 22], Verdict.WITHIN_NOISE),
        (CEILING, [21, 22, 23], Verdict.MISSED),
    ],
)
def test_verdict_depends_on_median_and_quartiles(
    goal: Goal, rounds: list[float], verdict: Verdict
) -> None:
    assert Result(goal, of_rounds(rounds)).verdict is verdict


def test_counted_goals_have_no_noise() -> None:
    assert Result(CEILING, computed(20.1)).verdict is Verdict.MISSED


def test_ratio_uses_medians_and_noise_uses_rounds() -> None:
    found = ratio([2, 4, 30], [1, 2, 3], peers={"peer": [6, 6, 6]})
    assert (found.figure, found.low, found.high) == (2, 2, 6)
    assert found.peers == {"peer": 3}


def test_skipped_goal_is_counted_as_not_run() -> None:
    results = [
        Result(FLOOR, None),
        Result(CEILING, computed(1)),
        Result(CEILING, of_rounds([15, 21])),
    ]
    assert summary(results) == "bench: goals=3 met=2 missed=0 within_noise=0 not_run=1 failed=0"


def test_goal_missed_within_noise_counts_as_missed() -> None:
    results = [Result(CEILING, of_rounds([15, 21, 22])), Result(CEILING, computed(30))]
    assert summary(results) == "bench: goals=2 met=0 missed=2 within_noise=1 not_run=0 failed=0"


def test_unselected_goal_is_not_a_failure() -> None:
    results = judge([FLOOR, CEILING], [CEILING], Run({CEILING.name: computed(1)}))
    assert [result.verdict for result in results] == [Verdict.NOT_RUN, Verdict.MET]
    assert exit_status(results) == 0


def test_every_goal_has_unique_name_and_benchmark() -> None:
    assert len({goal.name for goal in GOALS}) == len(GOALS)
    assert {goal.part for goal in GOALS} == PARTS.keys()


class _Page(Parsed):
    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def _shown() -> _Page:
    measured = Measured(58, 50, 70, (50, 58, 70), {"naive <design>": 19}, "by turns & in rounds")
    return _page([Result(FLOOR, measured), Result(CEILING, None)])


def _page(results: Sequence[Result]) -> _Page:
    return _Page(page(results, {"rounds": "3"}, summary(results)))


def test_report_page_lists_every_goal_even_if_not_run() -> None:
    shown = _shown()
    for text in (FLOOR.says, CEILING.says, "missed, within noise", "not run", "50 to 70"):
        assert text in shown.text
    assert "naive <design> 19" in shown.text
    assert "by turns & in rounds" in shown.text


def test_report_page_is_self_contained() -> None:
    for _, attributes in _shown().tags:
        assert not attributes.keys() & {"src", "href"}
    assert not _shown().named("script")


def test_report_page_plots_have_text_alternatives() -> None:
    shown = _shown()
    (plot,) = shown.named("svg")
    assert plot["role"] == "img"
    label = plot["aria-label"] or ""
    assert all(text in label for text in ("Gazette 58", "naive <design> 19", FLOOR.wanted))
    assert shown.named("html") == [{"lang": "en"}]
    assert [each["scope"] for each in shown.named("th")] == ["col"] * 6 + ["row"] * 2


def test_every_figure_names_its_noise(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    results = [
        Result(FLOOR, of_rounds([50, 58, 70])),
        Result(CEILING, of_one_run(19)),
        Result(CEILING, ratio([2], [1])),
        Result(CEILING, computed(18)),
    ]
    texts = ["54 to 64 (quartiles)", *["one run: noise unknown"] * 2, "computed, no noise"]
    show(results)
    write_figures(results, tmp_path, {})
    table, shown = capsys.readouterr().out, _page(results).text
    for text in texts:
        assert table.count(text) == texts.count(text)
        assert shown.count(text) == 2 * texts.count(text)  # in the table and in the goal's section
    goals = json.loads((tmp_path / "bench.json").read_text())["goals"]
    assert [goal["measured"]["noise"] for goal in goals] == [
        "quartiles of the rounds",
        "one run: noise unknown",
        "one run: noise unknown",
        "computed, no noise",
    ]


@pytest.mark.parametrize("figure", [float("nan"), float("inf")])
def test_figure_that_is_not_finite_is_an_error(figure: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        computed(figure)
    with pytest.raises(ValueError, match="not finite"):
        computed(1, peers={"peer": figure})
