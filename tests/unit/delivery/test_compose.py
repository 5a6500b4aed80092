"""Grouping, ranking and capping: the same events always make the same digest."""

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random

import pytest
from gazette.domain.delivery.arrangement import Arrangement, Ranking, Sections
from gazette.domain.delivery.compose import Count, Digest, compose
from gazette.domain.model import Actor, Entity, Event, Importance
from hypothesis import given, settings
from hypothesis import strategies as st

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def event(
    event_id: str,
    *,
    entity: str = "1",
    category: str = "message",
    kind: str = "conversation",
    actor: str | None = "bob",
    name: str = "",
    minute: int = 0,
) -> Event:
    """One event for Ann."""
    return Event(
        user_id="ann",
        id=event_id,
        category=category,
        entity=Entity(kind, entity, f"Title {entity}", f"https://x.example/{entity}"),
        actor=Actor(actor, name or actor.title()) if actor else None,
        occurred_at=NOON + timedelta(minutes=minute),
    )


def titles(digest: Digest) -> list[str]:
    """The entity of each block, as shown."""
    return [block.latest.entity.id for block in digest.blocks]


busiest = partial(compose, arrangement=Arrangement(ranking=Ranking.MOST_ACTIVE))
newest = partial(compose, arrangement=Arrangement(ranking=Ranking.LATEST))


def test_digest_without_events_is_empty() -> None:
    assert compose([], max_blocks=20) == Digest((), events=0, more_blocks=0, more_events=0)


def test_digest_lists_each_category_once_in_group_order() -> None:
    events = [
        *(event(f"m{number}", category="mention") for number in range(3)),
        *(event(f"l{number}", category="like", entity="2") for number in range(2)),
        event("m9", category="mention", entity="3"),
        event("c", category="comment", entity="4", minute=-1),
    ]
    assert busiest(events, max_blocks=20).categories == ("mention", "like", "comment")
    assert busiest(events, max_blocks=3).categories == ("mention", "like")


def test_digest_lists_at_most_ten_categories() -> None:
    """A row that holds them costs a unit for each KB."""
    events = [event(str(number), category=f"kind_{number}") for number in range(11)]
    assert len(compose(events, max_blocks=20, max_lines=20).categories) == 10


def test_events_about_same_entity_form_one_group() -> None:
    digest = compose([event("a", minute=1), event("b", minute=2)], max_blocks=20)
    (group,) = digest.groups
    assert (group.category, group.count, group.latest.id) == ("message", 2, "b")


@pytest.mark.parametrize(
    "other",
    [
        event("b", category="like"),
        event("b", kind="article"),
        event("b", entity="2"),
    ],
    ids=["category", "entity type", "entity id"],
)
def test_different_category_type_or_id_forms_separate_group(other: Event) -> None:
    assert len(compose([event("a"), other], max_blocks=20).groups) == 2


def test_actors_are_distinct_with_most_recent_first() -> None:
    events = [
        event("a", actor="bob", minute=1),
        event("b", actor="cleo", minute=2),
        event("c", actor="dora", minute=3),
        event("d", actor="bob", minute=4),
    ]
    (group,) = compose(events, max_blocks=20).groups
    assert [actor.id for actor in group.actors] == ["bob", "dora", "cleo"]


def test_renamed_actor_is_shown_with_latest_name() -> None:
    events = [event("a", name="Bob", minute=1), event("b", name="Robert", minute=2)]
    (group,) = compose(events, max_blocks=20).groups
    assert group.actors == (Actor("bob", "Robert"),)


def test_most_active_group_is_first() -> None:
    events = [
        event("a", entity="new", minute=9),
        event("b", entity="busy"),
        event("c", entity="busy"),
    ]
    assert titles(busiest(events, max_blocks=20)) == ["busy", "new"]


def test_latest_event_breaks_ties_between_groups() -> None:
    events = [event("a", entity="old", minute=1), event("b", entity="new", minute=2)]
    assert titles(compose(events, max_blocks=20)) == ["new", "old"]


def test_group_ties_are_decided_by_microseconds() -> None:
    old = event("a", entity="old")
    new = Event(
        user_id="ann",
        id="b",
        category="message",
        entity=Entity("conversation", "z", "Z", "https://x.example/z"),
        actor=Actor("bob", "Bob"),
        occurred_at=NOON + timedelta(microseconds=1),
    )
    assert titles(compose([old, new], max_blocks=20)) == ["z", "old"]


def test_equal_groups_are_ordered_by_key() -> None:
    events = [
        event("a", entity="2"),
        event("b", entity="1"),
        event("c", category="like", entity="9"),
    ]
    assert titles(busiest(events, max_blocks=20)) == ["1", "2", "9"], "likes are not for her"


