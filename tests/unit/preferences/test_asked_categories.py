"""What a content source is asked for never has an email of its own: readers choose a digest."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber
from gazette.domain.content.asking import ContentSources
from gazette.domain.content.items import CATEGORY_OF, EVENTS, RECOMMENDATIONS
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


def test_queried_categories_match_content_sources() -> None:
    assert frozenset(CATEGORY_OF.values()) == ASKED_CATEGORIES


def test_immediate_frequency_is_not_offered_for_queried_category() -> None:
    form = {FIELD: ["immediate"], "category-comment": ["immediate"]}
    read = asked(form, overview(), categories=("comment", *ASKED), zones=())
    assert read.problems == {FIELD: Problem.NOT_OFFERED}


def test_resubmitted_earlier_choice_is_unchanged() -> None:
    reader = overview(recommendation=Frequency.IMMEDIATE)
    read = asked({FIELD: ["immediate"]}, reader, categories=ASKED, zones=())
    assert read.problems == {}
    assert read.choice.frequencies is None


@pytest.mark.parametrize(
    ("chosen", "usual"),
    [({}, Frequency.DAILY), ({EVERYTHING: Frequency.IMMEDIATE}, Frequency.DAILY)],
)
def test_queried_category_is_sent_daily_instead_of_immediately(
    chosen: dict[str, Frequency], usual: Frequency
) -> None:
    reader = replace(a_subscriber(), choices=((NOW, frequencies(chosen)),))
    shown = Overview(subscriber=reader, now=NOW, defaults=(), queried_categories=ASKED)
    assert shown.default_of("recommendation") is usual
    assert shown.gets(ASKED).usual is usual


def test_next_digest_is_shown_if_other_categories_are_immediate() -> None:
    world = World(content=ContentSources(sources=(EVENTS, RECOMMENDATIONS)))
    seen = immediately(world)
    assert seen.queried_categories == ASKED
    assert seen.next_due_at
    assert NOW < seen.next_due_at <= NOW + timedelta(days=1)


def test_queried_categories_are_hidden_without_content_source() -> None:
    world = World()
    seen = immediately(world)
    assert (seen.queried_categories, seen.next_due_at) == ((), None)
