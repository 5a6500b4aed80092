"""What an activity costs on its way to its followers: messages, calls and units, exactly."""

import json
from collections import Counter
from datetime import timedelta
from typing import Any

import boto3
import pytest
from gazette.adapters.dynamodb.follows import DynamoFollows
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now

from tests.builders import a_follow, a_schedule, a_subscriber
from tests.functions.conftest import Cloud
from tests.functions.costs_page import promised
from tests.functions.messages import ago, follow, happening, profile, reference
from tests.meter import calls
from tests.moto_tables import moto_backend

POST = "post#p1"
AT_ONCE = {"comment": "immediate"}
USERS = [f"user{number:03}" for number in range(250)]
SAID = happening(1)


def fifty_follow(_: Cloud) -> None:
    follow_all(USERS[:50])


def fifty_quiet_ones_follow(_: Cloud) -> None:
    follow_all(USERS[:50], is_idle=True)


def all_follow(_: Cloud) -> None:
    follow_all(USERS)


def follow_all(users: list[str], *, is_idle: bool = False) -> None:
    """Known readers who follow the post, without the way through ingest.

    The rows of the first are written as always, and those of the others are copies of them.
    `is_idle`: nothing waits for any of them yet; else something does for each.
    """
    first, *others = users
    long_ago = now() - timedelta(days=30)
    DynamoSubscribers("subscribers").put(a_subscriber(first, changed_at=long_ago), replacing=None)
    DynamoFollows("follows", retention=timedelta(days=90), clock=now).put(
        a_follow(first, entity=POST, at=long_ago), replacing=None
    )
    daily = a_schedule(first)
    DynamoSchedules("schedules", shards=1).put(daily.idle() if is_idle else daily, replacing=None)
    for table in ("subscribers", "schedules", "follows"):
        (row,) = boto3.client("dynamodb").scan(TableName=table)["Items"]
        for user_id in others:
            moto_backend("dynamodb").put_item(table, {**row, "user_id": {"S": user_id}})


def messages(cloud: Cloud) -> list[dict[str, Any]]:
    """What is on the followers queue now."""
    return [json.loads(message["Body"]) for message in cloud.take("followers")]


def work_one(cloud: Cloud, message: dict[str, Any]) -> None:
    cloud.meter.clear()
    cloud.work("followers", json.dumps(message))


