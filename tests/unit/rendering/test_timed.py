"""The renderer that tells how long it took."""

from datetime import timedelta

import pytest
from gazette.adapters.rendering.timed import TimedRenderer
from gazette.domain.delivery.compose import Ranking, compose
from gazette.domain.errors import RenderingFailed
from gazette.domain.model import DAILY, Edition
from gazette.domain.ports.outside import Renderer

from tests.builders import KEY, a_subscriber, an_event
from tests.fakes import FakeLinks, FakeRenderer
from tests.unit.delivery.test_edition import Choking


def timed(renderer: Renderer, told: list[timedelta]) -> TimedRenderer:
    marks = iter([7.0, 7.25])
    return TimedRenderer(renderer=renderer, stopwatch=lambda: next(marks), tell=told.append)


def make(renderer: Renderer) -> Edition:
    digest = compose([an_event()], max_groups=20)
    return renderer.render(digest, a_subscriber(), FakeLinks().links(KEY), DAILY, variation=2)


def test_it_makes_what_the_other_one_makes_and_tells_how_long_that_took() -> None:
    told: list[timedelta] = []
    assert make(timed(FakeRenderer(), told)) == make(FakeRenderer())
    assert told == [timedelta(milliseconds=250)]
    assert timed(FakeRenderer(), told).ranking(2) is Ranking.LATEST


def test_what_could_not_be_made_took_no_time() -> None:
    told: list[timedelta] = []
    with pytest.raises(RenderingFailed):
        make(timed(Choking(broken=True), told))
    assert told == []
