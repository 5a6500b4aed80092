"""Each function uses each queue, secret and stream that it may use in AWS, in every kind of stage.

What it is granted is in the templates, and `make enforce` compares: here nothing is listed.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import boto3
import pytest
from gazette.adapters.aws.queues import decode_run_key
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoRateLimiter
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.delivery.run import Run, Status
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.steps.ingest import followers

from tests.builders import a_window
from tests.functions.conftest import Cloud, fan_out
from tests.functions.in_stages import Provider
from tests.functions.messages import (
    delivery_event,
    delivery_report,
    envelope,
    event,
    follow,
    happening,
    profile,
    records,
)
from tests.functions.serving import reported
from tests.functions.test_coming_back import broken

RUNS = timedelta(days=180)
_LONG_AGO = timedelta(days=1)

pytestmark = pytest.mark.usefixtures("later")

in_each_stage = pytest.mark.usefixtures("provider")


def run_of(message: str) -> Run:
    found = DynamoRuns("runs", retention=RUNS).get(decode_run_key(message))
    assert found
    return found


def become(message: str, **changes: object) -> None:
    """Let time pass, or a worker die: the run as it would be found."""
    found = run_of(message)
    DynamoRuns("runs", retention=RUNS).swap(found, replace(found, **changes))  # type: ignore[arg-type]


def a_digest(cloud: Cloud, user_id: str) -> str:
    """The message of a run with one event."""
    cloud.say("subscriber.changed", profile(user_id))
    cloud.say("event.created", event(1, user_id=user_id))
    (message,) = (each for each in fan_out(cloud, user_id) if f'"{user_id}"' in each)
    return message


def an_immediate(cloud: Cloud, user_id: str) -> str:
    """The message of a run that goes out at once."""
    cloud.say("subscriber.changed", profile(user_id, frequencies={"comment": "immediate"}))
    cloud.say("event.created", event(1, user_id=user_id))
    message: str = cloud.queued("immediate")[-1]["MessageBody"]
    return message


@pytest.mark.parametrize("message_of", [a_digest, an_immediate])
def test_both_streams_are_resent_after_a_refusal_and_wait_for_permits(
    cloud: Cloud, provider: Provider, message_of: Callable[[Cloud, str], str]
) -> None:
    cloud.work("generate", message_of(cloud, "ann"))
    refused = message_of(cloud, "bo")
    provider.refuse_the_next()
    cloud.work("generate", refused)
    assert [each["MessageBody"] for each in cloud.queued("resend")] == [refused]
    become(refused, retry_at=None)
    cloud.work("resend", refused)
    assert cloud.recipients() == ["ann@example.com", "bo@example.com"]
    until = now() + timedelta(hours=1, seconds=8)  # no permit further ahead is believed
    for name in (ROWS.digest, ROWS.immediate):
        DynamoRateLimiter("pace", PacePlan(rate=1), name=name).reserve(until, until)
    waits = message_of(cloud, "cy")
    cloud.work("generate", waits)
    queue = "generate" if message_of is a_digest else "immediate"
    assert [each["MessageBody"] for each in cloud.queued(queue)][-1] == waits
    assert len(cloud.recipients()) == 2


def test_run_refused_six_times_is_kept_as_a_dead_letter(cloud: Cloud, provider: Provider) -> None:
    message = a_digest(cloud, "ann")
    become(message, status=Status.RETRYING, refusals=5, attempt=5)
    provider.refuse_the_next()
    cloud.work("resend", message)
    (kept,) = cloud.take("failed")
    assert decode_run_key(kept["Body"]) == decode_run_key(message)


@in_each_stage
def test_activity_is_delivered_to_followers_by_messages(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followers, "PAGE", 1)
    wanted = {"frequencies": {"comment": "immediate"}}
    for user_id in ("ann", "bo"):
        cloud.say("subscriber.changed", profile(user_id, **wanted))
        cloud.say("follow.created", follow(user_id))
    cloud.say("activity.created", happening(1))
    assert cloud.work_off_followers() > 1
    queued = {json.loads(each["MessageBody"])["user_id"] for each in cloud.queued("immediate")}
    assert queued == {"ann", "bo"}


@in_each_stage
def test_invalid_messages_are_quarantined(cloud: Cloud) -> None:
    detail = event(1)
    del detail["user_id"]
    cloud.work("ingest", envelope("event.created", detail))
    a_digest(cloud, "ann")
    cloud.work("feedback", delivery_event("Clicked", record="click"))
    assert len(cloud.take("quarantine")) == 2


@in_each_stage
def test_failed_messages_of_every_queue_are_hidden(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step, queue in (
        ("followers", "followers"),
        ("fanout", "shard"),
        ("generate", "generate"),
        ("generate", "immediate"),
        ("resend", "resend"),
        ("feedback", "feedback"),
        ("sweep", "sweep"),
    ):
        assert cloud.invoke(step, records("no JSON", queue=queue))["batchItemFailures"]
    body = envelope("subscriber.changed", profile())
    with broken(monkeypatch):
        assert cloud.invoke("ingest", records(body, queue="ingest"))["batchItemFailures"]
    assert cloud.meter.calls["sqs.ChangeMessageVisibilityBatch"] == 8


def sweep(cloud: Cloud) -> None:
    cloud.invoke("sweep", {"time": now().isoformat()})
    for message in cloud.take("sweep"):
        cloud.work("sweep", message["Body"])


@in_each_stage
def test_lost_messages_are_queued_again(cloud: Cloud) -> None:
    digest, at_once, refused = (
        a_digest(cloud, "ann"),
        an_immediate(cloud, "bo"),
        a_digest(cloud, "cy"),
    )
    become(digest, check_at=now())
    become(at_once, check_at=now())
    become(refused, check_at=now(), status=Status.RETRYING, refusals=1, attempt=1)
    sweep(cloud)
    for queue, lost in (("generate", digest), ("immediate", at_once), ("resend", refused)):
        assert [each["MessageBody"] for each in cloud.queued(queue)][-1] == lost


@in_each_stage
def test_late_shard_is_queued_again(cloud: Cloud) -> None:
    batches = DynamoBatches("control", retention=RUNS, clock=now)
    batches.save_checkpoint(0, slot_of(now()) - 5 * SLOT)
    sweep(cloud)
    assert cloud.take("shard")


def test_unknown_outcome_is_decided_by_the_delivery_event_backlog(
    cloud: Cloud, provider: Provider
) -> None:
    """With SES; with SMTP there are none, and nothing is asked."""
    message = a_digest(cloud, "ann")
    become(
        message,
        status=Status.UNKNOWN,
        attempt=1,
        uncertain=frozenset({1}),
        window=a_window(until=now()),
        deadline=now() - _LONG_AGO,
        check_at=now() - _LONG_AGO,
    )
    url = cloud.queues["feedback"]
    boto3.client("sqs").send_message(QueueUrl=url, MessageBody=delivery_event())
    sweep(cloud)
    canaries = [] if provider.name == "smtp" else ["success@simulator.amazonses.com"]
    assert cloud.recipients() == canaries


def test_click_of_a_dormant_reader_is_published_if_clicks_are_tracked(
    cloud: Cloud, provider: Provider, request: pytest.FixtureRequest
) -> None:
    cloud.work("generate", a_digest(cloud, "ann"))
    assert DynamoSubscribers("subscribers").set_dormant(cloud.reader())
    click = delivery_event("Clicked", record="click", minutes=5)
    if provider.name == "smtp":
        click = delivery_report("clicked", reported()["reference"])
    cloud.work("feedback", click)
    is_tracked = request.node.callspec.params["provider"] != "cdk.json"
    assert cloud.meter.calls["events.PutEvents"] == is_tracked
