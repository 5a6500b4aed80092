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
def test_activity_with_few_followers_is_distributed_immediately(
    world: World, activity: Activity, sides: set[str]
) -> None:
    assert world.say(CreateActivity(activity)) == [Outcome.STORED]
    assert world.activities.get(POST, "a1") == replace(activity, walked=frozenset(sides))
    assert not world.followers_queue.sent


def test_full_page_of_followers_is_queued(world: World) -> None:
    for number in range(PAGE):
        world.follows.put(a_follow(f"user{number}", entity=BLOG), replacing=None)
    assert world.say(CreateActivity(ON_BOTH)) == [Outcome.STORED]
    assert world.followers_queue.sent == [Walk(POST, "a1", BLOG)]
    assert world.activities.get(POST, "a1") == replace(ON_BOTH, walked=frozenset({POST}))


def test_duplicate_activity_is_requeued_until_distribution_ends(world: World) -> None:
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


def test_newer_version_of_activity_reaches_all_followers(world: World) -> None:
    for number in range(PAGE):
        world.follows.put(a_follow(f"user{number}", entity=BLOG), replacing=None)
    happen(world, ON_BOTH)
    assert world.say(CreateActivity(edited())) == [Outcome.AMENDED]
    assert world.followers_queue.sent == [Walk(POST, "a1", BLOG)]


def test_amended_parent_moves_activity_to_followers_of_new_parent() -> None:
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
def test_undated_or_older_activity_changes_nothing(world: World, stale: Activity) -> None:
    world.say(CreateActivity(edited()))
    assert world.say(CreateActivity(stale)) == [Outcome.DUPLICATE]
    assert world.activities.get(POST, "a1") == replace(edited(), walked=frozenset({POST, BLOG}))


def test_activity_retracted_before_arrival_reaches_no_follower(world: World) -> None:
    world.choose()
    world.follow(at=NOW - DAY)
    assert world.say(RETRACT) == [Outcome.RETRACTED]
    assert happen(world) is Outcome.RETRACTED
    assert happen(world, edited()) is Outcome.RETRACTED
    assert not world.events.rows


@pytest.mark.parametrize("again", [ON_BOTH, edited()])
def test_retracted_activity_stays_retracted(again: Activity) -> None:
    world = a_reader()
    happen(world)
    retract(world)
    assert happen(world, again) is Outcome.RETRACTED
    assert emailed(world) == []


def test_constantly_changing_activity_message_is_retried(world: World) -> None:
    world.say(CreateActivity(ON_BOTH))
    world.activities.replace = lambda *_: False  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        world.say(CreateActivity(edited()))


