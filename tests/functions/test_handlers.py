"""The handlers themselves: events as Lambda gives them, answers as Lambda wants them."""

import io
import json
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import gazette.bootstrap.generate
import gazette.bootstrap.ingest
import pytest
from gazette.adapters.runs import DynamoRuns
from gazette.adapters.schedules import DynamoSchedules
from gazette.adapters.subscribers import DynamoSubscribers
from gazette.domain.model import DAILY, RunKey, SubscriberStatus
from gazette.domain.run import Reason, Run, Status

from functions.fanout.handler import lambda_handler as fanout
from functions.generate.handler import lambda_handler as generate
from functions.ingest.handler import lambda_handler as ingest
from functions.preferences.handler import lambda_handler as preferences
from tests.functions.conftest import (
    Cloud,
    Context,
    envelope,
    event_detail,
    records,
    subscriber_detail,
)

KEY = RunKey("ann", DAILY, 1)
_MULTIPART = """--b\r
Content-Disposition: form-data; name="List-Unsubscribe"\r
\r
One-Click\r
--b--\r
"""
MESSAGE = '{"user_id": "ann", "schedule": "daily", "sequence": 1}'


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Generate reads its clock an hour after ingest wrote."""
    monkeypatch.setattr(
        gazette.bootstrap.generate, "now", lambda: datetime.now(UTC) + timedelta(hours=1)
    )


def stored_run() -> Run:
    return DynamoRuns("runs", retention=timedelta(days=180)).chain(KEY)[0]


def put(context: Context, *, events: int = 1, entities: int = 1) -> None:
    bodies = [envelope("subscriber.changed", subscriber_detail())]
    bodies += [
        envelope("event.created", event_detail(number, entity=number % entities))
        for number in range(events)
    ]
    assert ingest(records(*bodies), context) == {"batchItemFailures": []}


def fan_out(cloud: Cloud, context: Context) -> list[dict[str, Any]]:
    """Tick at the moment that Ann is due, and work the shard off."""
    schedule = DynamoSchedules("schedules", shards=1).get("ann", DAILY)
    assert schedule is not None
    assert fanout({"time": schedule.next_due_at.isoformat()}, context) == {"shards": 1}
    (shard,) = cloud.take("shard")
    assert fanout(records(shard["Body"]), context) == {"batchItemFailures": []}
    return cloud.take("generate")


def sent(cloud: Cloud) -> list[dict[str, Any]]:
    return [request for name, request in cloud.meter.requests if name == "sesv2.SendEmail"]


@pytest.mark.usefixtures("later")
def test_an_event_travels_from_the_bus_to_the_mail_provider(cloud: Cloud, context: Context) -> None:
    put(context, events=3)
    (message,) = fan_out(cloud, context)
    assert json.loads(message["Body"]) == json.loads(MESSAGE)
    assert generate(records(message["Body"]), context) == {"batchItemFailures": []}
    (request,) = sent(cloud)
    content = request["Content"]["Simple"]
    assert request["FromEmailAddress"] == "Gazette <digest@example.com>"
    assert request["Destination"] == {"ToAddresses": ["ann@example.com"]}
    assert request["ConfigurationSetName"] == "digest"
    assert content["Subject"]["Data"].startswith("3 new comments from User 2, User 1 and ")
    assert "Post 0" in content["Body"]["Html"]["Data"]
    assert "Post 0" in content["Body"]["Text"]["Data"]
    assert {header["Name"] for header in content["Headers"]} == {
        "List-Unsubscribe",
        "List-Unsubscribe-Post",
        "List-Id",
        "Auto-Submitted",
    }
    assert {tag["Name"]: tag["Value"] for tag in request["EmailTags"]} == {
        "run": "ann-daily-1",
        "attempt": "1",
    }
    run = stored_run()
    assert (run.status, run.reason) == (Status.SENT, Reason.ACCEPTED)


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("events", [1, 300])
def test_one_digest_costs_five_calls_and_three_write_units(
    cloud: Cloud, context: Context, events: int
) -> None:
    """Whatever the number of events; 300 of them fit one page."""
    put(context, events=events, entities=30)
    (message,) = fan_out(cloud, context)
    gazette.bootstrap.generate.build()
    cloud.meter.clear()
    generate(records(message["Body"]), context)
    assert cloud.meter.calls == Counter(
        {
            "dynamodb.Query": 1 + 1,  # the chain of runs, and one page of events
            "dynamodb.GetItem": 1,
            "dynamodb.PutItem": 2,  # claim and commit
            "sesv2.SendEmail": 1,
        }
    )
    assert cloud.meter.write_units == Counter({"runs": 3})  # claim, commit, and out of the index


@pytest.mark.usefixtures("later")
def test_a_digest_with_nothing_in_it_costs_three_calls_and_two_write_units(
    cloud: Cloud, context: Context
) -> None:
    put(context, events=0)
    (message,) = fan_out(cloud, context)
    gazette.bootstrap.generate.build()
    cloud.meter.clear()
    generate(records(message["Body"]), context)
    assert cloud.meter.calls == Counter({"dynamodb.Query": 2, "dynamodb.PutItem": 1})
    assert cloud.meter.write_units == Counter({"runs": 2})
    assert stored_run().reason is Reason.EMPTY


def test_a_due_schedule_costs_fan_out_five_write_units(cloud: Cloud, context: Context) -> None:
    put(context)
    cloud.meter.clear()
    fan_out(cloud, context)
    assert cloud.meter.write_units == Counter({"runs": 2, "schedules": 3})


def test_an_event_costs_ingest_one_call_and_two_write_units(cloud: Cloud, context: Context) -> None:
    put(context)
    cloud.meter.clear()
    ingest(records(envelope("event.created", event_detail(7))), context)
    assert cloud.meter.calls == Counter({"dynamodb.PutItem": 1})
    assert cloud.meter.write_units == Counter({"events": 2})


def test_a_wrong_detail_goes_to_quarantine_and_its_neighbours_go_on(
    cloud: Cloud, context: Context
) -> None:
    detail = event_detail(1)
    del detail["user_id"]
    wrong = envelope("event.created", detail)
    right = envelope("event.created", event_detail(2))
    assert ingest(records(wrong, right), context) == {"batchItemFailures": []}
    (kept,) = cloud.take("quarantine")
    assert kept["Body"] == wrong
    assert "detail.user_id" in kept["MessageAttributes"]["reason"]["StringValue"]
    assert cloud.meter.calls["dynamodb.PutItem"] == 1


def test_only_the_message_that_failed_is_delivered_again(
    cloud: Cloud, context: Context, monkeypatch: pytest.MonkeyPatch, logs: io.StringIO
) -> None:
    real = gazette.bootstrap.ingest.build()

    def failing_once(body: str) -> object:
        if "e1" in body:
            raise RuntimeError("no answer")
        return real(body)

    monkeypatch.setattr("functions.ingest.handler.build", lambda: failing_once)
    bodies = [envelope("event.created", event_detail(number)) for number in range(3)]
    assert ingest(records(*bodies), context) == {"batchItemFailures": [{"itemIdentifier": "m1"}]}
    (line,) = [json.loads(line) for line in logs.getvalue().splitlines() if "ERROR" in line]
    assert (line["message"], line["message_id"]) == ("message failed", "m1")
    assert "no answer" in line["exception"]


@pytest.mark.usefixtures("later")
def test_a_run_whose_outcome_is_unknown_keeps_its_message(
    cloud: Cloud, context: Context, logs: io.StringIO
) -> None:
    put(context)
    (message,) = fan_out(cloud, context)
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    runs.swap(stored_run(), replace(stored_run(), status=Status.UNKNOWN, attempt=1))
    assert generate(records(message["Body"]), context) == {
        "batchItemFailures": [{"itemIdentifier": "m0"}]
    }
    assert not sent(cloud)
    assert "message kept for later" in logs.getvalue()


def test_a_message_that_names_no_run_ends_there(cloud: Cloud, context: Context) -> None:
    assert generate(records(MESSAGE), context) == {"batchItemFailures": []}
    assert not sent(cloud)


@pytest.mark.usefixtures("later")
def test_no_log_line_holds_an_address_or_what_the_email_says(
    cloud: Cloud, context: Context, logs: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    put(context)
    (message,) = fan_out(cloud, context)
    generate(records(message["Body"]), context)
    printed = logs.getvalue() + capsys.readouterr().out
    assert '"correlation_id":"ann-daily-1"' in printed
    for private in ("ann@example.com", "Post 0", "User 0", "xxxx"):
        assert private not in printed


def unsubscribe_path(cloud: Cloud) -> str:
    headers = sent(cloud)[0]["Content"]["Simple"]["Headers"]
    value = next(h["Value"] for h in headers if h["Name"] == "List-Unsubscribe")
    return str(urlsplit(value.strip("<>")).path)


def http(method: str, path: str, body: str = "", content_type: str = "") -> dict[str, Any]:
    """A request as a function URL hands it over."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"content-type": content_type},
        "requestContext": {
            "http": {"method": method, "path": path, "sourceIp": "203.0.113.1"},
            "stage": "$default",
            "requestId": "r",
        },
        "body": body,
        "isBase64Encoded": False,
    }


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("List-Unsubscribe=One-Click", "application/x-www-form-urlencoded"),
        (_MULTIPART, "multipart/form-data; boundary=b"),
    ],
)
def test_one_click_stops_the_digests_and_opening_the_link_does_not(
    cloud: Cloud, context: Context, body: str, content_type: str
) -> None:
    put(context)
    (message,) = fan_out(cloud, context)
    generate(records(message["Body"]), context)
    path = unsubscribe_path(cloud)
    subscribers = DynamoSubscribers("subscribers")

    opened = preferences(http("GET", path), context)
    assert opened["statusCode"] == 200
    assert '<form method="post">' in opened["body"]
    ann = subscribers.get("ann")
    assert ann is not None
    assert ann.status is SubscriberStatus.ACTIVE

    posted = preferences(http("POST", path, body, content_type), context)
    assert posted["statusCode"] == 200
    assert "You are unsubscribed" in posted["body"]
    ann = subscribers.get("ann")
    assert ann is not None
    assert ann.status is SubscriberStatus.UNSUBSCRIBED
    slot = DynamoSchedules("schedules", shards=1).get("ann", DAILY)
    assert slot is not None
    assert not list(DynamoSchedules("schedules", shards=1).due(slot.next_due_at, 0))


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_altered_link_is_explained_and_changes_nothing(
    cloud: Cloud, context: Context, method: str
) -> None:
    answer = preferences(http(method, "/unsubscribe/YW5u.AAAAAAAAAAAAAAAAAAAAAA"), context)
    assert answer["statusCode"] == 404
    assert "This link does not work" in answer["body"]
    assert cloud.meter.write_units == Counter()


def test_pages_forbid_scripts_and_leak_no_referrer(cloud: Cloud, context: Context) -> None:
    answer = preferences(http("GET", "/unsubscribe/x"), context)
    headers = answer["headers"]
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert headers["Referrer-Policy"] == "no-referrer"
    assert not re.search(r"<script|https?://", answer["body"])