@pytest.mark.parametrize(
    ("cap", "shown", "more_groups", "more_events"),
    [(1, 1, 3, 6), (3, 3, 1, 1), (4, 4, 0, 0), (5, 4, 0, 0)],
)
def test_omitted_events_are_counted_exactly(
    cap: int, shown: int, more_groups: int, more_events: int
) -> None:
    """Four groups of 4, 3, 2 and 1 events."""
    events = [
        event(f"{entity}.{number}", entity=str(entity))
        for entity in range(1, 5)
        for number in range(entity)
    ]
    digest = compose(events, max_blocks=cap)
    assert digest.events == 10
    assert (len(digest.groups), digest.more_blocks, digest.more_events) == (
        shown,
        more_groups,
        more_events,
    )


inboxes = st.lists(
    st.builds(
        lambda entity, category, actor, minute: (entity, category, actor, minute),
        st.sampled_from("123"),
        st.sampled_from(["message", "like"]),
        st.sampled_from(["bob", "cleo", "dora", None]),
        st.integers(0, 4),
    ),
    max_size=25,
).map(
    lambda rows: [
        event(f"e{number}", entity=entity, category=category, actor=actor, minute=minute)
        for number, (entity, category, actor, minute) in enumerate(rows)
    ]
)


@given(inboxes, st.integers(1, 8), st.randoms(use_true_random=False))
@settings(max_examples=75, deadline=None)
def test_digest_is_independent_of_event_order(
    events: list[Event], cap: int, random: Random
) -> None:
    shuffled = list(events)
    random.shuffle(shuffled)
    assert compose(iter(shuffled), max_blocks=cap) == compose(events, max_blocks=cap)


def updates(events: list[Event]) -> int:
    """How many updates the events of one line are: who likes something twice likes it."""
    if events[0].category != "like":
        return len(events)
    return len({each.actor or each.id for each in events})


@given(inboxes, st.integers(1, 4), st.integers(1, 3))
@settings(max_examples=75, deadline=None)
def test_every_event_is_shown_or_counted_as_omitted(
    events: list[Event], cap: int, lines: int
) -> None:
    members: dict[tuple[str, str, bool], list[Event]] = defaultdict(list)
    for each in events:
        members[each.category, each.entity.id, each.actor is None].append(each)
    entities = {entity for _, entity, _ in members}
    digest = compose(events, max_blocks=cap, max_lines=lines)
    assert digest.events == sum(map(updates, members.values()))
    assert digest.events == sum(group.count for group in digest.groups) + digest.more_events
    assert len(digest.blocks) == min(cap, len(entities))
    assert len(digest.blocks) + digest.more_blocks == len(entities)
    for group in digest.groups:
        mine = members[group.category, group.latest.entity.id, not group.actors]
        assert group.count == updates(mine)
        assert {actor.id for actor in group.actors} == {
            each.actor.id for each in mine if each.actor
        }
        assert group.latest == max(mine, key=lambda each: (each.occurred_at, each.id))
        assert group.actors[:1] == ((group.latest.actor,) if group.latest.actor else ())


@given(inboxes)
@settings(max_examples=75, deadline=None)
def test_each_entity_has_one_block_with_distinct_lines(
    events: list[Event],
) -> None:
    digest = compose(events, max_blocks=20)
    entities = [block.latest.entity.key for block in digest.blocks]
    assert len(set(entities)) == len(entities)
    for block in digest.blocks:
        assert {group.latest.entity.key for group in block.groups} == {block.latest.entity.key}
        lines = [(group.category, bool(group.actors)) for group in block.groups]
        assert len(set(lines)) == len(lines)


def test_block_title_is_that_of_latest_event() -> None:
    old = event("a", category="mention", minute=1)
    new = event("b", category="like", minute=2)
    renamed = replace(new, entity=replace(new.entity, title="Renamed"))
    for events in ([old, renamed], [renamed, old]):
        (block,) = compose(events, max_blocks=1).blocks
        assert [group.category for group in block.groups] == ["mention", "like"]
        assert block.latest.entity.title == "Renamed"


