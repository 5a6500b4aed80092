"""What the port `Follows` promises, held against our fake and the real adapter on moto."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.adapters.dynamodb.tables import FollowRow
from gazette.domain.ports.stores import Follows
from gazette.domain.subscribers.following import Follow, FollowState
from gazette.domain.subscribers.frequency import Frequency

from tests.builders import NOW, RETENTION, SettableClock, a_follow
from tests.contract.conftest import SECOND

POST = "post#post1"
ENDED = replace(a_follow(), changes=(*a_follow().changes, (NOW, FollowState(False))))


def put_all(follows: Follows, users: list[str], *, entity: str = POST) -> None:
    for user in users:
        assert follows.put(a_follow(user, entity=entity), replacing=None)


def users_of(page: object) -> list[str]:
    assert isinstance(page, list)
    return [follow.user_id for follow in page]


def test_a_follow_comes_back_as_put(follows: Follows) -> None:
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


def test_a_follow_is_put_once_where_none_is(follows: Follows) -> None:
    assert follows.put(a_follow(), replacing=None)
    assert not follows.put(ENDED, replacing=None)
    assert follows.get(POST, "ann") == a_follow()


def test_a_follow_replaces_only_the_one_that_was_read(follows: Follows) -> None:
    assert not follows.put(ENDED, replacing=a_follow()), "nothing is there"
    follows.put(a_follow(), replacing=None)
    assert not follows.put(ENDED, replacing=a_follow(frequency=Frequency.NEVER))
    assert not follows.put(ENDED, replacing=a_follow(at=NOW))
    assert follows.get(POST, "ann") == a_follow()
    assert follows.put(ENDED, replacing=a_follow())
    assert follows.get(POST, "ann") == ENDED


def test_the_same_instants_in_another_zone_are_what_was_read(follows: Follows) -> None:
    berlin = datetime.fromisoformat("2026-11-22T08:00:00.000001+01:00")
    follows.put(a_follow(at=berlin), replacing=None)
    utc = a_follow(at=berlin.astimezone(UTC))
    assert follows.get(POST, "ann") == utc
    assert follows.put(ENDED, replacing=utc)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_only_a_follow_that_has_ended_expires(follows: Follows, clock: SettableClock) -> None:
    def expiry() -> datetime | None:
        return FollowRow.get(POST, "ann").expires_at

    follows.put(a_follow(), replacing=None)
    assert expiry() is None
    follows.put(ENDED, replacing=a_follow())
    assert expiry() == clock.now + RETENTION
    follows.put(a_follow(at=NOW), replacing=ENDED)
    assert expiry() is None


def test_many_are_those_that_exist(follows: Follows) -> None:
    put_all(follows, ["ann", "bo"])
    follows.put(ENDED, replacing=a_follow())
    keys = [(POST, "ann"), (POST, "bo"), (POST, "cy"), ("post#post2", "ann")]
    assert follows.get_many(keys) == {(POST, "ann"): ENDED, (POST, "bo"): a_follow("bo")}


def test_more_than_a_call_takes_are_found_all(follows: Follows) -> None:
    users = [f"user{number:03}" for number in range(120)]
    put_all(follows, users)
    found = follows.get_many([(POST, user) for user in (*users, "nobody")])
    assert found == {(POST, user): a_follow(user) for user in users}


def test_pages_follow_each_other_and_share_and_miss_nobody(follows: Follows) -> None:
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


def test_a_page_ends_where_it_is_bounded(follows: Follows) -> None:
    put_all(follows, ["a", "b", "c", "d", "e"])
    assert users_of(follows.page(POST, after="a", through="d", limit=10)) == ["b", "c", "d"]
    assert users_of(follows.page(POST, after="", through="b", limit=10)) == ["a", "b"]
    assert users_of(follows.page(POST, after="b", through="bb", limit=10)) == []
    assert users_of(follows.page(POST, after="e", limit=10)) == []
    assert users_of(follows.page("post#post2", after="", limit=10)) == []


def test_a_page_is_full_also_behind_one_who_has_left_meanwhile(follows: Follows) -> None:
    put_all(follows, ["a", "b", "c", "d"])
    assert follows.remove(a_follow("b"))
    assert users_of(follows.page(POST, after="b", limit=2)) == ["c", "d"]
    assert users_of(follows.page(POST, after="b", through="c", limit=2)) == ["c"]


def test_a_page_holds_also_those_who_ended_it(follows: Follows) -> None:
    """They followed when something happened; whoever reads the page decides."""
    follows.put(ENDED, replacing=None)
    assert list(follows.page(POST, after="", limit=10)) == [ENDED]


def test_what_a_user_follows_or_followed_is_found(follows: Follows) -> None:
    put_all(follows, ["ann", "bo"])
    put_all(follows, ["ann"], entity="post#post2")
    follows.put(ENDED, replacing=a_follow())
    assert set(follows.followed_by("ann")) == {POST, "post#post2"}
    assert set(follows.followed_by("nobody")) == set()


def test_a_removed_follow_leaves_no_trace(follows: Follows) -> None:
    put_all(follows, ["ann", "bo"])
    assert follows.remove(a_follow())
    assert not follows.remove(a_follow()), "nothing is there"
    assert follows.get(POST, "ann") is None
    assert list(follows.followed_by("ann")) == []
    assert users_of(follows.page(POST, after="", limit=10)) == ["bo"]
    assert follows.put(a_follow(), replacing=None)


def test_a_follow_that_changed_since_it_was_read_is_not_removed(follows: Follows) -> None:
    follows.put(ENDED, replacing=None)
    assert not follows.remove(a_follow())
    assert follows.get(POST, "ann") == ENDED


def test_the_entities_of_a_user_come_in_order_from_any_of_them(follows: Follows) -> None:
    entities = [f"post#{number}" for number in range(5)]
    for entity in reversed(entities):
        put_all(follows, ["ann", "bo"], entity=entity)
    assert list(follows.followed_by("ann")) == entities
    assert list(follows.followed_by("ann", after="post#1")) == entities[2:]
    assert list(follows.followed_by("ann", after="post#1", at_most=2)) == entities[2:4]
    assert list(follows.followed_by("ann", after="post#9")) == []


def test_many_follows_of_a_user_are_forgotten_whatever_they_say(follows: Follows) -> None:
    entities = [f"post#{number:02d}" for number in range(60)]
    for entity in entities:
        put_all(follows, ["ann", "bo"], entity=entity)
    follows.forget("ann", [*entities[1:], "post#never"])
    assert list(follows.followed_by("ann")) == entities[:1]
    assert list(follows.followed_by("bo")) == entities
    follows.forget("ann", [])
