"""Ranking by relevance: what matters to this reader comes first, whatever else there is."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import inf, nan
from random import Random

import pytest
from gazette.domain.delivery.arrangement import (
    DEFAULT,
    MAX_WEIGHT,
    WEIGHTS,
    Arrangement,
    Sections,
    are_weights,
)
from gazette.domain.delivery.compose import Digest, compose
from gazette.domain.model import Actor, Entity, Event, Importance
from gazette.domain.stored import as_stored
from hypothesis import given, settings
from hypothesis import strategies as st

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
UNTIL = NOON + timedelta(hours=1)
LEVELS = list(Importance)


def event(
    event_id: str,
    category: str = "comment",
    *,
    entity: str = "1",
    importance: Importance = Importance.NORMAL,
    hours_ago: float = 1,
    via: tuple[str, ...] = (),
    parent: str = "",
) -> Event:
    """One event for Ann."""
    return Event(
        user_id="ann",
        id=event_id,
        category=category,
        entity=Entity("post", entity, f"Title {entity}", f"https://x.example/{entity}"),
        actor=Actor("bob", "Bob"),
        occurred_at=UNTIL - timedelta(hours=hours_ago),
        importance=importance,
        via=via,
        parent_title=parent,
    )


def order(*events: Event, arrangement: Arrangement = DEFAULT) -> list[str]:
    """The entities, in the order of their blocks."""
    digest = compose(events, max_blocks=50, arrangement=arrangement, until=UNTIL)
    return [block.latest.entity.id for block in digest.blocks]


def many(category: str, count: int, *, entity: str, hours_ago: float = 1) -> list[Event]:
    """So many events of a category about one entity."""
    return [
        event(f"{entity}.{number}", category, entity=entity, hours_ago=hours_ago)
        for number in range(count)
    ]


@pytest.mark.parametrize("hours_ago", [0, 1, 24, 7 * 24, 60 * 24])
def test_old_mention_ranks_above_forty_likes(hours_ago: float) -> None:
    mention = event("m", "mention", entity="mine", hours_ago=hours_ago)
    assert order(*many("like", 40, entity="busy", hours_ago=0), mention) == ["mine", "busy"]


def test_mention_ranks_above_fourteen_comments_of_same_day() -> None:
    mention = event("m", "mention", entity="mine", hours_ago=2)
    assert order(*many("comment", 14, entity="busy"), mention) == ["mine", "busy"]


def test_lines_in_block_are_ranked_like_blocks() -> None:
    events = [*many("like", 41, entity="1"), event("c", "comment"), event("m", "mention")]
    (block,) = compose(events, max_blocks=20, until=UNTIL).blocks
    assert [group.category for group in block.groups] == ["mention", "comment", "like"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (event("a", entity="x", importance=Importance.HIGH), event("b", entity="y")),
        (event("a", entity="x"), event("b", entity="y", importance=Importance.LOW)),
        (event("a", entity="x"), event("b", entity="y", via=("topic#1",))),
        (event("a", entity="x", hours_ago=2), event("b", entity="y", hours_ago=3)),
        (event("a", "mention", entity="x"), event("b", "unheard_of", entity="y")),
        (event("a", "unheard_of", entity="x"), event("b", "like", entity="y")),
    ],
    ids=["high", "low", "followed", "older", "a known category", "an unknown category"],
)
def test_each_ranking_factor_breaks_ties(first: Event, second: Event) -> None:
    assert order(second, first) == ["x", "y"]


def test_two_events_weigh_less_than_twice_a_single_event() -> None:
    assert order(event("a", entity="x"), *many("comment", 2, entity="y")) == ["y", "x"]
    twice = Arrangement(weights={"comment": 1, "sale": 2})
    two, one = many("comment", 2, entity="y"), event("a", "sale", entity="x")
    assert order(*two, one, arrangement=twice) == ["x", "y"]


def test_directly_addressed_event_raises_its_whole_group() -> None:
    followed = [event(f"{number}", via=("topic#1",), entity="x") for number in range(2)]
    others = [event(f"o{number}", via=("topic#1",), entity="y") for number in range(3)]
    assert order(*followed, *others) == ["y", "x"]
    assert order(replace(followed[0], via=()), followed[1], *others) == ["x", "y"]


@pytest.mark.parametrize("place", range(3))
def test_group_importance_is_highest_of_its_events(place: int) -> None:
    """Whether it is the latest or not."""
    events = many("comment", 3, entity="x")
    later = event("o", entity="y", hours_ago=0.5)
    assert order(*events, later) == ["x", "y"]
    low = [replace(each, importance=Importance.LOW) for each in events]
    assert order(*low, later) == ["y", "x"]
    low[place] = replace(low[place], importance=Importance.HIGH)
    assert order(*low, later) == ["x", "y"]


def test_unknown_importance_counts_as_normal() -> None:
    """A deployment that was taken back leaves rows of it (decision 32)."""
    unknown = as_stored(Importance, "urgent")
    for usual in (Importance.LOW, Importance.NORMAL, Importance.HIGH):
        events = [event("a", entity="x", importance=usual), event("b", entity="y")]
        events[1] = replace(events[1], importance=unknown)
        known = [events[0], replace(events[1], importance=Importance.NORMAL)]
        assert order(*events) == order(*known)


def test_stage_weights_apply_and_unlisted_categories_use_other() -> None:
    weights = {**WEIGHTS, "like": 50, "other": 90}
    events = [
        event("m", "mention", entity="mention"),
        event("l", "like", entity="like"),
        event("s", "sale", entity="sale"),
    ]
    assert order(*events, arrangement=Arrangement(weights=weights)) == ["sale", "like", "mention"]


def test_event_age_is_measured_from_window_end() -> None:
    """So what is left of an email, in the browser, is arranged as the email was."""
    weights = {"comment": 1, "article": 1.2}
    events = [event("c", "comment", entity="x"), event("a", "article", entity="y", hours_ago=25)]
    for until, ranked in ((UNTIL, ["x", "y"]), (UNTIL + timedelta(days=30), ["y", "x"])):
        digest = compose(
            events, max_blocks=2, arrangement=Arrangement(weights=weights), until=until
        )
        assert [block.latest.entity.id for block in digest.blocks] == ranked


@pytest.mark.parametrize("weight", [nan, inf, -1, -0.001, MAX_WEIGHT + 1, True, "1", None, [1]])
def test_weight_out_of_range_is_ignored(weight: object) -> None:
    assert are_weights({"like": 0, "mention": MAX_WEIGHT, "comment": 0.5})
    assert not are_weights({"like": weight})
    assert not are_weights({1: 1})


def test_event_with_zero_weight_is_shown() -> None:
    nothing = Arrangement(weights={"other": 0})
    assert sorted(order(event("a", entity="x"), event("b", entity="y"), arrangement=nothing)) == [
        "x",
        "y",
    ]


inboxes = st.lists(
    st.builds(
        lambda entity, category, importance, hours, followed: {
            "entity": entity,
            "category": category,
            "importance": importance,
            "hours_ago": hours,
            "via": ("topic#1",) if followed else (),
        },
        st.sampled_from("12345"),
        st.sampled_from(["mention", "comment", "like", "sale"]),
        st.sampled_from(LEVELS),
        st.sampled_from([0, 1, 5, 30, 200]),
        st.booleans(),
    ),
    min_size=1,
    max_size=25,
).map(lambda rows: [event(f"e{number}", **row) for number, row in enumerate(rows)])


def places(digest: Digest, changed: Event) -> tuple[int, int]:
    """Where the event's block is, and where its line is in the block."""
    for place, block in enumerate(digest.blocks):
        for line, group in enumerate(block.groups):
            if (group.latest.entity, group.category) == (changed.entity, changed.category):
                return place, line
    raise AssertionError("it is not shown")


