"""Muting one thing: by the link in an email, with undo, and on the preference page."""

from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import pytest
from gazette.domain.errors import InvalidToken
from gazette.domain.links import LONGEST_URL, UNDO_FOR, LinkToken, read_link, thing_in, thing_scope
from gazette.domain.muting.mutes import (
    LONGEST_TITLE,
    MOST_ENDED,
    MOST_MUTED,
    Mute,
    changed,
    in_force,
    mute_now,
    short_title,
)
from gazette.domain.subscribers.leaving import LeaveAct
from gazette.domain.subscribers.overview import Notice
from gazette.domain.subscribers.preference_form import unmute_value
from gazette.domain.subscribers.subscriber import Subscriber

from tests.builders import NOW, a_link
from tests.world import World

POST = "post#p1"
MINUTE = timedelta(minutes=1)


def the_link(entity: str = POST, title: str = "On digests") -> LinkToken:
    scope = thing_scope(entity, title)
    assert scope
    return replace(a_link(), scope=scope)


def a_world() -> World:
    world = World()
    world.choose(at=NOW - timedelta(days=1))
    return world


def the_reader(world: World) -> Subscriber:
    reader = world.subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    return reader


def muted(world: World) -> list[str]:
    return [mute.entity for mute in in_force(the_reader(world).mutes)]


def form(world: World, *values: str) -> dict[str, list[str]]:
    return {"act": ["save"], "was": [""], "unmute": [*values]}


def shown_values(world: World) -> list[str]:
    return [unmute_value(mute) for mute in in_force(the_reader(world).mutes)]


def test_opened_link_changes_nothing_and_names_the_thing() -> None:
    world = a_world()
    page = world.look(the_link())
    assert (page.thing, page.act, muted(world)) == ("On digests", None, [])


def test_pressed_link_mutes_the_thing_and_keeps_a_short_title() -> None:
    world = a_world()
    page = world.leave_by(the_link(title="On digests " * 20))
    assert (page.act, page.left_at, page.has_no_room) == (LeaveAct.LEAVE, NOW, False)
    (mute,) = the_reader(world).mutes
    assert (mute.entity, len(mute.title)) == (POST, LONGEST_TITLE)
    assert not world.bus.taken


def test_undo_ends_the_mute() -> None:
    world = a_world()
    page = world.leave_by(the_link())
    world.clock.now += MINUTE
    assert world.take_back(the_link(), page).act is LeaveAct.UNDO
    assert muted(world) == []


def test_second_press_changes_nothing_and_offers_the_undo_of_the_first() -> None:
    world = a_world()
    world.leave_by(the_link())
    before = the_reader(world)
    world.clock.now += MINUTE
    page = world.leave_by(the_link())
    assert (page.left_at, page.undoable_at) == (None, NOW)
    assert the_reader(world).mutes == before.mutes


def test_press_long_after_the_first_offers_no_undo() -> None:
    world = a_world()
    world.leave_by(the_link())
    world.clock.now += UNDO_FOR + MINUTE
    assert world.leave_by(the_link()).undoable_at is None


def test_old_undo_does_not_end_a_later_mute() -> None:
    world = a_world()
    first = world.leave_by(the_link())
    world.clock.now += MINUTE
    world.take_back(the_link(), first)
    world.clock.now += MINUTE
    world.leave_by(the_link())
    for _ in range(2):
        assert world.take_back(the_link(), first).act is LeaveAct.LEAVE
        assert muted(world) == [POST]


def test_link_to_a_former_address_mutes_nothing() -> None:
    world = a_world()
    reader = the_reader(world)
    assert world.subscribers.put(
        replace(reader, email="new@example.com", revision=9), replacing=reader
    )
    assert world.leave_by(the_link()).reader is None
    assert muted(world) == []


def test_reader_who_left_mutes_nothing() -> None:
    world = a_world()
    world.unsubscribe()
    assert world.leave_by(the_link()).act is LeaveAct.LEAVE
    assert muted(world) == []