def test_lines_omitted_from_block_are_counted() -> None:
    events = [event(f"{n}", category=f"kind_{n % 5}", entity=str(n // 20)) for n in range(40)]
    digest = compose(events, max_blocks=1, max_lines=2)
    assert [len(block.groups) for block in digest.blocks] == [2]
    assert (digest.events, digest.more_blocks, digest.more_events) == (40, 1, 32)


def test_first_blocks_are_full_and_remaining_blocks_compact() -> None:
    events = [event(f"{number}", entity=f"{number}", minute=-number) for number in range(12)]
    assert [block.is_full for block in compose(events, max_blocks=10).blocks] == [
        *[True] * 8,
        *[False] * 2,
    ]
    few = Arrangement(full_blocks=0)
    assert not any(block.is_full for block in compose(events, max_blocks=9, arrangement=few).blocks)


def test_newest_block_is_first_when_ranked_by_recency() -> None:
    events = [
        event("a", entity="busy"),
        event("b", entity="busy", category="mention", minute=1),
        event("c", entity="new", minute=2),
    ]
    assert titles(newest(events, max_blocks=20)) == ["new", "busy"]
    assert titles(busiest(events, max_blocks=20)) == ["busy", "new"]


def test_updates_for_the_reader_come_first_in_each_ranking() -> None:
    """Twenty comments count more, and the like is newer."""
    events = [
        *(event(f"c{number}", category="comment", entity="c") for number in range(20)),
        event("l", category="like", entity="l", minute=9),
        event("r", category="reply", entity="r"),
    ]
    for arrange in (compose, busiest, newest):
        digest = arrange(events, max_blocks=20)
        assert titles(digest)[0] == "r"
        assert [block.is_for_reader for block in digest.blocks] == [True, False, False]


@pytest.mark.parametrize(
    ("category", "importance", "via", "weights", "is_for_reader"),
    [
        ("reply", Importance.NORMAL, (), {}, True),
        ("reply", Importance.LOW, (), {}, False),
        ("mention", Importance.LOW, (), {}, False),
        ("comment", Importance.NORMAL, (), {}, False),
        ("comment", Importance.NORMAL, (), {"comment": 6.0}, True),
        ("message", Importance.NORMAL, (), {"message": 5.9}, False),
        ("reply", Importance.NORMAL, ("blog#1",), {}, False),
        ("like", Importance.HIGH, (), {}, True),
        ("article", Importance.HIGH, ("blog#1",), {}, True),
    ],
)
def test_weight_importance_and_addressee_decide_what_is_for_the_reader(
    category: str,
    importance: Importance,
    via: tuple[str, ...],
    weights: dict[str, float],
    is_for_reader: bool,
) -> None:
    one = replace(event("e", category=category), importance=importance, via=via)
    arrangement = Arrangement(weights={**Arrangement().weights, **weights})
    digest = compose([one], max_blocks=1, arrangement=arrangement)
    assert digest.blocks[0].is_for_reader is is_for_reader
    assert digest.counts == (Count(category, 1, is_for_reader),)


def test_important_updates_come_before_all_others() -> None:
    low = replace(event("l", category="like", entity="l"), importance=Importance.HIGH)
    events = [event("m", category="mention", entity="m"), low]
    for arrange in (compose, busiest, newest):
        assert titles(arrange(events, max_blocks=20)) == ["l", "m"]


def test_items_of_content_sources_are_not_for_the_reader() -> None:
    item = replace(event("i", category="message"), source="picks", importance=Importance.HIGH)
    assert not compose([item], max_blocks=1, sources=("picks",)).blocks[0].is_for_reader


def test_sections_keep_the_order_of_relevance() -> None:
    """With sections, an update that is low in relevance does not move up."""
    events = [
        *(event(f"c{number}", category="comment", entity="c") for number in range(20)),
        event("r", category="reply", entity="r"),
    ]
    arrangement = Arrangement(sections=Sections.CATEGORY, ranking=Ranking.MOST_ACTIVE)
    assert titles(compose(events, max_blocks=20, arrangement=arrangement)) == ["c", "r"]


def test_updates_are_counted_by_category_whether_shown_or_not() -> None:
    events = [
        *(event(f"l{number}", category="like", actor=f"p{number}") for number in range(3)),
        event("again", category="like", actor="p1"),
        *(event(f"c{number}", category="comment", entity=f"{number}") for number in range(4)),
        *(event(f"r{number}", category="reply", entity="r") for number in range(2)),
    ]
    digest = compose(events, max_blocks=2)
    assert digest.counts == (
        Count("reply", 2, is_for_reader=True),
        Count("comment", 4, is_for_reader=False),
        Count("like", 3, is_for_reader=False),
    )
    assert sum(each.updates for each in digest.counts) == digest.events


@pytest.mark.parametrize("full", [0, 1])
def test_only_the_first_line_of_a_block_with_quotes_has_the_latest_events(full: int) -> None:
    events = [
        *(event(f"m{number}", minute=number) for number in range(5)),
        *(event(f"c{number}", category="comment", minute=number) for number in range(5)),
        *(event(f"d{number}", category="comment", entity="d") for number in range(5)),
    ]
    digest = compose(events, max_blocks=2, arrangement=Arrangement(full_blocks=full))
    quoted = [[each.id for each in group.quoted] for group in digest.groups]
    assert quoted == [["m4", "m3", "m2"] if full else [], [], []]