@pytest.mark.parametrize(
    "message", [CreateActivity(ON_BOTH), CreateActivity(edited()), RETRACT], ids=str
)
def test_redelivery_completes_interrupted_activity(
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


def test_retraction_removes_event_from_all_followers() -> None:
    world = a_reader()
    world.follow("cy", BLOG, at=NOW - DAY)
    happen(world)
    assert says(world) == says(world, "cy") == ""
    retract(world)
    assert says(world) is says(world, "cy") is None
    assert emailed(world) == []


def test_retraction_during_distribution_removes_event_from_all_followers() -> None:
    def make() -> World:
        world = a_reader()
        world.follow("cy", BLOG, at=NOW - DAY)
        world.say(CreateActivity(ON_BOTH))
        return world

    for world, where in interleavings(make, World.work_off_followers, retract):
        world.work_off_followers()
        assert says(world) is says(world, "cy") is None, where


def test_amendment_during_distribution_reaches_all_followers() -> None:
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


def test_constantly_changing_activity_is_distributed_later() -> None:
    world = a_reader()
    minutes = iter(range(1, 99))

    def amend() -> None:
        world.say(CreateActivity(edited("again", next(minutes))))

    with pytest.raises(NotYet), world.meanwhile("events.store", amend, times=99):
        world.say(CreateActivity(ON_BOTH))


# Follows.


def test_activity_reaches_only_followers() -> None:
    world = a_reader()
    world.choose("cy", at=NOW - DAY)
    happen(world)
    assert world.waiting() == {"a1": "daily"}
    assert world.waiting("cy") == {}
    assert emailed(world) == ["post1: 1"]


def test_follower_of_entity_and_parent_gets_one_event() -> None:
    world = a_reader()
    world.follow(entity=BLOG, at=NOW - DAY)
    happen(world)
    assert emailed(world) == ["post1: 1"]


def test_actor_gets_no_event(world: World) -> None:
    world.choose("bo")
    world.follow("bo", POST, at=NOW - DAY)
    world.follow("bo", BLOG, at=NOW - DAY)
    happen(world)
    assert not world.events.rows


def test_actor_gets_no_event_from_late_follow(world: World) -> None:
    world.choose("bo")
    happen(world)
    world.follow("bo", at=NOW - DAY)
    assert not world.events.rows


@pytest.mark.parametrize(
    ("often", "schedule"),
    [(None, "daily"), (Frequency.WEEKLY, "weekly"), (Frequency.NEVER, None)],
)
def test_follow_can_have_its_own_frequency(
    world: World, often: Frequency | None, schedule: str | None
) -> None:
    world.choose()
    world.follow(at=NOW - DAY, often=often)
    happen(world)
    assert world.waiting().get("a1") == schedule


@pytest.mark.parametrize("late", [timedelta(0), AN_HOUR, DAY])
def test_follow_up_to_a_day_late_includes_activities_since_then(
    world: World, late: timedelta
) -> None:
    world.choose(at=NOW - DAY)
    happen(world)
    world.clock.now = NOW + late
    world.follow(at=NOW - AN_HOUR)
    assert world.waiting() == {"a1": "daily"}


def test_follow_more_than_a_day_late_adds_no_activities(world: World) -> None:
    world.choose(at=NOW - DAY)
    happen(world)
    world.clock.now = NOW + DAY + timedelta(seconds=1)
    world.follow(at=NOW - AN_HOUR)
    assert world.waiting() == {}


def test_follow_excludes_activities_before_its_start(world: World) -> None:
    world.choose(at=NOW - DAY)
    happen(world)
    world.clock.now = NOW + AN_HOUR
    world.follow(at=NOW + timedelta(seconds=1))
    happen(world)
    assert world.waiting() == {}


def test_late_follow_excludes_retracted_activities(world: World) -> None:
    world.choose(at=NOW - DAY)
    happen(world)
    retract(world)
    world.follow(at=NOW - AN_HOUR)
    assert not world.events.rows


def test_late_follow_uses_current_version_of_activity(world: World) -> None:
    world.choose(at=NOW - DAY)
    happen(world)
    happen(world, edited())
    world.follow(at=NOW - AN_HOUR)
    assert says(world) == "second"


def test_follow_waits_for_missing_profile(world: World) -> None:
    happen(world)
    world.follow(at=NOW - AN_HOUR)
    assert world.waiting() == {"a1": Unsent.WAITING}
    world.choose()
    assert emailed(world) == ["post1: 1"]


@pytest.mark.parametrize("at", [NOW - AN_HOUR, NOW, NOW + AN_HOUR])
def test_late_unfollow_withdraws_waiting_events(at: datetime) -> None:
    world = a_reader()
    happen(world)
    world.clock.now = NOW + 2 * AN_HOUR
    world.follow(at=at, following=False)
    assert world.waiting() == {}
    assert emailed(world) == []


def test_repeated_follow_keeps_original_start_time() -> None:
    """What waits is not taken back by a later change of the profile."""
    world = a_reader()
    happen(world)
    for _ in range(40):
        world.clock.pass_time(minutes=30)
        world.follow()
    world.choose(like=Frequency.NEVER)
    assert world.waiting() == {"a1": "daily"}


@pytest.mark.parametrize(
    "at", [NOW - 10 * DAY, NOW - 9 * DAY], ids=["before erasure", "at erasure"]
)
def test_follow_dated_before_erasure_does_not_change_later_follow(at: datetime) -> None:
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


def test_unfollow_of_entity_keeps_events_followed_through_parent() -> None:
    world = a_reader()
    world.follow(entity=BLOG, at=NOW - DAY)
    happen(world)
    world.follow(at=NOW, following=False)
    assert emailed(world) == ["post1: 1"]


def test_unfollow_does_not_withdraw_sent_events() -> None:
    world = a_reader()
    happen(world)
    world.send_digest()
    world.follow(following=False)
    assert world.waiting() == {"a1": "daily"}


def test_following_again_includes_only_later_activities() -> None:
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
def test_follow_frequency_change_moves_waiting_events(
    often: Frequency | None, schedule: str | None
) -> None:
    world = a_reader()
    world.follow(at=NOW - AN_HOUR, often=Frequency.CUSTOM)
    happen(world)
    assert world.waiting() == {"a1": "custom"}
    world.follow(at=NOW + AN_HOUR, often=often)
    assert world.waiting().get("a1") == schedule
    assert emailed(world) == (["post1: 1"] if schedule else [])


def test_never_frequency_on_entity_overrides_follow_of_parent() -> None:
    world = a_reader()
    world.follow(entity=BLOG, at=NOW - DAY)
    world.follow(at=NOW - AN_HOUR, often=Frequency.NEVER)
    happen(world)
    assert world.waiting() == {}


def test_late_follow_of_entity_moves_events_received_through_parent(
    world: World,
) -> None:
    world.choose(at=NOW - DAY)
    world.follow(entity=BLOG, at=NOW - DAY)
    happen(world)
    assert world.waiting() == {"a1": "daily"}
    world.follow(at=NOW - AN_HOUR, often=Frequency.WEEKLY)
    assert world.waiting() == {"a1": "weekly"}
    assert emailed(world) == ["post1: 1"]


def test_constantly_changing_follow_message_is_retried(world: World) -> None:
    world.follows.put = lambda *_, **__: False  # type: ignore[method-assign]
    with pytest.raises(NotYet):
        world.follow()


# At the same time, and breaking off.


@pytest.mark.parametrize("after", [1, -1])
def test_concurrent_follow_and_activity_produce_an_event(after: int) -> None:
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
def test_concurrent_unfollow_and_activity_leave_no_event(after: int) -> None:
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
def test_late_follow_uses_activity_changed_during_distribution(
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
def test_redelivery_completes_interrupted_late_follow(
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
def test_redelivery_completes_interrupted_follow_change(
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


def test_redelivery_completes_interrupted_unfollow() -> None:
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
def test_redelivery_withdraws_stale_event_stored_by_crashed_worker(
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
