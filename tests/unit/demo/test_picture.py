"""The picture of the dashboard in docs/images: its graphs, and that nothing in it overlaps."""

import html
import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from demo.picture import PICTURE, caption, draw, left_out, panels_drawn
from demo.recorded import read_back, recorded
from demo.watched import Watched, slots
from demo.written import Value
from gazette_cdk.constructs.watching.panels import PANELS

_TEXT = re.compile(r'<text x="([0-9.]+)" y="([0-9.]+)"(?: class="([a-z ]+)")?>([^<]+)</text>')
_LETTER, _OF_A_LINE = 0.66 * 11, 0.54 * 11
"""Pixels: what a letter takes at most, on average over a label and over a long line."""


def texts(kind: str) -> list[str]:
    """What the picture says in one style."""
    found = _TEXT.findall(PICTURE.read_text())
    return [html.unescape(words) for _, _, style, words in found if style == kind]


def test_picture_contains_dashboard_graphs_written_by_functions() -> None:
    """In its order; each other graph is named as left out."""
    filled = [
        panel.title
        for panels in PANELS.values()
        for panel in panels
        if not panel.measured and not panel.tracked and not panel.asks_source
    ]
    assert texts("q") == list(PANELS)
    assert " ".join(texts("t")) == " ".join(filled)
    for question, panels in PANELS.items():
        others = [panel.title for panel in panels if panel.title not in filled]
        assert left_out(question) == others
        assert f"Not in this picture: {', '.join(others)}" in texts("s")


def test_picture_is_generated_from_recorded_run() -> None:
    """After a change of `panels`, `make plots` draws it anew."""
    run = read_back()
    assert PICTURE.read_text() == draw(run)
    assert " ".join(texts("s")).endswith(caption(run))


def test_every_graph_in_picture_shows_data() -> None:
    for panels in panels_drawn().values():
        for panel in panels:
            found = [
                read_back().points[f"{name} {each}"] for name, kinds in panel.own for each in kinds
            ]
            assert any(found), panel.title


def test_picture_texts_neither_overlap_nor_overflow() -> None:
    lines: dict[str, list[tuple[float, float]]] = {}
    for x, y, kinds, words in _TEXT.findall(PICTURE.read_text()):
        letter = _LETTER if len(words) < 40 else _OF_A_LINE
        wide = letter * len(html.unescape(words))
        left = float(x) - wide * (1 if "e" in kinds.split() else 0.5 if "m" in kinds.split() else 0)
        assert left >= 0
        assert left + wide <= 880
        lines.setdefault(y, []).append((left, left + wide))
    for spans in lines.values():
        assert all(one[1] <= other[0] for one, other in pairwise(sorted(spans)))


def test_graph_point_is_statistic_of_one_hour() -> None:
    begin = datetime(2026, 11, 24, tzinfo=UTC)
    at = [begin + timedelta(minutes=minutes) for minutes in (5, 59, 60)]
    values = [Value(each, "sweep", "oldest_due_age", 2.0 * n) for n, each in enumerate(at, 1)]
    values += [Value(each, "fanout", "due", 1.0) for each in at]
    watched = Watched(values, date(2026, 11, 23), begin, 36, 1, 1, 1, 1)
    points = recorded(watched).points
    assert points["due Sum"] == [(0, 2.0), (1, 1.0)]
    assert points["oldest_due_age Maximum"] == [(0, 4.0), (1, 6.0)]
    assert points["oldest_due_age p75"] == [(0, 4.0), (1, 6.0)]
    assert points["run_sent Sum"] == []


def test_missing_count_during_a_run_is_zero() -> None:
    run = replace(read_back(), points=dict.fromkeys(read_back().points, ()))
    points = {**run.points, "ticks_done Sum": [(2, 1.0), (4, 1.0)], "run_sent Sum": [(4, 7.0)]}
    assert draw(replace(run, points=points)).count("<circle") == 4


def test_graph_without_data_shows_none() -> None:
    run = read_back()
    without = replace(run, points={**run.points, "run_sent Sum": []})
    assert "run_sent: none" in draw(without)


def test_clock_advances_to_every_slot_with_due_readers() -> None:
    begin = datetime(2026, 11, 24, tzinfo=UTC)
    found = slots(begin)
    assert len(found) == 18
    assert found[12:] == [slot + timedelta(days=1) for slot in found[:6]]


def test_picture_has_light_background_and_no_scripts() -> None:
    picture = PICTURE.read_text()
    assert re.search(r'<rect width="100%" height="100%" fill="#fff"/>', picture)
    assert "<script" not in picture
