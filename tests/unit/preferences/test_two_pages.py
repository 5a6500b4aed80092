"""Pages that are open at the same time: a field that a page did not change is left alone."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from itertools import product
from urllib.parse import urlencode

import pytest
from gazette.domain.links import DIGESTS, LinkToken, Scope, ScopeKind
from gazette.domain.scheduling.quiet_form import QUIET_FIELDS
from gazette.domain.subscribers.choices import Choice
from gazette.domain.subscribers.following import FollowState
from gazette.domain.subscribers.frequency import Frequency
from gazette.domain.subscribers.leaving import LeaveAct
from gazette.domain.subscribers.overview import Notice, Overview
from gazette.domain.subscribers.preference_form import (
    Fields,
    Problem,
    asked,
    follow_field,
    mark_of_leave,
    shown_fields,
    written_fields,
)
from gazette.domain.subscribers.subscriber import SubscriberStatus
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import NOW, a_link
from tests.world import World

POST = "post#post1"
FOLLOW = follow_field(POST)
CATEGORIES = ("comment", "like")
MINUTE = timedelta(minutes=1)
LIKES = Scope(ScopeKind.CATEGORY, ("like",))

VALUES: Mapping[str, list[list[str]]] = {
    "frequency": [["weekly"], ["immediate"]],
    "category-comment": [["never"], ["weekly"]],
    "category-like": [["never"], ["custom"]],
    "hour": [["7"], ["21"]],
    "time_zone": [["Asia/Kolkata"]],
    "weekly_on": [["3"], ["6"]],
    "days": [["2", "4"], ["6"]],
    "weeks": [["2"], ["3"]],
    "paused_until": [["2026-12-01"], ["2026-12-20"]],
    "quiet": [["hours"]],
    "quiet_from": [["20:00"]],
    FOLLOW: [["never"], ["weekly"]],
}
"""What a page may make of each field; "days" and "weeks" are one, and so are quiet hours."""


def a_world() -> World:
    """Ann follows a post daily and chose once; nothing is paused."""
    world = World()
    world.choose(at=NOW - timedelta(days=1), like=Frequency.DAILY)
    follows = POST, FollowState(True, Frequency.DAILY, "Post")
    world.save(Choice(frequency=Frequency.DAILY), follows)
    world.clock.now += MINUTE
    return world


def seen(world: World) -> Overview:
    overview = world.read_overview()
    assert overview
    return overview


def shown(world: World) -> dict[str, list[str]]:
    """The fields of the page as it is shown now."""
    return {name: [*each] for name, each in shown_fields(seen(world), CATEGORIES).items()}


def opened(world: World, **changed: list[str]) -> Fields:
    """What a browser will send of the page as it is shown now, with some fields changed."""
    fields = shown(world)
    was = written_fields(fields)
    named = {name.replace("__", "-"): values for name, values in changed.items()}
    return {**fields, **named, "was": [was], "act": ["save"]}


def change(form: Fields, changed: Mapping[str, list[str]]) -> Fields:
    return {**form, **changed}


def saved(world: World, form: Fields) -> Notice | None:
    world.clock.now += MINUTE
    return world.submit(a_link(), form).notice


ORDERS = ("1o 2o 1s 2s", "1o 2o 2s 1s", "1o 1s 2o 2s", "2o 1o 1s 2s")
SINGLE = [(name, value) for name, values in VALUES.items() for value in values]


@pytest.mark.parametrize("order", ORDERS)
def test_trace_ak_two_open_pages_keep_unchanged_fields(order: str) -> None:
    for (first, one), (second, other) in product(SINGLE, SINGLE):
        world = a_world()
        expected = shown(world)
        changes = {"1": {first: one}, "2": {second: other}}
        forms: dict[str, Fields] = {}
        for step in order.split():
            page, what = step[0], step[1]
            if what == "o":
                forms[page] = opened(world)
                continue
            expected |= as_one(forms[page], changes[page])
            saved(world, change(forms[page], changes[page]))
        assert shown(world) == expected, (first, one, second, other)


def as_one(form: Fields, changed: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """What a page changes: the days and their weeks only together, and so the quiet hours.

    The times change nothing if the page has no quiet hours.
    """
    expected = {name: value for name, value in changed.items() if name not in QUIET_FIELDS}
    if {"days", "weeks"} & {*changed}:
        days = {"days": [*form["days"]], "weeks": [*form["weeks"]]}
        expected = {**days, **expected}
    sent = change(form, changed)
    if sent["quiet"] == ["hours"] and {*QUIET_FIELDS} & {*changed}:
        expected |= {name: [*sent[name]] for name in QUIET_FIELDS}
    return expected


pages = st.lists(
    st.fixed_dictionaries({}, optional={name: st.sampled_from(VALUES[name]) for name in VALUES}),
    min_size=1,
    max_size=4,
)


@given(pages, st.data())
@settings(max_examples=150, deadline=None)
def test_any_number_of_open_pages_keep_unchanged_fields(
    changes: list[dict[str, list[str]]], data: st.DataObject
) -> None:
    world = a_world()
    expected = shown(world)
    steps = data.draw(st.permutations([*range(len(changes))] * 2), label="steps")
    forms: dict[int, Fields] = {}
    for page in steps:
        if page not in forms:
            forms[page] = opened(world)
            continue
        real = {name: value for name, value in changes[page].items() if forms[page][name] != value}
        expected |= as_one(forms[page], real)
        saved(world, change(forms[page], changes[page]))
    assert shown(world) == expected


def by_email(world: World, scope: Scope, act: LeaveAct = LeaveAct.LEAVE) -> None:
    """A button of an email, confirmed."""
    reader = seen(world).subscriber
    link = replace(LinkToken.of(a_link().run, world.clock(), reader), scope=scope)
    world.clock.now += MINUTE
    world.leave_by(link, act)


def test_older_page_does_not_undo_unsubscribe_by_email() -> None:
    world = a_world()
    form = opened(world, hour=["9"])
    by_email(world, LIKES)
    assert saved(world, form) is Notice.SAVED
    reader = seen(world).subscriber
    assert dict(reader.chosen)["like"] is Frequency.NEVER
    assert reader.times.hour == 9


@pytest.mark.parametrize("scope", [LIKES, DIGESTS], ids=lambda scope: scope.kind.name)
@pytest.mark.parametrize("act", [LeaveAct.LEAVE, LeaveAct.WEEKLY, LeaveAct.PAUSE])
def test_saving_older_page_keeps_changes_made_by_email(scope: Scope, act: LeaveAct) -> None:
    world = a_world()
    form = opened(world, weekly_on=["5"])
    by_email(world, scope, act)
    after = shown(world)
    saved(world, form)
    assert shown(world) == {**after, "weekly_on": ["5"]}


def test_saving_unchanged_page_changes_nothing() -> None:
    world = a_world()
    form = opened(world)
    by_email(world, LIKES)
    put = len(world.bus.taken)
    assert saved(world, form) is Notice.UNCHANGED
    assert len(world.bus.taken) == put


def test_page_of_previous_version_is_compared_with_stored_choices() -> None:
    world = a_world()
    form = {name: each for name, each in opened(world).items() if name != "was"}
    world.save(Choice(clock=(7, None)))
    assert saved(world, form) is Notice.SAVED
    assert seen(world).subscriber.times.hour == 8


def test_older_page_does_not_end_later_pause() -> None:
    world = a_world()
    saved(world, opened(world, paused_until=["2026-12-01"]))
    resume = {"act": ["resume"], "was": opened(world)["was"]}
    other = opened(world, hour=["9"], paused_until=["2026-12-01"])
    saved(world, opened(world, paused_until=["2026-12-10"]))
    for form in (resume, other):
        saved(world, form)
        assert seen(world).subscriber.times.paused_until == date(2026, 12, 10)
    saved(world, {"act": ["resume"], "was": opened(world)["was"]})
    assert not seen(world).is_paused


def test_pause_button_applies_displayed_date_even_if_unchanged() -> None:
    world = a_world()
    saved(world, opened(world, paused_until=["2026-12-01"]))
    form = {**opened(world), "act": ["pause"]}
    saved(world, {"act": ["resume"], "was": form["was"]})
    assert not seen(world).is_paused
    assert saved(world, form) is Notice.SAVED
    assert seen(world).subscriber.times.paused_until == date(2026, 12, 1)


def test_older_page_does_not_restart_ended_follow() -> None:
    world = a_world()
    form = opened(world, **{FOLLOW: ["weekly"]})
    saved(world, opened(world, **{FOLLOW: ["unfollow"]}))
    saved(world, form)
    assert seen(world).follows == ()


def test_resetting_a_choice_restores_default() -> None:
    world = a_world()
    saved(world, opened(world, category__like=["never"]))
    form = opened(world, category__like=[""])
    saved(world, opened(world, category__comment=["never"]))
    assert saved(world, form) is Notice.SAVED
    assert shown(world)["category-like"] == [""]
    assert shown(world)["category-comment"] == ["never"]


def test_invalid_fields_keep_originally_shown_values() -> None:
    """The page comes again with what was sent, and must not take that for what it had shown."""
    world = a_world()
    form = opened(world, hour=["9"], time_zone=["Mars/Olympus"])
    answer = world.submit(a_link(), form)
    assert answer.problems == {"time_zone": Problem.NOT_OFFERED}
    assert answer.sent is not None
    again = {**answer.sent, "time_zone": ["Asia/Kolkata"]}
    by_email(world, LIKES)
    saved(world, again)
    now = shown(world)
    assert (now["hour"], now["time_zone"]) == (["9"], ["Asia/Kolkata"])
    assert now["category-like"] == ["never"]


@pytest.mark.parametrize("was", ["", "%", "hour", "&" * 5000, "hour=" + "9" * 20_000])
def test_any_originally_shown_values_are_read(was: str) -> None:
    world = a_world()
    form = {**opened(world, hour=["9"]), "was": [was]}
    found = asked(form, seen(world), categories=CATEGORIES, zones=("Europe/Berlin",))
    assert not found.problems


def test_largest_form_is_half_of_size_limit() -> None:
    """A hundred follows and as many categories, each with the longest name."""
    names = [f"category-{number:032}" for number in range(100)]
    names += [follow_field(str(number)) for number in range(100)]
    fields = {name: ["immediate"] for name in names}
    rest = {name: values[0] for name, values in VALUES.items()}
    form = {**fields, **rest, "was": [written_fields({**fields, **rest})], "act": ["save"]}
    assert len(urlencode(form, doseq=True)) < 24 * 1024


# Starting again.


def test_trace_am_older_page_does_not_undo_later_unsubscribe() -> None:
    world = a_world()
    world.unsubscribe()
    start = {"act": ["start"], "left": [mark_of_leave(seen(world).subscriber)]}
    assert saved(world, start) is Notice.STARTED
    assert saved(world, start) is Notice.STARTED, "they are back already"
    world.clock.now += MINUTE
    world.unsubscribe()
    assert saved(world, start) is Notice.UNCHANGED
    reader = seen(world).subscriber
    assert reader.status is SubscriberStatus.UNSUBSCRIBED
    assert world.suppressions.holds(a_link().address)
    assert saved(world, {**start, "left": [mark_of_leave(reader)]}) is Notice.STARTED


def test_page_of_previous_version_can_resubscribe_reader() -> None:
    world = a_world()
    world.unsubscribe()
    assert saved(world, {"act": ["start"]}) is Notice.STARTED
