"""The walk over followers: page by page, each follower once, in constant memory."""

import weakref
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from gazette.domain.commands import CreateActivity, RetractActivity
from gazette.domain.errors import NotYet, Unavailable
from gazette.domain.model import StoredEvent
from gazette.domain.outcome import Outcome
from gazette.domain.ports.queues import FollowerPage, Walk
from gazette.domain.subscribers.following import Activity, Follow
from gazette.domain.subscribers.frequency import Frequency
from gazette.steps.ingest import followers
from gazette.steps.ingest.followers import PAGE, PAGES_A_WALK

from tests.builders import NOW, a_follow, an_activity
from tests.fake_stores import FakeFollows
from tests.world import World, crashes, interleavings

POST, BLOG = "post#post1", "blog#b1"
ACTIVITY = an_activity()
ON_BOTH = an_activity(parent=BLOG)
TEN_PAGES = 10 * PAGE


def follower(number: int) -> str:
    """In the order of their ids."""
    return f"user{number:06d}"


def a_world(count: int, *, entity: str = POST) -> World:
    """Somebody with profiles for all their followers; Bo, who acts, is one of them."""
    world = World()
    for user_id in ["bo", *map(follower, range(count))]:
        world.choose(user_id, at=NOW - timedelta(days=2))
        world.follows.put(a_follow(user_id, entity=entity), replacing=None)
    return world


def have(world: World) -> list[str]:
    """Who has the activity."""
    return sorted(user_id for (user_id, _), row in world.events.rows.items() if _is_there(row))


def _is_there(row: object) -> bool:
    return isinstance(row, StoredEvent)


def begin(world: World, activity: Activity = ACTIVITY) -> None:
    """`activity.created`."""
    world.say(CreateActivity(activity))


def happen(world: World, activity: Activity = ACTIVITY) -> None:
    """`activity.created`, and everybody who is queued for it."""
    begin(world, activity)
    world.work_off_followers()


def bring_next(world: World) -> int:
    """One message of the followers queue; returns how many followers it concerned."""
    return world.walk_followers(world.followers_queue.sent.pop(0))


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two followers a page and twenty a walk, so that few followers are many messages."""
    monkeypatch.setattr(followers, "PAGE", 2)
    monkeypatch.setattr(followers, "PAGES_A_WALK", 10)


@pytest.fixture
def short_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two followers a page and six a walk, so that seven followers are two walks."""
    monkeypatch.setattr(followers, "PAGE", 2)
    monkeypatch.setattr(followers, "MESSAGES_A_CALL", 3)
    monkeypatch.setattr(followers, "PAGES_A_WALK", 3)


# Everybody, once.


@pytest.mark.parametrize("count", [0, 1, PAGE - 2, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE])
def test_every_follower_except_actor_gets_event_once(count: int) -> None:
    world = a_world(count)
    happen(world)
    assert have(world) == [follower(number) for number in range(count)]


def test_activity_without_actor_reaches_every_follower() -> None:
    world = a_world(3)
    world.choose("None", at=NOW - timedelta(days=2))
    world.follows.put(a_follow("None", entity=POST), replacing=None)
    happen(world, replace(ACTIVITY, actor=None))
    assert have(world) == ["None", "bo", *map(follower, range(3))]


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("count", [17, 18, 19, 20, 21, 38, 39, 40, 45])
def test_distribution_in_several_pages_reaches_every_follower(count: int) -> None:
    world = a_world(count)
    happen(world)
    assert have(world) == [follower(number) for number in range(count)]
    stored = world.activities.get(POST, "a1")
    assert isinstance(stored, Activity)
    assert stored.walked == {POST}


