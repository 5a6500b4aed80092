"""Amended and retracted activities, by the real adapters."""

from datetime import datetime, timedelta

from gazette.adapters.contract.details import ActivityCreated
from gazette.adapters.dynamodb.events import DynamoEvents
from gazette.bootstrap.parts.clock import now
from gazette.domain.model import StoredEvent

from tests.builders import RETENTION
from tests.every_field import DETAIL, decoded
from tests.functions.conftest import Cloud
from tests.functions.messages import ago, follow, happening, profile, reference

ANN = {"id": "ann", "name": "Ann"}


def known(cloud: Cloud) -> dict[str, bool]:
    """Of each reader who has the event, whether its content is still stored."""
    return {row["user_id"]: "body" in row for row in cloud.rows("events")}


def test_reader_becoming_the_actor_gets_the_amendment_and_retraction(
    cloud: Cloud,
) -> None:
    for user_id in ("ann", "cy"):
        cloud.say("subscriber.changed", profile(user_id))
        cloud.say("follow.created", follow(user_id))
    cloud.say("activity.created", happening(1))
    assert known(cloud) == {"ann": True, "cy": True}
    cloud.say("activity.created", happening(1) | {"actor": ANN, "amended_at": ago(minutes=9)})
    assert known(cloud) == {"cy": True}
    cloud.say("event.retracted", {"id": "e1", "entity": reference("post#p1")})
    assert known(cloud) == {"cy": False}


def test_every_field_of_an_amendment_reaches_each_follower(cloud: Cloud) -> None:
    detail = DETAIL | {"occurred_at": ago(hours=1), "expires_at": ago(days=-1)}
    amended = detail | {"amended_at": ago(minutes=9)}
    for user_id in ("ann", "cy"):
        cloud.say("subscriber.changed", profile(user_id))
        cloud.say("follow.created", follow(user_id))
    required = [name for name, each in ActivityCreated.model_fields.items() if each.is_required()]
    cloud.say("activity.created", {name: detail[name] for name in required})
    cloud.say("activity.created", amended)
    events = DynamoEvents("events", retention=RETENTION, timeout=1.5, clock=now)
    for user_id in ("ann", "cy"):
        stored = events.get(user_id, detail["id"])
        assert isinstance(stored, StoredEvent)
        assert stored.event == decoded(amended).event_for(user_id)


def test_activity_is_kept_as_long_as_its_events(cloud: Cloud) -> None:
    """A retraction finds the followers who have it by its row."""
    month = {"hour": 8, "custom": {"day_of_month": 1}, "paused_until": paused_until()}
    cloud.say(
        "subscriber.changed",
        profile(digest=month, frequencies={"comment": "custom"}, changed_at=ago(minutes=1)),
    )
    cloud.say("follow.created", follow())
    cloud.say("activity.created", happening(1))
    (activity,) = cloud.rows("activities")
    (event,) = cloud.rows("events")
    assert activity["expires_at"] >= datetime.fromisoformat(event["lasts_until"]).timestamp()


def paused_until() -> str:
    """The longest pause."""
    return f"{(now() + timedelta(weeks=12)).date()}"
