"""Ids, memory and choice of items."""

from datetime import timedelta

from gazette.domain.content.items import (
    CONTENT_SOURCES,
    EVENTS,
    LONGEST_ID,
    RECOMMENDATIONS,
    REMEMBERED,
    Shown,
    event_id,
    event_of,
    refreshed,
    source_of,
)
from gazette.domain.model import StoredEvent
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW
from tests.unit.content.asking import an_item

IDS = st.text(min_size=1, max_size=LONGEST_ID)
FEW_IDS = st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True)


@given(IDS, IDS)
def test_event_ids_of_items_are_unique(one: str, other: str) -> None:
    assert (event_id(RECOMMENDATIONS, one) == event_id(RECOMMENDATIONS, other)) == (one == other)


@given(IDS)
def test_event_id_of_item_is_short_and_names_its_source(item_id: str) -> None:
    found = event_id(RECOMMENDATIONS, item_id)
    assert len(found) <= LONGEST_ID
    assert source_of(found) == RECOMMENDATIONS


def test_hashed_item_id_never_equals_plain_id() -> None:
    hashed = event_id(RECOMMENDATIONS, "x" * LONGEST_ID)
    assert event_id(RECOMMENDATIONS, hashed.partition("#")[2]) != hashed


def test_ordinary_event_ids_have_no_content_source() -> None:
    assert [source_of(each) for each in ("comment-1", "recommendations", "recommendation:1")] == [
        "",
        "",
        "",
    ]


@given(st.lists(st.lists(IDS, max_size=30), max_size=12))
def test_item_memory_keeps_newest_ids_up_to_maximum(
    offered: list[list[str]],
) -> None:
    shown = Shown()
    newest: dict[str, None] = {}
    for event_ids in offered:
        shown = shown.with_(event_ids)
        for each in event_ids:
            newest.pop(each, None)
        newest |= dict.fromkeys(event_ids)
        assert len(shown.hashes) <= 6 * REMEMBERED
    assert all(map(shown.holds, list(newest)[-REMEMBERED:]))


@given(FEW_IDS, FEW_IDS, FEW_IDS)
def test_item_removed_from_memory_is_forgotten(
    had: list[str], gone: list[str], asked: list[str]
) -> None:
    shown = Shown().with_(had).without(gone)
    assert [each for each in asked if shown.holds(each)] == [
        each for each in asked if each in had and each not in gone
    ]


@given(FEW_IDS, FEW_IDS, FEW_IDS, st.integers(1, 5))
def test_fetch_never_returns_items_of_earlier_digests(
    had: list[str], waits: list[str], answered: list[str], limit: int
) -> None:
    """Whatever the source says: old items do not come, and no more than are wanted."""
    waits = [each for each in waits if each not in had]
    waiting = [
        StoredEvent(event_of(an_item(each), "ann", NOW), "daily", NOW, NOW + timedelta(days=35))
        for each in waits
    ]
    shown = Shown().with_(event_id(RECOMMENDATIONS, each) for each in (*had, *waits))
    found = refreshed(
        map(an_item, answered),
        waiting=waiting,
        shown=shown,
        user_id="ann",
        at=NOW + timedelta(hours=1),
        limit=limit,
    )
    offered = [each.partition(":")[2] for each in found.offered]
    assert offered == [each for each in answered if each not in had][:limit]
    assert [each.entity.id for each in found.changed] == [
        each for each in offered if each not in waits
    ]


def test_events_precede_items_by_default() -> None:
    assert CONTENT_SOURCES[0] == EVENTS