def full() -> World:
    world = a_world()
    reader = the_reader(world)
    mutes = tuple(Mute(f"post#{number:03}", NOW) for number in range(MOST_MUTED))
    assert world.subscribers.put(replace(reader, mutes=mutes), replacing=reader)
    return world


def test_mute_of_one_thing_too_many_is_refused_and_the_others_stay() -> None:
    world = full()
    page = world.leave_by(the_link())
    assert (page.has_no_room, page.undoable_at) == (True, None)
    assert len(muted(world)) == MOST_MUTED
    assert POST not in muted(world)


def test_muted_thing_can_be_muted_again_in_a_full_list() -> None:
    assert not full().leave_by(the_link("post#000")).has_no_room


def test_preference_page_ends_the_ticked_mutes_only() -> None:
    world = a_world()
    world.mute(POST)
    world.mute("post#p2")
    first, _ = shown_values(world)
    world.clock.now += MINUTE
    assert world.submit(a_link(), form(world, first)).notice is Notice.SAVED
    assert muted(world) == ["post#p2"]
    assert world.submit(a_link(), form(world)).notice is Notice.UNCHANGED


def test_outdated_page_does_not_end_a_later_mute() -> None:
    world = a_world()
    world.mute(POST)
    values = shown_values(world)
    world.clock.now += MINUTE
    world.unmute(POST)
    world.clock.now += MINUTE
    world.mute(POST)
    assert world.submit(a_link(), form(world, *values)).notice is Notice.UNCHANGED
    assert muted(world) == [POST]


@pytest.mark.parametrize("value", ["", "x", "x.y", f"x.{NOW.isoformat()}"])
def test_unknown_value_of_a_checkbox_is_ignored(value: str) -> None:
    world = a_world()
    world.mute(POST)
    assert world.submit(a_link(), form(world, value)).notice is Notice.UNCHANGED
    assert muted(world) == [POST]


def test_mute_counts_even_if_the_clock_of_a_service_was_ahead() -> None:
    ahead = Mute(POST, NOW + MINUTE, is_muted=False)
    mute = mute_now(POST, "", (ahead,), NOW)
    assert in_force(changed((ahead,), [mute]).mutes) == (mute,)


def test_changes_in_any_order_have_the_same_result() -> None:
    changes = [
        Mute(POST, NOW, title="T"),
        Mute(POST, NOW).ended,
        Mute(POST, NOW + MINUTE, title="T"),
        Mute("post#p2", NOW, is_muted=False),
    ]
    forwards = changed((), changes).mutes
    assert {changed((), order).mutes for order in permutations(changes)} == {forwards}
    assert changed(forwards, changes).mutes == forwards
    assert [mute.entity for mute in in_force(forwards)] == [POST]


def test_newest_ended_mutes_are_kept() -> None:
    ends = [Mute(f"post#{n:03}", NOW + n * MINUTE, is_muted=False) for n in range(MOST_ENDED + 5)]
    kept = changed((), ends).mutes
    assert kept == tuple(ends[5:])


@pytest.mark.parametrize(
    ("entity", "title"),
    [
        (POST, "On digests"),
        (POST, ""),
        ("post#a#b\u00df \U0001f600", "<b>\u05d0 \"' &"),
        (f"{'t' * 32}#{chr(0x1F600) * 128}", "x" * 200),
    ],
)
def test_link_contains_the_thing_and_stays_short(entity: str, title: str) -> None:
    link = the_link(entity, short_title(title))
    assert read_link(link.to_text()) == link
    key, shown = thing_in(link.scope)
    assert key == entity
    assert shown in {short_title(title), ""}
    assert len(link.to_text()) * 4 / 3 + 200 < LONGEST_URL


def test_thing_with_too_long_a_key_has_no_link() -> None:
    assert thing_scope("post#" + "x" * 600, "") is None


@pytest.mark.parametrize("scope", ["m", "m:", "m:!", "m:_w", "m:a,b", "m:\u00e9"])
def test_scope_that_is_no_thing_is_invalid(scope: str) -> None:
    run, _, *rest = a_link().to_text().split(".")
    with pytest.raises(InvalidToken):
        read_link(".".join((run, scope, *rest)))