def test_followers_of_entity_and_parent_get_event_once() -> None:
    world = a_world(PAGE)
    for number in range(PAGE // 2, PAGE * 2):
        user_id = follower(number)
        world.choose(user_id, at=NOW - timedelta(days=2))
        world.follows.put(a_follow(user_id, entity=BLOG), replacing=None)
    happen(world, ON_BOTH)
    assert have(world) == [follower(number) for number in range(PAGE * 2)]
    assert len(world.events.rows) == PAGE * 2


def test_activity_is_delivered_at_frequency_of_each_follower() -> None:
    world = a_world(3)
    for number, often in enumerate([Frequency.WEEKLY, Frequency.NEVER, Frequency.IMMEDIATE]):
        world.follow(follower(number), at=NOW - timedelta(days=1), often=often)
    happen(world)
    world.send_everything()
    found = {email.user_id: email.schedule[:3] for email in world.emails()}
    assert found == {follower(0): "wee", follower(2): "now"}


def test_less_than_a_page_of_followers_needs_no_message() -> None:
    world = a_world(PAGE - 2)
    begin(world)
    assert not world.followers_queue.sent
    assert len(have(world)) == PAGE - 2


def test_followers_message_is_retried_if_time_runs_out() -> None:
    world = World(time_left=lambda: timedelta(seconds=29))
    world.followers_queue.send([Walk(POST, "a1", POST)])
    with pytest.raises(NotYet, match="time"):
        bring_next(world)


def test_missing_activity_reaches_no_follower() -> None:
    world = a_world(3)
    world.say(RetractActivity(POST, "a1"))
    world.followers_queue.sent = [Walk(POST, "a1", POST), Walk(POST, "a2", POST)]
    assert bring_next(world) == bring_next(world) == 0


# A hundred thousand.


class Page(list[Follow]):
    """Can be referred to weakly."""

    __slots__ = ("__weakref__",)


@dataclass
class ManyFollowers(FakeFollows):
    """`count` followers, made when they are asked for; counts what is held at any time."""

    count: int = 0
    asked: list[int] = field(default_factory=list)
    most_held: int = 0
    held: "weakref.WeakValueDictionary[int, Page]" = field(
        default_factory=weakref.WeakValueDictionary
    )

    def get_many(self, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Follow]:
        return {key: a_follow(key[1], entity=key[0]) for key in keys}

    def page(self, entity: str, *, after: str, through: str = "", limit: int) -> Sequence[Follow]:
        first = int(after.removeprefix("user")) + 1 if after else 0
        last = int(through.removeprefix("user")) + 1 if through else self.count
        page = Page(
            a_follow(follower(number), entity=entity)
            for number in range(first, min(last, self.count, first + limit))
        )
        self.asked.append(limit)
        self.held[len(self.asked)] = page
        self.most_held = max(self.most_held, sum(map(len, self.held.values())))
        return page


def a_crowd(count: int) -> tuple[World, ManyFollowers]:
    """A world in which so many follow the post."""
    crowd = ManyFollowers(count=count)
    return World(follows=crowd), crowd


def test_hundred_thousand_followers_take_a_thousand_messages() -> None:
    world, crowd = a_crowd(100_000)
    begin(world)
    with world.calls() as calls:
        assert bring_next(world) == 100_000
    pages = [message for message in world.followers_queue.sent if isinstance(message, FollowerPage)]
    assert (len(pages), calls.count("followers_queue.send")) == (1000, 101)
    assert world.followers_queue.sent[1000:] == [Walk(POST, "a1", POST, follower(99_999))]
    assert [page.after for page in pages] == ["", *(page.through for page in pages[:-1])]
    assert [page.through for page in pages] == [
        follower(number) for number in range(PAGE - 1, 100_000, PAGE)
    ]
    assert max(crowd.asked) == TEN_PAGES


@pytest.mark.parametrize("count", [TEN_PAGES, 20 * TEN_PAGES])
def test_distribution_memory_is_independent_of_follower_count(count: int) -> None:
    world, crowd = a_crowd(count)
    begin(world)
    bring_next(world)
    assert crowd.most_held <= PAGE + 2 * TEN_PAGES


@pytest.mark.parametrize("beyond", [0, 1, 250])
def test_distribution_ends_after_last_follower(beyond: int) -> None:
    count = PAGE * PAGES_A_WALK + beyond
    world, _ = a_crowd(count)
    begin(world)
    walks, concerned = 0, 0
    while any(isinstance(message, Walk) for message in world.followers_queue.sent):
        [walk] = [message for message in world.followers_queue.sent if isinstance(message, Walk)]
        world.followers_queue.sent = [walk]
        concerned += bring_next(world)
        walks += 1
    assert (walks, concerned) == (2, count)
    assert len(world.followers_queue.sent) == -(-beyond // PAGE)


def test_page_reads_only_its_hundred_followers() -> None:
    world, crowd = a_crowd(3 * TEN_PAGES)
    begin(world)
    world.followers_queue.sent = [FollowerPage(POST, "a1", POST, follower(499), follower(599))]
    assert bring_next(world) == PAGE
    assert have(world) == [follower(number) for number in range(500, 600)]
    assert crowd.most_held <= PAGE


# What comes again.


def test_duplicate_after_distribution_ended_queues_no_messages() -> None:
    world = a_world(2 * PAGE)
    happen(world)
    begin(world)
    assert not world.followers_queue.sent


def test_duplicate_after_immediate_distribution_queues_no_messages() -> None:
    world = a_world(3)
    happen(world)
    assert world.say(CreateActivity(ACTIVITY)) == [Outcome.DUPLICATE]
    assert not world.followers_queue.sent


@pytest.mark.usefixtures("small_pages")
def test_duplicate_followers_messages_change_nothing() -> None:
    world = a_world(25)
    begin(world)
    while world.followers_queue.sent:
        world.followers_queue.sent.insert(0, world.followers_queue.sent[0])
        bring_next(world)
        bring_next(world)
        world.followers_queue.sent = list(dict.fromkeys(world.followers_queue.sent))
    assert have(world) == [follower(number) for number in range(25)]


@pytest.mark.usefixtures("short_walks")
@pytest.mark.parametrize("count", [1, 5, 9])
def test_interrupted_distribution_reaches_each_follower_exactly_once(
    count: int,
) -> None:
    def make() -> World:
        world = a_world(count)
        begin(world)
        return world

    for world, where in crashes(make, World.work_off_followers):
        world.work_off_followers()
        assert have(world) == [follower(number) for number in range(count)], where


@pytest.mark.usefixtures("small_pages")
def test_repeatedly_interrupted_distribution_completes() -> None:
    world = a_world(9)
    begin(world)
    done = 0

    def dies() -> None:
        nonlocal done
        done += 1
        if done % 4 == 0:
            raise Unavailable("killed")

    broke_off = 0
    with world.meanwhile("events.store", dies, times=12):
        while world.followers_queue.sent:
            try:
                world.work_off_followers()
            except Unavailable:
                broke_off += 1
    assert broke_off == 3
    assert have(world) == [follower(number) for number in range(9)]


# What changes on the way.


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("new", ["aaron", "user000000x", "user000005x", "zoe"])
def test_new_follower_during_distribution_displaces_no_follower(new: str) -> None:
    """A page is what lies between two ids: there may be more in it than there were."""
    for world, where in interleavings(
        lambda: _begun(8),
        World.work_off_followers,
        lambda world: world.follows.put(a_follow(new, at=NOW), replacing=None),
    ):
        world.work_off_followers()
        expected = {follower(number) for number in range(8)}
        assert set(have(world)) - {new} == expected, where


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("gone", [0, 3, 7])
def test_erased_follower_during_distribution_does_not_affect_remaining_followers(gone: int) -> None:
    for world, where in interleavings(
        lambda: _begun(8), World.work_off_followers, lambda world: world.erase(follower(gone))
    ):
        world.work_off_followers()
        assert have(world) == [follower(number) for number in range(8) if number != gone], where


@pytest.mark.usefixtures("small_pages")
def test_retraction_between_pages_removes_event_from_all_followers() -> None:
    for world, where in interleavings(
        lambda: _begun(7),
        World.work_off_followers,
        lambda world: world.say(RetractActivity(POST, "a1")),
    ):
        world.work_off_followers()
        assert have(world) == [], where


@pytest.mark.usefixtures("short_walks")
@pytest.mark.parametrize("count", [2, 9])
def test_interrupted_retraction_removes_event_from_all_followers(count: int) -> None:
    def make() -> World:
        world = _begun(count)
        world.work_off_followers()
        world.say(RetractActivity(POST, "a1"))
        return world

    for world, where in crashes(make, World.work_off_followers):
        world.work_off_followers()
        assert have(world) == [], where


@pytest.mark.usefixtures("small_pages")
def test_amendment_between_pages_reaches_all_followers() -> None:
    edited = replace(ACTIVITY, excerpt="second", amended_at=NOW)
    for world, where in interleavings(
        lambda: _begun(7), World.work_off_followers, lambda world: begin(world, edited)
    ):
        world.work_off_followers()
        said = {
            row.event.excerpt for row in world.events.rows.values() if isinstance(row, StoredEvent)
        }
        assert len(have(world)) == 7, where
        assert said == {"second"}, where


def _begun(count: int) -> World:
    world = a_world(count)
    begin(world)
    return world
