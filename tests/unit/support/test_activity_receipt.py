"""Receipts of activities: their followers, counted by what became of their events."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.commands import ChangeSubscriber, CreateActivity, RetractActivity
from gazette.domain.receipts.receipt import ActivityReceipt, FollowerOutcomes, State
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.support.activity_receipt import activity_receipt, follower_outcomes

from tests.builders import NOW, a_subscriber, an_activity
from tests.receipts import activity_context
from tests.world import World

POST, BLOG = "post#post1", "blog#b1"
DAY = timedelta(days=1)


def a_world(*readers: str, side: str = POST) -> World:
    """A world in which readers follow an entity since yesterday."""
    world = World()
    for user_id in readers:
        world.say(
            ChangeSubscriber(
                a_subscriber(user_id, email=f"{user_id}@example.com", comment=Frequency.DAILY)
            )
        )
        follow(world, user_id, side)
    return world


def follow(world: World, user_id: str, side: str, *, since: timedelta = DAY) -> None:
    world.follow(user_id, side, at=NOW - since)


def happen(world: World, parent: str | None = None, **changes: object) -> None:
    activity = replace(an_activity(parent=parent), **changes)  # type: ignore[arg-type]
    world.say(CreateActivity(activity))
    world.work_off_followers()


def counted(
    world: World, *, after: tuple[str, str] | None = None, at_most: int = 1000
) -> FollowerOutcomes:
    result = follower_outcomes(
        POST, "a1", after=after, at_most=at_most, context=activity_context(world)
    )
    assert result
    return result


def test_followers_are_counted_by_the_state_of_their_events() -> None:
    world = a_world("ann", "cy", "dee")
    world.choose("dee", comment=Frequency.IMMEDIATE, at=NOW + DAY / 24)
    happen(world)
    assert counted(world) == FollowerOutcomes({State.WAITING: 2, State.COLLECTING: 1}, 0, 0, None)
    world.send_digest(user_id="cy")
    assert counted(world).outcomes == {State.EMAILED: 3}


def test_retracted_activity_is_counted_for_followers_who_had_it() -> None:
    world = a_world("ann")
    happen(world)
    world.say(RetractActivity(POST, "a1"))
    world.work_off_followers()
    assert counted(world).outcomes == {State.RETRACTED: 1}
    told = activity_receipt(POST, "a1", activities=world.activities)
    assert (told.stored, told.retracted, told.distributed) == (True, True, True)


def test_actor_and_later_followers_do_not_count() -> None:
    world = a_world("ann", "bo")
    happen(world)  # Bo is the actor
    world.clock.now += DAY
    follow(world, "late", POST, since=-DAY)
    assert counted(world) == FollowerOutcomes({State.WAITING: 1}, 2, 0, None)


def test_follower_of_entity_and_parent_counts_once() -> None:
    world = a_world("ann", "cy")
    follow(world, "ann", BLOG)
    follow(world, "dee", BLOG)
    happen(world, parent=BLOG)
    found = counted(world)
    assert sum(found.outcomes.values()) == 3
    assert (found.others, found.next) == (1, None)


@pytest.mark.parametrize("at_most", [1, 2, 3, 100])
def test_count_continues_where_it_ended(at_most: int) -> None:
    world = a_world(*(f"reader{number}" for number in range(4)))
    for number in range(3):
        follow(world, f"other{number}", BLOG)
    happen(world, parent=BLOG)
    total, after, parts = 0, None, 0
    while parts == 0 or after:
        part = counted(world, after=after, at_most=at_most)
        assert sum(part.outcomes.values()) <= at_most
        total, after, parts = total + sum(part.outcomes.values()), part.next, parts + 1
    assert total == 7
    assert parts <= 7 // at_most + 2


def test_number_of_calls_is_bounded_by_the_number_of_follows() -> None:
    world = a_world(*(f"reader{number:03}" for number in range(150)))
    happen(world)
    with world.calls() as called:
        counted(world, at_most=100)
    assert called.count("follows.page") == called.count("events.find_many") == 1
    assert called.count("runs.chain") == 100
    assert len(called) <= 104


def test_unreadable_rows_are_counted_and_do_not_end_the_count() -> None:
    world = a_world("ann", "bo", "cy", "dee")
    happen(world, actor=None)
    world.send_digest(user_id="cy")
    world.events.unreadable.add(("ann", "a1"))
    world.runs.unreadable.update(key for key in world.runs.rows if key.user_id == "cy")
    world.follows.unreadable.add((POST, "dee"))
    assert counted(world) == FollowerOutcomes({State.EMAILED: 1}, 0, 3, None)


def test_unknown_activity_has_no_followers_to_count() -> None:
    world = World()
    assert follower_outcomes(POST, "a1", at_most=10, context=activity_context(world)) is None
    assert activity_receipt(POST, "a1", activities=world.activities) == ActivityReceipt(
        POST, "a1", stored=False, retracted=False, distributed=False, expires_at=None
    )
    world.say(RetractActivity(POST, "a1"))
    assert activity_receipt(POST, "a1", activities=world.activities).retracted
