"""What a content source is asked for never has an email of its own: readers choose a digest."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.content import CATEGORY_OF, EVENTS, RECOMMENDATIONS
from gazette.domain.scheduling.asking import ContentSources
from gazette.domain.subscribers.frequency import (
    ASKED_CATEGORIES,
    EVERYTHING,
    Frequency,
    frequencies,
)
from gazette.domain.subscribers.overview import Overview
from gazette.domain.subscribers.preference_form import Problem, asked

from tests.builders import NOW, a_subscriber
from tests.world import World

ASKED = ("recommendation",)
FIELD = "category-recommendation"


def overview(**chosen: Frequency) -> Overview:
    reader = replace(a_subscriber(), choices=((NOW, frequencies(chosen)),))
    return Overview(subscriber=reader, now=NOW, defaults=(), queried_categories=ASKED)


def immediately(world: World) -> Overview:
    """What is told Ann, who wants everything right away."""
    everything = replace(a_subscriber(), choices=((NOW, frequencies({EVERYTHING: "immediate"})),))
    world.say(ChangeSubscriber(everything))
    seen = world.read_overview()
    assert seen
    return seen


def test_the_categories_are_those_of_the_sources() -> None:
    assert frozenset(CATEGORY_OF.values()) == ASKED_CATEGORIES


def test_right_away_is_not_offered_for_it() -> None:
    form = {FIELD: ["immediate"], "category-comment": ["immediate"]}
    read = asked(form, overview(), categories=("comment", *ASKED), zones=())
    assert read.problems == {FIELD: Problem.NOT_OFFERED}


def test_a_choice_of_before_that_is_sent_unchanged_stays() -> None:
    reader = overview(recommendation=Frequency.IMMEDIATE)
    read = asked({FIELD: ["immediate"]}, reader, categories=ASKED, zones=())
    assert read.problems == {}
    assert read.choice.frequencies is None


@pytest.mark.parametrize(
    ("chosen", "usual"),
    [({}, Frequency.DAILY), ({EVERYTHING: Frequency.IMMEDIATE}, Frequency.DAILY)],
)
def test_a_queried_category_comes_daily_instead_of_immediately(
    chosen: dict[str, Frequency], usual: Frequency
) -> None:
    reader = replace(a_subscriber(), choices=((NOW, frequencies(chosen)),))
    shown = Overview(subscriber=reader, now=NOW, defaults=(), queried_categories=ASKED)
    assert shown.default_of("recommendation") is usual
    assert shown.gets(ASKED).usual is usual


def test_the_next_digest_of_who_gets_the_rest_right_away_is_told() -> None:
    world = World(content=ContentSources(sources=(EVENTS, RECOMMENDATIONS)))
    seen = immediately(world)
    assert seen.queried_categories == ASKED
    assert seen.next_due_at
    assert NOW < seen.next_due_at <= NOW + timedelta(days=1)


def test_on_a_stage_without_a_source_nothing_of_it_is_told() -> None:
    world = World()
    seen = immediately(world)
    assert (seen.queried_categories, seen.next_due_at) == ((), None)