@given(inboxes, st.data(), st.sampled_from(LEVELS))
@settings(max_examples=300, deadline=None)
def test_higher_importance_never_lowers_block_or_line(
    events: list[Event], data: st.DataObject, level: Importance
) -> None:
    place = data.draw(st.integers(0, len(events) - 1))
    raised = list(events)
    low, high = sorted([events[place].importance, level], key=LEVELS.index)
    raised[place] = replace(events[place], importance=high)
    events[place] = replace(events[place], importance=low)
    before, after = (compose(each, max_blocks=50, until=UNTIL) for each in (events, raised))
    assert all(
        then <= once
        for then, once in zip(
            places(after, raised[place]), places(before, events[place]), strict=True
        )
    )


@given(inboxes, st.data(), st.sampled_from([Sections.NONE, Sections.CATEGORY]))
@settings(max_examples=200, deadline=None)
def test_higher_importance_never_lowers_block_in_sections(
    events: list[Event], data: st.DataObject, sections: Sections
) -> None:
    place = data.draw(st.integers(0, len(events) - 1))
    arrangement = Arrangement(sections=sections)
    seen = []
    for level in LEVELS:
        events[place] = replace(events[place], importance=level)
        digest = compose(events, max_blocks=50, arrangement=arrangement, until=UNTIL)
        shown = [each for within in digest.by_section().values() for each in within]
        seen.append(shown.index(places(digest, events[place])[0]))
    assert seen == sorted(seen, reverse=True)


