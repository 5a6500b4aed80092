"""The limit of immediate emails holds for the row of a happening (rules 28 and 30)."""

from datetime import timedelta
from itertools import permutations

import pytest
from gazette.domain.commands import RetractEvent
from gazette.domain.model import DAILY
from gazette.domain.scheduling.cap import ImmediateLimit
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW
from tests.unit.routing.test_happening import (
    IMMEDIATE,
    MENTION,
    REPLY,
    Act,
    comment,
    mention,
    retract_mention,
    sent,
    the_row,
)
from tests.unit.routing.test_limit import on, places
from tests.world import World, crashes

ONE = ImmediateLimit(per_hour=1, per_day=9)


def a_world(
    mentions: Frequency = IMMEDIATE, comments: Frequency = Frequency.DAILY, *, used: bool = False
) -> World:
    """Ann gets one immediate email an hour. With `used`, she just got it."""
    world = World(limit=ONE)
    world.choose(at=NOW - timedelta(days=1), comment=comments, mention=mentions, reply=IMMEDIATE)
    world.follow(at=NOW - timedelta(days=1))
    if used:
        world.create(on(9, category="mention" if mentions is IMMEDIATE else "reply"))
    return world


@pytest.mark.parametrize("acts", list(permutations((comment, mention))))
def test_pair_takes_one_token(acts: tuple[Act, Act]) -> None:
    world = a_world(IMMEDIATE, IMMEDIATE)
    for act in acts:
        act(world)
    assert the_row(world).is_immediate
    world.send_everything()
    assert sent(world) == ["mention"]


def test_event_of_an_activity_that_was_retracted_early_takes_a_token() -> None:
    world = a_world(used=True)
    world.say(RetractEvent("ann", "c1"))
    mention(world)
    assert places(world) == {"e9": "now", "c1": DAILY}
    assert the_row(world).is_capped


@pytest.mark.parametrize("acts", list(permutations((comment, mention))))
def test_pair_over_the_limit_is_in_the_digest_for_good(acts: tuple[Act, Act]) -> None:
    world = a_world(used=True)
    for act in acts:
        act(world)
    assert places(world) == {"e9": "now", "c1": DAILY}
    assert the_row(world).is_capped
    world.clock.pass_time(hours=2)
    for act in acts:
        act(world)
    assert the_row(world).schedule == DAILY
    assert ("ann", DAILY) in world.schedules.listed
    world.send_everything()
    assert sorted(sent(world)) == ["mention", "mention"]


def test_body_that_needs_no_immediate_email_takes_no_token() -> None:
    world = a_world()
    comment(world)
    with world.calls() as calls:
        comment(world)
    assert not [call for call in calls if call.startswith("immediate_usage")]


def test_retraction_that_brings_the_row_forward_takes_a_token() -> None:
    world = a_world(Frequency.DAILY, IMMEDIATE, used=True)
    world.create(MENTION, REPLY)
    assert the_row(world).is_capped
    retract_mention(world)
    assert the_row(world).event == REPLY
    assert the_row(world).schedule == DAILY


def test_mark_remains_when_a_body_leaves_and_when_one_joins() -> None:
    world = a_world(used=True)
    mention(world)
    comment(world)
    retract_mention(world)
    assert (the_row(world).schedule, the_row(world).is_capped) == (DAILY, True)
    world.clock.pass_time(hours=2)
    world.create(REPLY)
    assert the_row(world).schedule == DAILY


def test_change_of_choices_takes_a_token_for_the_row() -> None:
    world = a_world(Frequency.DAILY, Frequency.DAILY, used=True)
    mention(world)
    comment(world)
    assert not the_row(world).is_capped
    world.choose(mention=IMMEDIATE, comment=IMMEDIATE)
    assert places(world) == {"e9": "now", "c1": DAILY}
    assert the_row(world).is_capped


def test_row_that_was_not_over_the_limit_moves() -> None:
    world = a_world(Frequency.DAILY, Frequency.DAILY)
    mention(world)
    comment(world)
    world.choose(mention=IMMEDIATE, comment=IMMEDIATE)
    assert places(world) == {"c1": "now"}


@pytest.mark.parametrize("weekly", [False, True])
def test_worker_that_dies_at_any_call_leaves_no_row_under_an_idle_digest(weekly: bool) -> None:
    def make() -> World:
        often = Frequency.WEEKLY if weekly else Frequency.DAILY
        world = a_world(often, often, used=True)
        mention(world)
        comment(world)
        return world

    def change(world: World) -> object:
        return world.choose(mention=IMMEDIATE, comment=IMMEDIATE)

    for world, where in crashes(make, change):
        change(world)
        world.send_everything()
        world.send_everything()
        assert sorted(sent(world)) == ["mention", "reply"], where
