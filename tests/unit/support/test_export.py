"""The export of a person on the fakes: page by page, while other things happen."""

import pytest
from gazette.domain.export import Cursor, InvalidCursor, NotIncluded, Part, StoredRow, read_cursor
from gazette.domain.identity import address_hash
from gazette.steps.support.export import _without_others as without_others
from gazette.steps.support.export import export_page
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW, a_follow, an_event
from tests.personal_rows import WorldRows
from tests.world import World


def a_world() -> World:
    """Ann got a digest, and two events and a follow are stored."""
    world = World()
    world.choose(at=NOW)
    world.create(an_event("e1"), an_event("e2"))
    world.arm()
    world.send_digest()
    world.follows.rows["post#p1", "ann"] = a_follow()
    return world


def exported(world: World, limit: int = 100) -> list[StoredRow]:
    found, cursor = list[StoredRow](), ""
    while True:
        page = export_page("ann", cursor, limit=limit, rows=WorldRows(world))
        assert page.not_included == tuple(NotIncluded)
        found += page.rows
        if page.next is None:
            return found
        cursor = page.next.text()


def tables(rows: list[StoredRow]) -> set[str]:
    return {row.table for row in rows}


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_export_has_all_rows_for_each_size_of_page(limit: int) -> None:
    world = a_world()
    world.unsubscribe()
    everything = exported(world)
    assert tables(everything) == {*Part, "engagement", "suppressions"}
    assert sorted(map(repr, exported(world, limit))) == sorted(map(repr, everything))


def test_export_finds_no_row_after_an_erasure() -> None:
    world = a_world()
    world.unsubscribe()
    world.erase()
    assert exported(world) == []


def test_export_finds_what_an_interrupted_erasure_left() -> None:
    world = a_world()
    world.subscribers.erase("ann", world.clock())
    assert {"events", "schedules"} <= tables(exported(world))


def test_export_has_events_that_wait_for_a_profile() -> None:
    world = World()
    world.create(an_event("e1"))
    assert tables(exported(world)) == {"events"}


def test_bounces_do_not_name_other_readers_of_the_address() -> None:
    row = StoredRow("bounces", {"messages": ["2026-11-21T08:00:00.000000Z bob-daily-3.1"]})
    assert without_others(row.values, "ann") == {"messages": ["2026-11-21T08:00:00.000000Z"]}


def test_export_ends_when_the_reader_is_erased_between_two_pages() -> None:
    for part in list(Part)[1:]:
        world = a_world()
        world.erase()
        page = export_page("ann", Cursor("ann", part).text(), rows=WorldRows(world))
        assert (list(page.rows), page.next) == ([], None)


def test_later_owner_of_an_id_gets_no_emails_from_before_the_erasure() -> None:
    world = a_world()
    world.clock.pass_time(days=2)
    world.erase()
    world.clock.pass_time(minutes=1)
    world.choose(at=world.clock())
    assert tables(exported(world)) == {"subscribers", "schedules"}
    world.create(an_event("e9", occurred_at=world.clock()))
    world.arm()
    world.clock.pass_time(days=1)
    world.send_digest()
    assert {"runs", "engagement"} <= tables(exported(world))


def test_suppression_does_not_name_other_readers_of_the_address() -> None:
    world = a_world()
    world.unsubscribe()
    world.suppressions.unsubscribe(address_hash("ann@example.com"), "bo")
    (found,) = (row for row in exported(world) if row.table == "suppressions")
    assert found.values["by"] == ["ann"]


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=200), st.sampled_from(Part))
def test_cursor_is_read_as_it_was_written(after: str, part: Part) -> None:
    cursor = Cursor("a/n?n", part, after)
    assert read_cursor(cursor.text(), "a/n?n") == cursor
    with pytest.raises(InvalidCursor):
        read_cursor(cursor.text(), "ann")


@given(st.text(min_size=1))
def test_any_other_text_is_an_invalid_cursor(text: str) -> None:
    with pytest.raises(InvalidCursor):
        read_cursor(text, "ann")


def test_everything_that_is_left_out_has_a_meaning() -> None:
    assert all(each.meaning.endswith(".") for each in NotIncluded)
    assert "24 hours" in NotIncluded.STREAMS.meaning