def test_higher_ranked_block_stays_in_its_section() -> None:
    """In one of its own it would stand behind the section of replies."""
    arrangement, orders = Arrangement(sections=Sections.CATEGORY), []
    for level in LEVELS:
        events = [
            event("a", "mention", entity="first"),
            event("b", "mention", hours_ago=900, via=("topic#1",), entity="rising"),
            event("c", "sale", importance=level, hours_ago=900, entity="rising"),
            event("d", "reply", entity="other"),
        ]
        digest = compose(events, max_blocks=20, arrangement=arrangement, until=UNTIL)
        shown = [digest.blocks[each] for within in digest.by_section().values() for each in within]
        orders.append([block.latest.entity.id for block in shown])
    assert orders == [["first", "rising", "other"]] * 3


@given(inboxes, st.sampled_from(Sections), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_ranking_is_independent_of_event_order(
    events: list[Event], sections: Sections, random: Random
) -> None:
    shuffled = list(events)
    random.shuffle(shuffled)
    one, other = (
        compose(
            each, max_blocks=3, max_lines=2, arrangement=Arrangement(sections=sections), until=UNTIL
        )
        for each in (events, shuffled)
    )
    assert one == other


def test_ranking_is_independent_of_current_time() -> None:
    """The end of the window is given; without one, age is reckoned from the latest event."""
    events = [event("m", "comment", entity="x", hours_ago=100), event("l", "article", entity="y")]
    later = [replace(each, occurred_at=each.occurred_at + timedelta(days=365)) for each in events]
    assert [
        [block.latest.entity.id for block in compose(each, max_blocks=2).blocks]
        for each in (events, later)
    ] == [["y", "x"], ["y", "x"]]


def test_category_section_with_highest_block_is_first() -> None:
    events = [
        *many("like", 3, entity="liked"),
        event("m", "mention", entity="both"),
        *many("like", 3, entity="both"),
        event("c", "comment", entity="talk"),
    ]
    arrangement = Arrangement(sections=Sections.CATEGORY)
    digest = compose(events, max_blocks=20, arrangement=arrangement, until=UNTIL)
    entities = [block.latest.entity.id for block in digest.blocks]
    assert [
        (section, [entities[place] for place in within])
        for section, within in digest.by_section().items()
        if within
    ] == [("mention", ["both"]), ("comment", ["talk"]), ("like", ["liked"])]


def test_parent_sections_have_titles_and_untitled_section_is_first() -> None:
    events = [
        event("a", entity="1", parent="Gardens", importance=Importance.HIGH),
        event("b", entity="2", parent="Trees"),
        event("c", entity="3"),
        event("d", entity="4", parent="Gardens", importance=Importance.LOW),
    ]
    arrangement = Arrangement(sections=Sections.PARENT)
    digest = compose(events, max_blocks=20, arrangement=arrangement, until=UNTIL)
    assert list(digest.by_section().items()) == [("", [2]), ("Gardens", [0, 3]), ("Trees", [1])]
