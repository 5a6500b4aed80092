"""Activities and follows, in any order: who follows when it happens hears of it, once."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from gazette.domain.commands import CreateActivity, RetractActivity
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.model import Retracted
from gazette.domain.outcome import Outcome
from gazette.domain.ports.queues import Walk
from gazette.domain.scheduling.kinds import Unsent
from gazette.domain.subscribers.following import Activity
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.ingest.followers import PAGE

from tests.builders import NOW, SettableClock, a_follow, an_activity
from tests.world import World, crashes, interleavings

POST, BLOG, OTHER_BLOG = "post#post1", "blog#b1", "blog#b2"
AN_HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
ON_BOTH = an_activity(parent=BLOG)
RETRACT = RetractActivity(POST, "a1")


@pytest.fixture
def world(clock: SettableClock) -> World:
    return World(clock)


def happen(world: World, activity: Activity = ON_BOTH) -> Outcome:
    """`activity.created`, and everybody who is queued for it."""
    outcome = world.say(CreateActivity(activity))[0]
    world.work_off_followers()
    return outcome


def retract(world: World) -> None:
    """`event.retracted`, and everybody who is queued for it."""
    world.say(RETRACT)
    world.work_off_followers()


def a_reader() -> World:
    """Ann registered a day ago and follows the post since."""
    world = World()
    world.choose(at=NOW - DAY)
    world.follow(at=NOW - DAY)
    return world


def emailed(world: World) -> list[str]:
    """Every line of every email, once all that is queued or due has gone out."""
    world.send_everything()
    return [line for email in world.emails() for line in email.lines]


def edited(text: str = "second", minutes: float = 1) -> Activity:
    """The activity as it was amended some minutes after it occurred."""
    return replace(ON_BOTH, excerpt=text, amended_at=NOW + timedelta(minutes=minutes))


def says(world: World, user_id: str = "ann") -> str | None:
    """What the event of a follower says; None where there is none."""
    stored = world.events.get(user_id, "a1")
    return None if stored is None or isinstance(stored, Retracted) else stored.event.excerpt


# What becomes of an activity.


@pytest.mark.parametrize(("activity", "sides"), [(an_activity(), {POST}), (ON_BOTH, {POST, BLOG})])
def test_an_activity_with_few_followers_is_brought_to_each_side_at_once(
    world: World, activity: Activity, sides: set[str]
) -> None:
    assert world.say(CreateActivity(activity)) == [Outcome.STORED]
    assert world.activities.get(POST, "a1") == replace(activity, walked=frozenset(sides))
    assert not world.followers_queue.sent


def test_the_followers_of_a_full_page_are_queued(world: World) -> None:
    for number in range(PAGE):
        world.follows.put(a_follow(f"user{number}", entity=BLOG), replacing=None)
    assert world.say(CreateActivity(ON_BOTH)) == [Outcome.STORED]
    assert world.followers_queue.sent == [Walk(POST, "a1", BLOG)]
    assert world.activities.get(POST, "a1") == replace(ON_BOTH, walked=frozenset({POST}))


def test_a_duplicate_sets_out_again_until_the_walk_has_ended(world: World) -> None:
    """A crash between the row and its followers must not lose them."""
    for number in range(PAGE):
        world.follows.put(a_follow(f"user{number}", entity=BLOG), replacing=None)
    world.say(CreateActivity(ON_BOTH))
    world.followers_queue.sent.clear()
    assert world.say(CreateActivity(ON_BOTH)) == [Outcome.DUPLICATE]
    assert world.followers_queue.sent == [Walk(POST, "a1", BLOG)]
    world.work_off_followers()
    assert world.say(CreateActivity(ON_BOTH)) == [Outcome.DUPLICATE]
    assert not world.followers_queue.sent


def test_what_says_something_newer_sets_out_for_everybody_again(world: World) -> None:
    for number in range(PAGE):
        world.follows.put(a_follow(f"user{number}", entity=BLOG), replacing=None)
    happen(world, ON_BOTH)
    assert world.say(CreateActivity(edited())) == [Outcome.AMENDED]
    assert world.followers_queue.sent == [Walk(POST, "a1", BLOG)]


def test_an_amendment_that_names_another_parent_goes_from_one_ones_followers_to_the_others() -> (
    None
):
    readers = {"ann": POST, "di": BLOG, "cy": OTHER_BLOG}

    def make() -> World:
        world = World()
        for user_id, entity in readers.items():
            world.choose(user_id, at=NOW - DAY)
            world.follow(user_id, entity, at=NOW - DAY)
        happen(world)
        return world

    moved = replace(edited(), parent=OTHER_BLOG)
    for world, where in crashes(make, lambda world: happen(world, moved)):
        happen(world, moved)
        assert {user: says(world, user) for user in readers} == {
            "ann": "second",
            "di": None,
            "cy": "second",
        }, where
        happen(world, edited("back", 2))
        assert {user: says(world, user) for user in readers} == {
            "ann": "back",
            "di": "back",
            "cy": None,
        }, where
        retract(world)
        assert {says(world, user) for user in readers} == {None}, where


@pytest.mark.parametrize(
    "stale", [ON_BOTH, replace(ON_BOTH, excerpt="undated"), edited("same"), edited("older", 0.5)]
)
def test_what_is_undated_or_not_newer_changes_nothing(world: World, stale: Activity) -> None:
    world.say(CreateActivity(edited()))
    assert world.say(CreateActivity(stale)) == [Outcome.DUPLICATE]
    assert world.activities.get(POST, "a1") == replace(edited(), walked=frozenset({POST, BLOG}))


def test_an_activity_retracted_before_its_arrival_reaches_no_follower(world: World) -> None:
    world.choose()
    world.follow(at=NOW - DAY)
    assert world.say(RETRACT) == [Outcome.RETRACTED]
    assert happen(world) is Outcome.RETRACTED
    assert happen(world, edited()) is Outcome.RETRACTED
    assert not world.events.rows


@pytest.mark.parametrize("again", [ON_BOTH, edited()])
def test_a_retracted_activity_stays_retracted(again: Activity) -> None:
    world = a_reader()
    happen(world)
    retract(world)
    assert happen(world, again) is Outcome.RETRACTED
    assert emailed(world) == []


def test_an_activity_that_keeps_changing_sends_the_message_back(world: World) -> None:
    world.say(CreateActivity(ON_BOTH))
    world.activities.replace = lambda *_: False  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        world.say(CreateActivity(edited()))


@pytest.mark.parametrize(
    "message", [CreateActivity(ON_BOTH), CreateActivity(edited()), RETRACT], ids=str
)
def test_what_broke_off_anywhere_is_brought_after_its_redelivery(
    message: CreateActivity | RetractActivity,
) -> None:
    def make() -> World:
        world = a_reader()
        if message != CreateActivity(ON_BOTH):
            happen(world)
        return world

    for world, where in crashes(make, lambda world: world.say(message)):
        world.say(message)
        world.work_off_followers()
        if message is RETRACT:
            assert says(world) is None, where
        else:
            assert isinstance(message, CreateActivity)
            assert says(world) == message.activity.excerpt, where


# Retracted and amended on its way.


def test_a_retraction_removes_the_event_from_all_followers() -> None:
    world = a_reader()
    world.follow("cy", BLOG, at=NOW - DAY)
    happen(world)
    assert says(world) == says(world, "cy") == ""
    retract(world)
    assert says(world) is says(world, "cy") is None
    assert emailed(world) == []


def test_a_retraction_while_it_is_being_brought_leaves_nobody_with_it() -> None:
    def make() -> World:
        world = a_reader()
        world.follow("cy", BLOG, at=NOW - DAY)
        world.say(CreateActivity(ON_BOTH))
        return world

    for world, where in interleavings(make, World.work_off_followers, retract):
        world.work_off_followers()
        assert says(world) is says(world, "cy") is None, where


def test_an_amendment_while_it_is_being_brought_reaches_everybody() -> None:
    def make() -> World:
        world = a_reader()
        world.follow("cy", BLOG, at=NOW - DAY)
        world.say(CreateActivity(ON_BOTH))
        return world

    for world, where in interleavings(
        make, World.work_off_followers, lambda world: world.say(CreateActivity(edited()))
    ):
        world.work_off_followers()
        assert says(world) == says(world, "cy") == "second", where


def test_an_activity_that_keeps_changing_is_brought_later() -> None:
    world = a_reader()
    minutes = iter(range(1, 99))

    def amend() -> None:
        world.say(CreateActivity(edited("again", next(minutes))))

    with pytest.raises(NotYet), world.meanwhile("events.store", amend, times=99):
        world.say(CreateActivity(ON_BOTH))


# Follows.


def test_a_follower_hears_of_it_and_others_do_not() -> None:
    world = a_reader()
    world.choose("cy", at=NOW - DAY)
    happen(world)
    assert world.waiting() == {"a1": "daily"}
    assert world.waiting("cy") == {}
    assert emailed(world) == ["post1: 1"]


def test_a_follower_of_entity_and_parent_gets_one_event() -> None:
    world = a_reader()
    world.follow(entity=BLOG, at=NOW - DAY)
    happen(world)
    assert emailed(world) == ["post1: 1"]


def test_the_actor_gets_no_event(world: World) -> None:
    world.choose("bo")
    world.follow("bo", POST, at=NOW - DAY)
    world.follow("bo", BLOG, at=NOW - DAY)
    happen(world)
    assert not world.events.rows


def test_the_actor_gets_no_event_by_a_late_follow(world: World) -> None:
    world.choose("bo")
    happen(world)
    world.follow("bo", at=NOW - DAY)
    assert not world.events.rows


@pytest.mark.parametrize(
    ("often", "schedule"),
    [(None, "daily"), (Frequency.WEEKLY, "weekly"), (Frequency.NEVER, None)],
)
def test_a_follow_may_have_a_frequency_of_its_own(
    world: World, often: Frequency | None, schedule: str | None
) -> None:
    world.choose()
    world.follow(at=NOW - DAY, often=often)
    happen(world)
    assert world.waiting().get("a1") == schedule


@pytest.mark.parametrize("late", [timedelta(0), AN_HOUR, DAY])
def test_a_follow_that_comes_up_to_a_day_late_brings_what_happened_since(
    world: World, late: timedelta
) -> None:
    world.choose(at=NOW - DAY)
    happen(world)
    world.clock.now = NOW + late
    world.follow(at=NOW - AN_HOUR)
    assert world.waiting() == {"a1": "daily"}


def test_a_follow_that_comes_later_than_a_day_brings_nothing(world: World) -> None:
    world.choose(at=NOW - DAY)
    happen(world)
    world.clock.now = NOW + DAY + timedelta(seconds=1)
    world.follow(at=NOW - AN_HOUR)
    assert world.waiting() == {}


def test_a_follow_that_began_later_brings_nothing(world: World) -> None:
    world.choose(at=NOW - DAY)
    happen(world)
    world.clock.now = NOW + AN_HOUR
    world.follow(at=NOW + timedelta(seconds=1))
    happen(world)
    assert world.waiting() == {}


def test_a_follow_that_comes_late_does_not_bring_what_was_retracted(world: World) -> None:
    world.choose(at=NOW - DAY)
    happen(world)
    retract(world)
    world.follow(at=NOW - AN_HOUR)
    assert not world.events.rows


def test_a_follow_that_comes_late_brings_what_the_activity_says_now(world: World) -> None:
    world.choose(at=NOW - DAY)
    happen(world)
    happen(world, edited())
    world.follow(at=NOW - AN_HOUR)
    assert says(world) == "second"


def test_a_follow_before_the_profile_waits_for_it(world: World) -> None:
    happen(world)
    world.follow(at=NOW - AN_HOUR)
    assert world.waiting() == {"a1": Unsent.WAITING}
    world.choose()
    assert emailed(world) == ["post1: 1"]


@pytest.mark.parametrize("at", [NOW - AN_HOUR, NOW, NOW + AN_HOUR])
def test_an_unfollow_takes_back_what_waits_also_where_it_comes_late(at: datetime) -> None:
    world = a_reader()
    happen(world)
    world.clock.now = NOW + 2 * AN_HOUR
    world.follow(at=at, following=False)
    assert world.waiting() == {}
    assert emailed(world) == []


def test_a_follow_that_is_said_again_every_half_hour_still_began_when_it_began() -> None:
    """What waits is not taken back by a later change of the profile."""
    world = a_reader()
    happen(world)
    for _ in range(40):
        world.clock.pass_time(minutes=30)
        world.follow()
    world.choose(like=Frequency.NEVER)
    assert world.waiting() == {"a1": "daily"}


@pytest.mark.parametrize("at", [NOW - 10 * DAY, NOW - 9 * DAY], ids=["before it", "with it"])
def test_a_follow_from_before_an_erasure_leaves_one_since_then_as_it_is(at: datetime) -> None:
    """A service that says everything again says the follow of the time before, too."""
    world = World()
    world.erase(at=NOW - 9 * DAY)
    world.choose(at=NOW - 8 * DAY)
    world.follow(at=NOW - 8 * DAY)
    happen(world, replace(ON_BOTH, occurred_at=NOW - 2 * DAY))
    world.follow(at=NOW)
    assert world.follow(at=at) is Outcome.ERASED
    world.choose(comment=Frequency.WEEKLY)
    assert world.waiting() == {"a1": Frequency.WEEKLY}


def test_an_unfollow_of_the_entity_leaves_what_comes_through_its_parent() -> None:
    world = a_reader()
    world.follow(entity=BLOG, at=NOW - DAY)
    happen(world)
    world.follow(at=NOW, following=False)
    assert emailed(world) == ["post1: 1"]


def test_an_unfollow_takes_back_nothing_that_was_sent() -> None:
    world = a_reader()
    happen(world)
    world.send_digest()
    world.follow(following=False)
    assert world.waiting() == {"a1": "daily"}


def test_following_again_brings_back_nothing_but_what_happens_next() -> None:
    world = a_reader()
    happen(world)
    world.clock.now = NOW + 3 * AN_HOUR
    world.follow(at=NOW + AN_HOUR, following=False)
    world.follow(at=NOW + 2 * AN_HOUR)
    happen(world)
    assert world.waiting() == {}
    happen(world, replace(ON_BOTH, id="a2", occurred_at=NOW + 3 * AN_HOUR))
    assert world.waiting() == {"a2": "daily"}


@pytest.mark.parametrize(
    ("often", "schedule"), [(Frequency.WEEKLY, "weekly"), (None, "daily"), (Frequency.NEVER, None)]
)
def test_a_change_of_the_follows_frequency_moves_what_waits(
    often: Frequency | None, schedule: str | None
) -> None:
    world = a_reader()
    world.follow(at=NOW - AN_HOUR, often=Frequency.CUSTOM)
    happen(world)
    assert world.waiting() == {"a1": "custom"}
    world.follow(at=NOW + AN_HOUR, often=often)
    assert world.waiting().get("a1") == schedule
    assert emailed(world) == (["post1: 1"] if schedule else [])


def test_never_on_the_entity_silences_what_comes_through_its_parent() -> None:
    world = a_reader()
    world.follow(entity=BLOG, at=NOW - DAY)
    world.follow(at=NOW - AN_HOUR, often=Frequency.NEVER)
    happen(world)
    assert world.waiting() == {}


def test_a_follow_of_the_entity_that_comes_late_moves_what_came_through_its_parent(
    world: World,
) -> None:
    world.choose(at=NOW - DAY)
    world.follow(entity=BLOG, at=NOW - DAY)
    happen(world)
    assert world.waiting() == {"a1": "daily"}
    world.follow(at=NOW - AN_HOUR, often=Frequency.WEEKLY)
    assert world.waiting() == {"a1": "weekly"}
    assert emailed(world) == ["post1: 1"]


def test_a_follow_that_keeps_changing_sends_the_message_back(world: World) -> None:
    world.follows.put = lambda *_, **__: False  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        world.follow()


# At the same time, and breaking off.


@pytest.mark.parametrize("after", [1, -1])
def test_a_follow_and_an_activity_at_once_find_each_other(after: int) -> None:
    def make() -> World:
        world = World()
        world.choose(at=NOW - DAY)
        return world

    def follow(world: World) -> None:
        world.follow(at=NOW - AN_HOUR)

    act, other = (happen, follow)[::after]
    for world, where in interleavings(make, act, other):
        assert world.waiting() == {"a1": "daily"}, where


@pytest.mark.parametrize("after", [1, -1])
def test_an_unfollow_and_an_activity_at_once_leave_nothing(after: int) -> None:
    def unfollow(world: World) -> None:
        world.follow(following=False)

    act, other = (happen, unfollow)[::after]
    for world, where in interleavings(a_reader, act, other):
        assert world.waiting() == {}, where


@pytest.mark.parametrize("after", [1, -1])
@pytest.mark.parametrize(
    ("change", "said"),
    [(retract, None), (lambda world: happen(world, edited()), "second")],
    ids=["retracted", "amended"],
)
def test_what_changes_while_a_late_follow_brings_it_is_brought_as_it_is_now(
    change: Callable[[World], object], said: str | None, after: int
) -> None:
    """The walk of the change may pass before the event is there."""

    def make() -> World:
        world = World()
        world.choose(at=NOW - DAY)
        happen(world)
        return world

    def follow(world: World) -> None:
        world.follow(at=NOW - AN_HOUR)

    act, other = (follow, change)[::after]
    for world, where in interleavings(make, act, other):
        assert says(world) == said, where


@pytest.mark.parametrize("often", [None, *Frequency])
def test_a_late_follow_that_broke_off_anywhere_is_whole_after_its_redelivery(
    often: Frequency | None,
) -> None:
    def make() -> World:
        world = World()
        world.choose(at=NOW - DAY)
        happen(world)
        return world

    for world, where in crashes(make, lambda world: world.follow(at=NOW - AN_HOUR, often=often)):
        world.follow(at=NOW - AN_HOUR, often=often)
        assert emailed(world) == ([] if often is Frequency.NEVER else ["post1: 1"]), where


@pytest.mark.parametrize("often", [None, *Frequency])
def test_a_change_of_a_follow_that_broke_off_anywhere_is_whole_after_its_redelivery(
    often: Frequency | None,
) -> None:
    def make() -> World:
        world = a_reader()
        world.follow(at=NOW - AN_HOUR, often=Frequency.CUSTOM)
        happen(world)
        return world

    later = NOW + AN_HOUR
    for world, where in crashes(make, lambda world: world.follow(at=later, often=often)):
        world.follow(at=later, often=often)
        assert emailed(world) == ([] if often is Frequency.NEVER else ["post1: 1"]), where


def test_an_unfollow_that_broke_off_anywhere_is_whole_after_its_redelivery() -> None:
    def make() -> World:
        world = a_reader()
        happen(world)
        return world

    for world, where in crashes(make, lambda world: world.follow(at=NOW, following=False)):
        world.follow(at=NOW, following=False)
        assert world.waiting() == {}, where


@pytest.mark.parametrize(
    "change",
    [RETRACT, CreateActivity(replace(edited(), parent=OTHER_BLOG))],
    ids=["retracted", "with another parent"],
)
def test_what_a_dying_worker_stored_after_a_change_had_passed_is_taken_back(
    change: RetractActivity | CreateActivity,
) -> None:
    """The change has walked over all followers, and the redelivery says what is no longer so."""
    world = World()
    world.choose(at=NOW - DAY)
    world.follow(entity=BLOG, at=NOW - DAY)
    happened: list[str] = []

    def around(name: str, call: Callable[[], object]) -> object:
        if name != "events.store" or happened:
            return call()
        happened.append(name)
        world.say(change)
        call()
        raise Unavailable("the worker died")

    with world.watched(around), pytest.raises(Unavailable):
        world.say(CreateActivity(ON_BOTH))
    assert happened
    assert says(world) is not None
    world.say(CreateActivity(ON_BOTH))
    assert says(world) is None
