"""Goals: when one is met, when it is missed, and that none is left out of what is shown."""

from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

from benchmarks.bench.__main__ import judge, measure
from benchmarks.bench.goals import Goal, Measured, Result, Verdict, exact, of_rounds, ratio
from benchmarks.bench.page import page
from benchmarks.bench.parts import PARTS
from benchmarks.bench.reports import exit_status, show, summary, write
from benchmarks.bench.stage import BenchStage
from benchmarks.bench.table import GOALS
from benchmarks.loopback.client import Loopback

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
    assert Result(CEILING, exact(20.1)).verdict is Verdict.MISSED


def test_ratio_uses_medians_and_noise_uses_rounds() -> None:
    found = ratio([2, 4, 30], [1, 2, 3], peers={"peer": [6, 6, 6]})
    assert (found.figure, found.low, found.high) == (2, 2, 6)
    assert found.peers == {"peer": 3}


def test_skipped_goal_is_counted_as_not_run() -> None:
    results = [Result(FLOOR, None), Result(CEILING, exact(1)), Result(CEILING, of_rounds([15, 21]))]
    assert summary(results) == "bench: goals=3 met=2 missed=0 within_noise=0 not_run=1 failed=0"


def test_goal_missed_within_noise_counts_as_missed() -> None:
    results = [Result(CEILING, of_rounds([15, 21, 22])), Result(CEILING, exact(30))]
    assert summary(results) == "bench: goals=2 met=0 missed=2 within_noise=1 not_run=0 failed=0"


def test_failed_benchmark_does_not_stop_other_benchmarks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def broken(*_: object) -> Mapping[str, Measured]:
        raise KeyError("Responses")

    def works(*_: object) -> Mapping[str, Measured]:
        return {CEILING.name: exact(1)}

    stage = BenchStage(Loopback("http://127.0.0.1:0"), {})
    measured = measure({"broken": broken, "works": works}, stage, 1)
    results = judge([FLOOR, CEILING], [FLOOR, CEILING], measured)
    assert [result.verdict for result in results] == [Verdict.FAILED, Verdict.MET]
    assert exit_status(results) == 2
    assert "bench: broken failed: KeyError('Responses')" in capsys.readouterr().err
    show(results)
    assert "failed" in _page(results).text


def test_unselected_goal_is_not_a_failure() -> None:
    results = judge([FLOOR, CEILING], [CEILING], {CEILING.name: exact(1)})
    assert [result.verdict for result in results] == [Verdict.NOT_RUN, Verdict.MET]
    assert exit_status(results) == 0


def test_every_goal_has_unique_name_and_benchmark() -> None:
    assert len({goal.name for goal in GOALS}) == len(GOALS)
    assert {goal.part for goal in GOALS} == PARTS.keys()


class _Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

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


def test_benchmark_run_is_written_as_json_and_html(tmp_path: Path) -> None:
    write([Result(FLOOR, of_rounds([1, 2, 3])), Result(CEILING, None)], tmp_path, rounds=3)
    assert '"verdict": "not run"' in (tmp_path / "bench.json").read_text()
    assert (tmp_path / "index.html").read_text().startswith("<!DOCTYPE html>")