def ann_follows(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.arm("ann")
    cloud.say("follow.created", follow())


@pytest.fixture
def post(cloud: Cloud) -> Cloud:
    """Ann follows the post, and the functions are warm."""
    cloud.begin(ann_follows)
    cloud.warm_up("ingest", "followers")
    return cloud


def test_activity_with_a_follower_costs_eight_calls_and_five_write_units(post: Cloud) -> None:
    """Row and index entry (2), the event and its index entry (2), and that all have it (1).

    The reader is looked at before and after, the follow before, with its page, and after, and the
    schedule after.
    """
    post.say("activity.created", happening(1))
    assert post.meter.calls == calls(PutItem=1 + 1, Query=1, BatchGetItem=3 + 1, UpdateItem=1)
    assert post.meter.write_units == Counter(activities=3, events=2)
    assert post.meter.read_units == Counter(follows=2, subscribers=2, schedules=1)
    assert messages(post) == []


def test_following_actor_adds_no_cost_until_the_activity_is_amended(post: Cloud) -> None:
    """Then their copy of an earlier version is looked for."""
    post.say("follow.created", follow("u1"))
    post.meter.clear()
    post.say("activity.created", happening(1))
    assert post.meter.calls == calls(PutItem=1 + 1, Query=1, BatchGetItem=3 + 1, UpdateItem=1)
    post.meter.clear()
    post.say("activity.created", happening(1) | {"amended_at": ago(minutes=1)})
    assert post.meter.read_units["events"] == 1


def test_activity_with_fifty_followers_is_delivered_without_a_message(cloud: Cloud) -> None:
    cloud.begin(fifty_follow)
    cloud.warm_up("ingest")
    cloud.say("activity.created", happening(1))
    assert cloud.meter.calls == calls(PutItem=1 + 50, Query=1, BatchGetItem=3 + 1, UpdateItem=1)
    assert cloud.meter.write_units == Counter(activities=3, events=100)
    assert messages(cloud) == []


@pytest.mark.long
def test_arming_fifty_idle_followers_costs_two_calls_and_units_each(
    cloud: Cloud,
) -> None:
    """The schedule and its entry in `due`; each reader is read once more after that."""
    cloud.begin(fifty_quiet_ones_follow)
    cloud.warm_up("ingest")
    cloud.say("activity.created", happening(1))
    assert cloud.meter.calls == calls(
        PutItem=1 + 50 + 50, Query=1, BatchGetItem=3 + 1, GetItem=50, UpdateItem=1
    )
    assert cloud.meter.write_units == Counter(activities=3, events=100, schedules=100)
    assert cloud.meter.read_units["subscribers"] == 2 * 50 + 50
    assert cloud.meter.read_units["schedules"] == 50


def test_activity_without_followers_costs_three_calls_and_three_write_units(post: Cloud) -> None:
    post.say("activity.created", happening(1, entity="post#p2"))
    assert post.meter.calls == calls(PutItem=1, Query=1, UpdateItem=1)
    assert post.meter.write_units == Counter(activities=3)
    assert post.meter.write_units.total() == promised()["an activity"]


def test_activity_by_its_only_follower_is_delivered_to_no_reader(post: Cloud) -> None:
    post.say("activity.created", {**happening(1), "actor": {"id": "ann", "name": "Ann"}})
    assert post.meter.calls == calls(PutItem=1, Query=1, UpdateItem=1)
    assert post.meter.write_units == Counter(activities=3)


def test_activity_with_a_parent_costs_three_additional_write_units(post: Cloud) -> None:
    """A row under the parent with its index entry, and that its followers have it."""
    comment = {**happening(1, entity="comment#c1"), "parent": reference(POST)}
    post.say("activity.created", comment)
    assert post.meter.calls == calls(PutItem=2 + 1, Query=2, BatchGetItem=4 + 1, UpdateItem=2)
    assert post.meter.write_units == Counter(activities=6, events=2)


@pytest.mark.parametrize(("parent", "writes"), [({}, 1), ({"parent": reference(POST)}, 2)])
def test_repeated_activity_costs_a_rejected_write_for_each_row(
    post: Cloud, parent: dict[str, Any], writes: int
) -> None:
    said = {**happening(1, entity="comment#c1"), **parent}
    post.say("activity.created", said)
    post.meter.clear()
    post.say("activity.created", said)
    assert post.meter.calls == calls(PutItem=writes)
    assert post.meter.write_units == Counter(activities=writes)


def test_amended_activity_costs_two_rejected_writes_and_each_row_again(
    post: Cloud,
) -> None:
    post.say("activity.created", happening(1))
    post.meter.clear()
    post.say("activity.created", {**happening(1), "amended_at": ago()})
    assert post.meter.calls == calls(PutItem=2 + 1, Query=2, BatchGetItem=3 + 1, UpdateItem=2)
    assert post.meter.write_units == Counter(activities=1 + 1 + 1, events=1 + 2)


def test_activity_for_an_immediate_follower_costs_two_more_units_and_a_message(
    post: Cloud,
) -> None:
    post.say("subscriber.changed", profile(changed_at=ago(days=9), frequencies=AT_ONCE))
    post.meter.clear()
    post.say("activity.created", happening(1))
    in_force = 1  # read once a minute and process
    assert post.meter.calls == calls(
        PutItem=1 + 2,
        Query=2,
        BatchGetItem=3,
        UpdateItem=1,
        SendMessageBatch=1,
        GetItem=in_force,
    )
    assert post.meter.write_units == Counter(activities=3, events=2, runs=2)


def test_retracted_activity_costs_two_write_units_plus_two_per_follower(
    post: Cloud,
) -> None:
    post.say("activity.created", happening(1))
    post.meter.clear()
    post.say("event.retracted", {"id": "e1", "entity": reference(POST)})
    assert post.meter.calls == calls(UpdateItem=2, Query=1 + 1, GetItem=1, PutItem=1)
    assert post.meter.write_units == Counter(activities=2, events=2)


@pytest.fixture
def crowd(cloud: Cloud) -> Cloud:
    """250 readers follow the post: three pages, of a hundred, a hundred, and fifty."""
    cloud.begin(all_follow)
    cloud.warm_up("ingest", "followers")
    return cloud


@pytest.mark.long
def test_activity_with_250_followers_takes_four_messages_of_exact_cost(
    crowd: Cloud,
) -> None:
    """One that walks over them, and one a page, put on the queue by a single call."""
    crowd.say("activity.created", happening(1))
    assert crowd.meter.calls == calls(PutItem=1, Query=1, SendMessageBatch=1)
    assert crowd.meter.write_units == Counter(activities=2)

    (walk,) = messages(crowd)
    assert walk == {"entity": POST, "activity_id": "e1", "side": POST, "after": ""}
    work_one(crowd, walk)
    assert crowd.meter.calls == calls(GetItem=1, Query=1, SendMessageBatch=1, UpdateItem=1)
    assert crowd.meter.write_units == Counter(activities=1)

    pages = messages(crowd)
    assert sorted((page["after"], page["through"]) for page in pages) == [
        ("", "user099"),
        ("user099", "user199"),
        ("user199", "user249"),
    ]
    for page in sorted(pages, key=lambda page: str(page["after"])):
        followers = 50 if page["through"] == "user249" else 100
        work_one(crowd, page)
        again = int(followers == 100)  # somebody between may have begun to follow
        assert crowd.meter.calls == calls(
            GetItem=2 + again, Query=1 + again, BatchGetItem=3 + 1, PutItem=followers
        )
        assert crowd.meter.write_units == Counter(events=2 * followers)
    assert messages(crowd) == []
    events = crowd.rows("events")
    assert sorted(row["user_id"] for row in events) == USERS
    assert {row["event_id"] for row in events} == {"e1"}


def all_have_it(cloud: Cloud) -> None:
    all_follow(cloud)
    cloud.warm_up("ingest", "followers")
    cloud.say("activity.created", SAID)
    assert cloud.work_off_followers() == 4


@pytest.mark.long
def test_activity_costs_two_write_and_four_read_units_per_follower(
    cloud: Cloud,
) -> None:
    """The event and its index entry; the reader before and after, follow and schedule after."""
    cloud.begin(all_have_it)
    assert cloud.meter.write_units == Counter(activities=2 + 1, events=500)
    assert cloud.meter.read_units["subscribers"] == 2 * 250
    assert cloud.meter.read_units["schedules"] == 250
    assert 0 < cloud.meter.read_units["follows"] - 250 < 20, "and the pages themselves"
    assert cloud.meter.calls["dynamodb.PutItem"] == 1 + 250
    assert cloud.meter.calls["sqs.SendMessageBatch"] == 2


def test_completed_walk_over_250_followers_is_not_repeated(
    cloud: Cloud,
) -> None:
    cloud.begin(all_have_it)
    cloud.warm_up("ingest")
    cloud.say("activity.created", SAID)
    assert cloud.meter.calls == calls(PutItem=1)
    assert cloud.meter.write_units == Counter(activities=1)


@pytest.mark.long
def test_redelivered_follower_page_costs_a_rejected_write_per_follower(
    crowd: Cloud,
) -> None:
    crowd.say("activity.created", happening(1))
    (walk,) = messages(crowd)
    work_one(crowd, walk)
    *_, page = sorted(messages(crowd), key=lambda page: str(page["after"]))
    work_one(crowd, page)
    work_one(crowd, page)
    assert crowd.meter.calls == calls(GetItem=2, Query=1, BatchGetItem=3 + 1, PutItem=50)
    assert crowd.meter.write_units == Counter(events=50)


@pytest.mark.long
def test_retraction_costs_two_write_units_per_follower(
    cloud: Cloud,
) -> None:
    cloud.begin(all_have_it)
    cloud.warm_up("ingest", "followers")
    cloud.say("event.retracted", {"id": "e1", "entity": reference(POST)})
    assert cloud.meter.calls == calls(UpdateItem=1, Query=1, SendMessageBatch=1)
    assert cloud.work_off_followers() == 4
    assert cloud.meter.write_units == Counter(activities=2, events=500)
    assert {row.get("was") for row in cloud.rows("events")} == {"daily"}
