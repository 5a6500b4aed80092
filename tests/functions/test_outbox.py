"""The outbox function, with the images that the other functions write into the streams of moto."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from gazette.domain.errors import Unavailable
from gazette.domain.events_out.events import EventType

from gazette_cdk.topology import TABLES
from tests import warehouse
from tests.functions.conftest import OUT_BUS, Cloud, fan_out
from tests.functions.messages import ago, bounce, complaint, delivery_event, event, http, profile

STREAMED = tuple(table.name for table in TABLES if table.has_stream)


@pytest.fixture
def streams(cloud: Cloud, later: None, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """The tables with the streams of the data stack."""
    monkeypatch.setenv("AWS_ACCOUNT_ID_ENDPOINT_MODE", "disabled")  # moto has no such endpoints
    for table in STREAMED:
        boto3.client("dynamodb").update_table(
            TableName=table,
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
    return cloud


def records_of(table: str) -> list[dict[str, Any]]:
    """Every change of a table, as Lambda delivers it."""
    client = boto3.client("dynamodbstreams")
    (stream,) = client.list_streams(TableName=table)["Streams"]
    arn = stream["StreamArn"]
    found: list[dict[str, Any]] = []
    for shard in client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        iterator = client.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        for record in client.get_records(ShardIterator=iterator)["Records"]:
            change: dict[str, Any] = dict(record["dynamodb"])
            at = change["ApproximateCreationDateTime"]
            change["ApproximateCreationDateTime"] = (
                at.timestamp() if isinstance(at, datetime) else float(at)
            )
            found.append({**record, "eventSourceARN": arn, "dynamodb": change})
    return found


def drain(cloud: Cloud) -> list[dict[str, Any]]:
    """Publish every change, and return the events as a consumer gets them."""
    cloud.meter.clear()
    for table in STREAMED:
        changes = records_of(table)
        for first in range(0, len(changes), 100):
            cloud.invoke("outbox", {"Records": changes[first : first + 100]})
    return published(cloud)


def published(cloud: Cloud) -> list[dict[str, Any]]:
    return [
        {
            "source": entry["Source"],
            "detail-type": entry["DetailType"],
            "detail": json.loads(entry["Detail"]),
        }
        for name, request in cloud.meter.requests
        if name == "events.PutEvents"
        for entry in request["Entries"]
        if entry["EventBusName"] == OUT_BUS
    ]


def a_week(cloud: Cloud) -> None:
    """Three readers get a digest. One clicks, mutes a category and leaves. One bounces, and one
    complains.
    """
    for reader in ("ann", "bo", "cy"):
        cloud.say("subscriber.changed", profile(reader, frequencies={"like": "weekly"}))
        cloud.say("event.created", event(1, user_id=reader))
        cloud.work("generate", *fan_out(cloud, reader))
    cloud.work("feedback", delivery_event("Delivered"), delivery_event("Delivered"))
    cloud.work("feedback", delivery_event("Clicked", record="click", minutes=5))
    cloud.work("feedback", bounce("bo-daily-1"), complaint("cy-daily-1"))
    cloud.say("subscriber.active", {"user_id": "ann", "active_at": ago()})
    cloud.say(
        "preferences.chosen",
        {"user_id": "ann", "chosen_at": ago(minutes=3), "frequencies": {"like": "never"}},
    )
    assert cloud.invoke("preferences", http("POST", cloud.link("unsubscribe")))["statusCode"] == 200


def summary(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return sorted((each["detail-type"], each["detail"]["id"]) for each in events)


def test_changes_of_every_function_are_published(streams: Cloud) -> None:
    a_week(streams)
    events = drain(streams)
    assert {each["source"] for each in events} == {"gazette.prod"}
    assert summary(events) == [
        ("email.bounced", "bo-daily-1:bounced"),
        ("email.clicked", "ann-daily-1:clicked"),
        ("email.complained", "cy-daily-1:complained"),
        ("email.delivered", "ann-daily-1:delivered"),
        ("email.delivered", "cy-daily-1:delivered"),
        ("email.sent", "ann-daily-1:sent"),
        ("email.sent", "bo-daily-1:sent"),
        ("email.sent", "cy-daily-1:sent"),
        ("preferences.changed", "ann::1:preferences"),
        ("preferences.changed", "ann::2:preferences"),
        ("preferences.changed", "bo::1:preferences"),
        ("preferences.changed", "cy::1:preferences"),
        ("subscriber.left", "ann::3:status"),
        ("subscriber.suppressed", "bo::2:status"),
        ("subscriber.suppressed", "cy::2:status"),
    ]
    with warehouse.opened() as db:
        warehouse.store(db, [*reversed(events), *events])
        assert warehouse.totals(db) == {
            "sent": 3,
            "delivered": 2,
            "bounced": 1,
            "clicked": 1,
            "complained": 1,
        }
        likes = {name: each["frequencies.like"] for name, each in warehouse.choices(db).items()}
        assert likes == {"ann": "never", "bo": "weekly", "cy": "weekly"}
        assert warehouse.away(db) == {
            "ann": "subscriber.left",
            "bo": "subscriber.suppressed",
            "cy": "subscriber.suppressed",
        }
    assert "@" not in json.dumps(events)


def test_repetition_has_the_same_ids_and_contents(streams: Cloud) -> None:
    a_week(streams)
    first, second = drain(streams), drain(streams)
    assert first == second
    assert len({each["detail"]["id"] for each in first}) == len(first)


def test_address_is_in_events_about_subscribers_if_asked(
    streams: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_EVENTS_OUT", json.dumps([*EventType, "address"]))
    a_week(streams)
    for each in drain(streams):
        has_address = each["detail-type"].startswith("subscriber.")
        assert ("@" in json.dumps(each)) is has_address, each


def test_types_that_are_not_listed_are_not_published(
    streams: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_EVENTS_OUT", '["email.bounced"]')
    a_week(streams)
    assert summary(drain(streams)) == [("email.bounced", "bo-daily-1:bounced")]


def test_outbox_makes_one_call_per_ten_events_and_reads_no_table(streams: Cloud) -> None:
    a_week(streams)
    events = drain(streams)
    assert {*streams.meter.calls} == {"dynamodbstreams.ListStreams", "events.PutEvents"} | {
        f"dynamodbstreams.{each}" for each in ("DescribeStream", "GetRecords", "GetShardIterator")
    }
    assert streams.meter.calls["events.PutEvents"] <= len(STREAMED) + len(events) // 10
    assert not streams.meter.read_units
    assert not streams.meter.write_units


@pytest.fixture
def failing(streams: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Let the worker die at its nth PutEvents, after the bus took the events."""
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]
    calls: list[int] = []

    def fail_at(number: int) -> None:
        calls.clear()

        def answered(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
            if operation == "PutEvents":
                calls.append(1)
                if len(calls) == number:
                    real(client, operation, request)
                    raise Unavailable("The worker dies.")
            return real(client, operation, request)

        patch.setattr(BaseClient, "_make_api_call", answered)

    with monkeypatch.context() as patch:
        yield fail_at


@pytest.mark.parametrize("number", [1, 2])
def test_batch_fails_as_a_whole_and_is_published_again(
    streams: Cloud, failing: Callable[[int], None], number: int
) -> None:
    for reader in range(12):
        cloud_reader = f"reader{reader}"
        streams.say("subscriber.changed", profile(cloud_reader, frequencies={"like": "never"}))
    changes = records_of("subscribers")
    failing(number)
    with pytest.raises(Unavailable):
        streams.invoke("outbox", {"Records": changes})
    failing(0)
    streams.meter.clear()
    streams.invoke("outbox", {"Records": changes})
    assert len({each["detail"]["user_id"] for each in published(streams)}) == 12


def test_unreadable_row_is_logged_and_does_not_hold_up_the_others(
    streams: Cloud, logs: Any
) -> None:
    streams.say("subscriber.changed", profile(frequencies={"like": "never"}))
    changes = records_of("subscribers")
    written = next(each for each in changes if "email" in each["dynamodb"]["NewImage"])
    broken = json.loads(json.dumps(written, default=str))
    broken["dynamodb"]["NewImage"]["changed_at"] = {"S": "yesterday"}
    streams.meter.clear()
    streams.invoke("outbox", {"Records": [broken, written]})
    assert [each["detail-type"] for each in published(streams)] == ["preferences.changed"]
    assert "The row ann of the table subscribers cannot be read" in logs.getvalue()
    assert "@" not in logs.getvalue()
