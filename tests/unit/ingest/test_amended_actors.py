"""Each later version of an activity, and its retraction, reaches whoever has an earlier one."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import permutations

import pytest
from gazette.domain.commands import CreateActivity, RetractActivity, RetractEvent
from gazette.domain.delivery.signals import Uncertain
from gazette.domain.errors import Unavailable
from gazette.domain.model import Actor, Retracted, StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.subscribers.following import Activity
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.ingest.followers import PAGE

from tests.builders import NOW, a_follow, an_activity, an_event
from tests.world import World, crashes, interleavings

POST, OTHER_POST, BLOG, OTHER_BLOG = "post#post1", "post#post2", "blog#b1", "blog#b2"
DAY = timedelta(days=1)
BOT, ANN = Actor("bot", "Bot"), Actor("ann", "Ann")
RETRACT = RetractActivity(POST, "a1")
READERS = ("ann", "cy")


def version(number: int, actor: Actor | None = BOT, parent: str | None = BLOG) -> Activity:
    """The first version is not dated; each later one is a minute younger."""
    return replace(
        an_activity(parent=parent),
        actor=actor,
        excerpt=f"version {number}",
        amended_at=NOW + timedelta(minutes=number) if number > 1 else None,
    )


def happen(world: World, *activities: Activity) -> None:
    for activity in activities:
        world.say(CreateActivity(activity))
        world.work_off_followers()


def retract(world: World) -> None:
    world.say(RETRACT)
    world.work_off_followers()


def a_world(through: str = POST, *, often: Frequency = Frequency.DAILY) -> World:
    """Ann and Cy follow an entity since yesterday."""
    world = World()
    for user_id in READERS:
        world.choose(user_id, at=NOW - DAY, comment=often)
        world.follow(user_id, through, at=NOW - DAY)
    return world


def says(world: World, user_id: str = "ann") -> str | None:
    """What the copy of a reader says; None if there is none."""
    stored = world.events.get(user_id, "a1")
    return stored.event.excerpt if isinstance(stored, StoredEvent) else None


def all_say(world: World) -> dict[str, str | None]:
    return {user_id: says(world, user_id) for user_id in READERS}


# The reader becomes the actor.


@pytest.mark.parametrize("often", [Frequency.DAILY, Frequency.IMMEDIATE, Frequency.WEEKLY])
@pytest.mark.parametrize("through", [POST, BLOG])
def test_reader_who_becomes_actor_gets_no_email(through: str, often: Frequency) -> None:
    world = a_world(through, often=often)
    happen(world, version(1), version(2, ANN))
    assert all_say(world) == {"ann": None, "cy": "version 2"}
    world.send_everything()
    assert {email.user_id for email in world.emails()} == {"cy"}


@pytest.mark.parametrize("through", [POST, BLOG])
def test_retraction_reaches_reader_who_became_actor(through: str) -> None:
    world = a_world(through)
    happen(world, version(1), version(2, ANN))
    retract(world)
    assert all_say(world) == {"ann": None, "cy": None}
    world.send_everything()
    assert not world.emails()


@pytest.mark.parametrize("crowd", [3, PAGE - 3, 2 * PAGE + 7])
def test_new_actor_is_found_among_many_followers(crowd: int) -> None:
    world = a_world()
    for number in range(crowd):
        world.follows.put(a_follow(f"user{number:04}", entity=POST, at=NOW - DAY), replacing=None)
    last = f"user{crowd - 1:04}"
    world.choose(last, at=NOW - DAY)
    happen(world, version(1))
    assert says(world, last) == "version 1"
    happen(world, version(2, Actor(last, "Last")))
    assert says(world, last) is None
    assert says(world) == "version 2"
    retract(world)
    assert {says(world, f"user{number:04}") for number in range(crowd)} == {None}


def test_every_page_of_former_parent_followers_is_updated() -> None:
    world = a_world(BLOG)
    crowd = [f"user{number:04}" for number in range(2 * PAGE + 7)]
    for user_id in crowd:
        world.follows.put(a_follow(user_id, entity=BLOG, at=NOW - DAY), replacing=None)
    happen(world, version(1))
    assert {says(world, user_id) for user_id in crowd} == {"version 1"}
    happen(world, version(2, ANN, OTHER_BLOG))
    assert {says(world, user_id) for user_id in (*READERS, *crowd)} == {None}
    happen(world, version(3))
    retract(world)
    assert {says(world, user_id) for user_id in (*READERS, *crowd)} == {None}


def test_former_actor_gets_the_event() -> None:
    world = a_world()
    happen(world, version(1, ANN), version(2, BOT))
    assert all_say(world) == {"ann": "version 2", "cy": "version 2"}


def test_event_is_restored_if_actor_changes_back() -> None:
    world = a_world()
    happen(world, version(1), version(2, ANN), version(3))
    assert all_say(world) == {"ann": "version 3", "cy": "version 3"}
    happen(world, version(4, ANN))
    assert all_say(world) == {"ann": None, "cy": "version 4"}


def test_amendment_without_actor_removes_actor() -> None:
    world = a_world()
    happen(world, version(1), version(2, None))
    assert all_say(world) == {"ann": "version 2", "cy": "version 2"}
    happen(world, version(3, ANN))
    assert says(world) is None


MESSAGES: dict[str, Callable[[World], None]] = {
    "1": lambda world: happen(world, version(1)),
    "2": lambda world: happen(world, version(2, ANN, OTHER_BLOG)),
    "3": lambda world: happen(world, version(3, BOT, BLOG)),
    "4": lambda world: happen(world, version(4, ANN, OTHER_BLOG)),
    "retracted": retract,
}


@pytest.mark.parametrize("through", [POST, BLOG, OTHER_BLOG])
@pytest.mark.parametrize("messages", [("1", "2"), ("1", "2", "3"), ("1", "2", "3", "4")], ids=str)
@pytest.mark.parametrize("is_retracted", [False, True])
def test_versions_in_any_order_end_in_same_state(
    through: str, messages: tuple[str, ...], is_retracted: bool
) -> None:
    has_it = {POST: True, BLOG: messages[-1] == "3", OTHER_BLOG: messages[-1] in {"2", "4"}}[
        through
    ]
    is_actor = messages[-1] in {"2", "4"}
    wanted = f"version {messages[-1]}" if has_it and not is_retracted else None
    for order in permutations((*messages, *["retracted"] * is_retracted)):
        for repeats in (0, len(order) - 1):
            world = a_world(through)
            for name in (*order[: repeats + 1], *order):
                MESSAGES[name](world)
            assert all_say(world) == {"ann": None if is_actor else wanted, "cy": wanted}, order


@pytest.mark.parametrize("after", ["amended", "retracted"])
def test_amendment_during_distribution_withdraws_event_from_new_actor(
    after: str,
) -> None:
    def change(world: World) -> None:
        world.say(CreateActivity(version(2, ANN)) if after == "amended" else RETRACT)
        if after == "retracted":
            world.say(CreateActivity(version(2, ANN)))
            world.say(RETRACT)

    for world, where in interleavings(
        a_world, lambda world: world.say(CreateActivity(version(1))), change
    ):
        world.work_off_followers()
        assert says(world) is None, where
        assert says(world, "cy") == ("version 2" if after == "amended" else None), where


def test_actor_change_during_distribution_reaches_former_actor() -> None:
    for world, where in interleavings(
        a_world,
        lambda world: world.say(CreateActivity(version(1, ANN))),
        lambda world: world.say(CreateActivity(version(2, BOT))),
    ):
        world.work_off_followers()
        assert all_say(world) == {"ann": "version 2", "cy": "version 2"}, where


@pytest.mark.parametrize("parent", [BLOG, OTHER_BLOG])
def test_redelivery_completes_interrupted_amendment(parent: str) -> None:
    def make() -> World:
        world = a_world(BLOG)
        happen(world, version(1))
        return world

    amended = version(2, ANN, parent)
    for world, where in crashes(make, lambda world: happen(world, amended)):
        happen(world, amended)
        has_it = "version 2" if parent == BLOG else None
        assert all_say(world) == {"ann": None, "cy": has_it}, where

    def amend_and_retract(world: World) -> None:
        happen(world, amended)
        retract(world)

    for world, where in crashes(make, amend_and_retract):
        amend_and_retract(world)
        assert all_say(world) == {"ann": None, "cy": None}, where


# Readers who would not get it today.


def unfollow(world: World) -> None:
    world.follow(entity=POST, at=NOW + timedelta(seconds=30), following=False)


def mute(world: World) -> None:
    world.choose(at=NOW + timedelta(seconds=30), comment=Frequency.NEVER)


def leave(world: World) -> None:
    world.unsubscribe("ann", "ann@example.com")


def become_actor(world: World) -> None:
    happen(world, version(2, ANN))


def lose_parent(world: World) -> None:
    happen(world, version(2, BOT, OTHER_BLOG))


STOPS = {
    "unfollowed": (POST, unfollow),
    "muted": (POST, mute),
    "left": (POST, leave),
    "the actor": (POST, become_actor),
    "no follower": (BLOG, lose_parent),
}


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("often", [Frequency.DAILY, Frequency.IMMEDIATE])
def test_possibly_sent_copy_is_updated_by_amendment(stop: str, often: Frequency) -> None:
    """Nothing takes it back from its run, which may be sent again."""
    through, act = STOPS[stop]
    world = a_world(through, often=often)
    happen(world, version(1))
    may_be_sent(world, often)
    act(world)
    latest = version(
        5, ANN if stop == "the actor" else BOT, OTHER_BLOG if act is lose_parent else BLOG
    )
    happen(world, latest)
    assert says(world) == "version 5"
    retract(world)
    assert isinstance(world.events.get("ann", "a1"), Retracted)


@pytest.mark.parametrize("category", ["comment", "security"])
def test_possibly_sent_critical_copy_is_updated_only_by_critical_version(
    category: str,
) -> None:
    world = World(critical=frozenset({"security"}))
    for user_id in READERS:
        world.choose(user_id, at=NOW - DAY)
        world.follow(user_id, at=NOW - DAY)
    happen(world, replace(version(1), category="security"))
    may_be_sent(world, Frequency.IMMEDIATE)
    unfollow(world)
    happen(world, replace(version(2), category=category))
    assert says(world) == ("version 2" if category == "security" else "version 1")
    retract(world)
    assert says(world) is None


def may_be_sent(world: World, often: Frequency) -> None:
    world.mailer.script.extend([Uncertain(1, "ReadTimeoutError")] * 2)
    if often is Frequency.DAILY:
        for user_id in READERS:
            world.send_digest(user_id=user_id)
    world.deliver_queued()
    assert world.mailer.calls == 2


@pytest.mark.parametrize("stop", STOPS)
def test_retraction_reaches_reader_who_stopped_receiving_event(stop: str) -> None:
    through, act = STOPS[stop]
    world = a_world(through)
    happen(world, version(1))
    act(world)
    retract(world)
    assert says(world) is None
    world.choose(at=world.clock() + DAY)
    world.send_everything()
    assert not world.emails("ann")


def test_crashed_late_follow_leaves_no_event_of_moved_activity() -> None:
    """It had read the activity below the blog, and brought it after the amendment had passed."""
    world = World()
    world.choose(at=NOW - DAY)
    happen(world, version(1))

    def amend() -> None:
        happen(world, version(2, BOT, OTHER_BLOG))

    def die() -> None:
        raise Unavailable("The worker is killed.")

    with (
        world.meanwhile("events.store", amend, before=True),
        world.meanwhile("schedules.get_many", die),
        pytest.raises(Unavailable),
    ):
        world.follow(entity=BLOG, at=NOW - DAY)
    assert says(world) == "version 1"
    world.follow(entity=BLOG, at=NOW - DAY)
    assert says(world) is None


# One reader, addressed by a service.


@pytest.mark.parametrize("amended", [False, True])
def test_retraction_for_single_reader_withdraws_only_their_copy(amended: bool) -> None:
    world = a_world()
    happen(world, version(1))
    world.say(RetractEvent("ann", "a1"))
    if amended:
        happen(world, version(2))
    assert all_say(world) == {"ann": None, "cy": "version 2" if amended else "version 1"}


@pytest.mark.parametrize("often", [Frequency.DAILY, Frequency.IMMEDIATE])
def test_event_for_single_reader_can_change_actor_and_entity(often: Frequency) -> None:
    """Its copy is found by reader and id."""
    for order in permutations((0, 1, 2)):
        world = a_world(often=often)
        versions = [
            an_event(),
            replace(an_event(entity_id="post2"), actor=ANN, amended_at=NOW),
            replace(an_event(entity_id="post3"), amended_at=NOW + timedelta(seconds=1)),
        ]
        for number in order:
            world.create(versions[number])
        world.send_everything()
        assert [email.lines for email in world.emails()] == [("post3: 1",)], order
        world.say(RetractEvent("ann", "e1"))
        assert isinstance(world.events.get("ann", "e1"), Retracted)


# The entity is part of the name of an activity.


def on_another_post(number: int) -> Activity:
    return replace(version(number, parent=None), entity=an_activity(entity_id="post2").entity)


def test_activities_on_different_entities_may_share_an_id() -> None:
    """It changes nothing for followers of the first entity, whom a message about that reaches."""
    world = a_world()
    world.choose("di", at=NOW - DAY)
    world.follow("di", OTHER_POST, at=NOW - DAY)
    happen(world, version(1), on_another_post(2))
    assert all_say(world) == {"ann": "version 1", "cy": "version 1"}
    assert says(world, "di") == "version 2"
    happen(world, version(3))
    retract(world)
    assert all_say(world) == {"ann": None, "cy": None}
    assert says(world, "di") == "version 2"
    world.say(RetractActivity(OTHER_POST, "a1"))
    assert says(world, "di") is None


def test_follower_of_both_entities_gets_latest_amendment() -> None:
    for order in permutations((version(1), on_another_post(2), version(3))):
        world = a_world()
        world.follow("ann", OTHER_POST, at=NOW - DAY)
        happen(world, *order)
        assert says(world) == "version 3", order
        world.say(RetractActivity(OTHER_POST, "a1"))
        assert says(world) is None


def test_activity_republished_on_different_entity_reaches_its_followers() -> None:
    """As documented: withdrawn where it was, and put where it is under an id of its own."""
    moved = replace(on_another_post(1), id="a1-on-post2")
    steps: tuple[Callable[[World], None], ...] = (
        lambda world: happen(world, version(1)),
        retract,
        lambda world: happen(world, moved),
    )
    for order in permutations(steps):
        world = a_world()
        world.follow("ann", OTHER_POST, at=NOW - DAY)
        for step in order:
            step(world)
        assert says(world) is None
        assert world.waiting() == {"a1-on-post2": "daily"}


def test_unknown_reader_who_becomes_actor_has_no_waiting_events() -> None:
    world = World()
    world.follow("ann", POST, at=NOW - DAY)
    happen(world, version(1))
    assert world.waiting() == {"a1": Unsent.WAITING}
    happen(world, version(2, ANN))
    assert world.waiting() == {}
    assert world.say(CreateActivity(version(2, ANN))) == [Outcome.DUPLICATE]
