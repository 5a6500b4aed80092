"""What the port `Follows` promises, held against our fake and the real adapter on moto."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.tables import FollowRow
from gazette.domain.ports.stores import Follows
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW, RETENTION, SettableClock, a_follow
from tests.contract.conftest import SECOND
from tests.fake_stores import FakeFollows

POST = "post#post1"
ENDED = replace(a_follow(), changes=(*a_follow().changes, (NOW, FollowState(False))))


def put_all(follows: Follows, users: list[str], *, entity: str = POST) -> None:
    for user in users:
        assert follows.put(a_follow(user, entity=entity), replacing=None)


def users_of(page: object) -> list[str]:
    assert isinstance(page, list)
    return [follow.user_id for follow in page]


def test_follow_is_read_as_stored(follows: Follows) -> None:
    follow = Follow(
        "post#Größe #1",
        "~ann!",
        (
            (NOW - SECOND, FollowState(True)),
            (NOW, FollowState(True, Frequency.IMMEDIATE)),
            (NOW + timedelta(microseconds=1), FollowState(False)),
            (NOW + SECOND, FollowState(True, Frequency.NEVER)),
            (NOW + 2 * SECOND, FollowState(True, None, "Größe")),
        ),
    )
    assert follows.get(follow.entity, follow.user_id) is None
    assert follows.put(follow, replacing=None)
    assert follows.get(follow.entity, follow.user_id) == follow


def test_follow_is_created_only_if_missing(follows: Follows) -> None:
    assert follows.put(a_follow(), replacing=None)
    assert not follows.put(ENDED, replacing=None)
    assert follows.get(POST, "ann") == a_follow()


def test_follow_is_replaced_only_if_unchanged_since_read(follows: Follows) -> None:
    assert not follows.put(ENDED, replacing=a_follow()), "nothing is there"
    follows.put(a_follow(), replacing=None)
    assert not follows.put(ENDED, replacing=a_follow(frequency=Frequency.NEVER))
    assert not follows.put(ENDED, replacing=a_follow(at=NOW))
    assert follows.get(POST, "ann") == a_follow()
    assert follows.put(ENDED, replacing=a_follow())
    assert follows.get(POST, "ann") == ENDED


def test_follow_instants_are_compared_across_time_zones(follows: Follows) -> None:
    berlin = datetime.fromisoformat("2026-11-22T08:00:00.000001+01:00")
    follows.put(a_follow(at=berlin), replacing=None)
    utc = a_follow(at=berlin.astimezone(UTC))
    assert follows.get(POST, "ann") == utc
    assert follows.put(ENDED, replacing=utc)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_only_an_ended_follow_expires(follows: Follows, clock: SettableClock) -> None:
    def expiry() -> datetime | None:
        return FollowRow.get(POST, "ann").expires_at

    follows.put(a_follow(), replacing=None)
    assert expiry() is None
    follows.put(ENDED, replacing=a_follow())
    assert expiry() == clock.now + RETENTION
    follows.put(a_follow(at=NOW), replacing=ENDED)
    assert expiry() is None


def test_reading_many_follows_returns_existing_follows(follows: Follows) -> None:
    put_all(follows, ["ann", "bo"])
    follows.put(ENDED, replacing=a_follow())
    keys = [(POST, "ann"), (POST, "bo"), (POST, "cy"), ("post#post2", "ann")]
    assert follows.get_many(keys) == {(POST, "ann"): ENDED, (POST, "bo"): a_follow("bo")}


def test_more_follows_than_a_call_allows_are_all_found(follows: Follows) -> None:
    users = [f"user{number:03}" for number in range(120)]
    put_all(follows, users)
    found = follows.get_many([(POST, user) for user in (*users, "nobody")])
    assert found == {(POST, user): a_follow(user) for user in users}


def test_consecutive_follower_pages_contain_each_follower_once(follows: Follows) -> None:
    users = ["!", "0", "9", "A", "Z", "a", "aa", "b", "~", "~" * 64]
    put_all(follows, users)
    put_all(follows, ["c", "zz"], entity="post#post2")
    found: list[str] = []
    after = ""
    while page := users_of(follows.page(POST, after=after, limit=3)):
        assert len(page) == 3 or page[-1] == users[-1]
        found += page
        after = page[-1]
    assert found == users


def test_follower_page_ends_at_its_bound(follows: Follows) -> None:
    put_all(follows, ["a", "b", "c", "d", "e"])
    assert users_of(follows.page(POST, after="a", through="d", limit=10)) == ["b", "c", "d"]
    assert users_of(follows.page(POST, after="", through="b", limit=10)) == ["a", "b"]
    assert users_of(follows.page(POST, after="b", through="bb", limit=10)) == []
    assert users_of(follows.page(POST, after="e", limit=10)) == []
    assert users_of(follows.page("post#post2", after="", limit=10)) == []


def test_page_after_a_deleted_follower_is_full(follows: Follows) -> None:
    put_all(follows, ["a", "b", "c", "d"])
    assert follows.remove(a_follow("b"))
    assert users_of(follows.page(POST, after="b", limit=2)) == ["c", "d"]
    assert users_of(follows.page(POST, after="b", through="c", limit=2)) == ["c"]


def test_follower_page_includes_ended_follows(follows: Follows) -> None:
    """They followed when something happened; whoever reads the page decides."""
    follows.put(ENDED, replacing=None)
    assert list(follows.page(POST, after="", limit=10)) == [ENDED]


def test_current_and_former_follows_of_a_user_are_found(follows: Follows) -> None:
    put_all(follows, ["ann", "bo"])
    put_all(follows, ["ann"], entity="post#post2")
    follows.put(ENDED, replacing=a_follow())
    assert set(follows.followed_by("ann")) == {POST, "post#post2"}
    assert set(follows.followed_by("nobody")) == set()


def test_removed_follow_leaves_no_trace(follows: Follows) -> None:
    put_all(follows, ["ann", "bo"])
    assert follows.remove(a_follow())
    assert not follows.remove(a_follow()), "nothing is there"
    assert follows.get(POST, "ann") is None
    assert list(follows.followed_by("ann")) == []
    assert users_of(follows.page(POST, after="", limit=10)) == ["bo"]
    assert follows.put(a_follow(), replacing=None)


def test_follow_changed_since_read_is_not_removed(follows: Follows) -> None:
    follows.put(ENDED, replacing=None)
    assert not follows.remove(a_follow())
    assert follows.get(POST, "ann") == ENDED


def test_followed_entities_are_listed_in_order_from_any_start(follows: Follows) -> None:
    entities = [f"post#{number}" for number in range(5)]
    for entity in reversed(entities):
        put_all(follows, ["ann", "bo"], entity=entity)
    assert list(follows.followed_by("ann")) == entities
    assert list(follows.followed_by("ann", after="post#1")) == entities[2:]
    assert list(follows.followed_by("ann", after="post#1", at_most=2)) == entities[2:4]
    assert list(follows.followed_by("ann", after="post#9")) == []


def test_all_follows_of_a_user_are_deleted(follows: Follows) -> None:
    entities = [f"post#{number:02d}" for number in range(60)]
    for entity in entities:
        put_all(follows, ["ann", "bo"], entity=entity)
    follows.forget("ann", [*entities[1:], "post#never"])
    assert list(follows.followed_by("ann")) == entities[:1]
    assert list(follows.followed_by("bo")) == entities
    follows.forget("ann", [])


def test_active_followers_of_an_entity_are_counted(follows: DynamoFollows | FakeFollows) -> None:
    assert follows.count_followers(POST) == (0, True)
    put_all(follows, ["ann", "bo", "cy"])
    put_all(follows, ["ann"], entity="post#post2")
    assert follows.count_followers(POST) == (3, True)
    ended = replace(a_follow("bo"), changes=ENDED.changes)
    assert follows.put(ended, replacing=a_follow("bo"))
    assert follows.count_followers(POST) == (2, True)
