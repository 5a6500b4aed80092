"""The handlers themselves: events as Lambda gives them, answers as Lambda wants them."""

import io
import json
import re
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ConnectTimeoutError
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoRateLimiter
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.identity import address_hash
from gazette.domain.model import DAILY, RunKey
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus

from tests.builders import SUPPRESSION_KEY
from tests.functions.conftest import Cloud, fan_out
from tests.functions.failing import denied
from tests.functions.messages import (
    ago,
    envelope,
    event,
    follow,
    happening,
    http,
    profile,
    records,
)

KEY = RunKey("ann", DAILY, 1)
_MULTIPART = """--b\r
Content-Disposition: form-data; name="List-Unsubscribe"\r
\r
One-Click\r
--b--\r
"""
MESSAGE = '{"user_id": "ann", "schedule": "daily", "sequence": 1}'


def stored_run() -> Run:
    return DynamoRuns("runs", retention=timedelta(days=180)).chain(KEY)[0]


def ann() -> Subscriber:
    found = DynamoSubscribers("subscribers").get("ann")
    assert isinstance(found, Subscriber)
    return found


def ids(cloud: Cloud) -> Counter[str]:
    return Counter(row["event_id"] for row in cloud.rows("events"))


def send_one_digest(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    (message,) = fan_out(cloud)
    cloud.work("generate", message)


@pytest.mark.usefixtures("later")
def test_event_travels_from_the_bus_to_the_mail_provider(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(0), event(1), event(2))
    (message,) = fan_out(cloud)
    assert json.loads(message) == json.loads(MESSAGE)
    cloud.work("generate", message)
    (request,) = cloud.sent()
    content = request["Content"]["Simple"]
    assert request["FromEmailAddress"] == "Gazette <digest@example.com>"
    assert request["Destination"] == {"ToAddresses": ["ann@example.com"]}
    assert request["ConfigurationSetName"] == "digest"
    assert content["Subject"]["Data"].startswith("3 new comments on “")
    assert "Title of post#p1" in content["Body"]["Html"]["Data"]
    assert "Title of post#p1" in content["Body"]["Text"]["Data"]
    assert {header["Name"] for header in content["Headers"]} == {
        "List-Unsubscribe",
        "List-Unsubscribe-Post",
        "List-Id",
        "References",
        "Auto-Submitted",
    }
    assert {tag["Name"]: tag["Value"] for tag in request["EmailTags"]} == {
        "run": "ann-daily-1",
        "attempt": "1",
        "installation": "here",
    }
    run = stored_run()
    assert (run.status, run.reason) == (Status.SENT, Reason.ACCEPTED)


@pytest.mark.usefixtures("later")
def test_activity_reaches_a_follower_of_its_parent_but_not_the_actor(
    cloud: Cloud,
) -> None:
    for user in ("ann", "u7"):
        cloud.say("subscriber.changed", profile(user))
        cloud.say("follow.created", follow(user))
    comment = {**happening(7, entity="comment#c1"), "parent": {"type": "post", "id": "p1"}}
    cloud.say("activity.created", comment)
    assert {row["user_id"] for row in cloud.rows("events")} == {"ann"}
    cloud.work("generate", *fan_out(cloud))
    (request,) = cloud.sent()
    assert request["Destination"] == {"ToAddresses": ["ann@example.com"]}
    assert request["Content"]["Simple"]["Subject"]["Data"].startswith("User 7 commented on “")


@pytest.mark.usefixtures("later")
def test_immediate_events_on_an_entity_share_an_email(cloud: Cloud) -> None:
    cloud.say("subscriber.changed", profile(frequencies={"comment": "immediate"}))
    cloud.say("event.created", event(1), event(2), event(3, entity="post#p2"))
    entries = cloud.queued("immediate")
    assert all(0 < entry["DelaySeconds"] <= 20 + 300 + 1 for entry in entries), "collapse, lag, 1"
    first, again, other = (entry["MessageBody"] for entry in entries)
    assert first == again != other
    cloud.work("generate", first, again, other)
    subjects = [request["Content"]["Simple"]["Subject"]["Data"] for request in cloud.sent()]
    assert sorted(subjects) == [
        "New comments on “Title of post#p1”",
        "New comments on “Title of post#p2”",
    ]
    assert "You get this right away" in cloud.sent()[0]["Content"]["Simple"]["Body"]["Text"]["Data"]


def test_immediate_run_is_requeued_while_collecting(cloud: Cloud, logs: io.StringIO) -> None:
    cloud.say("subscriber.changed", profile(frequencies={"comment": "immediate"}))
    cloud.say("event.created", event(1))
    (entry,) = cloud.queued("immediate")
    cloud.work("generate", entry["MessageBody"])
    assert not cloud.sent()
    (_, again) = cloud.queued("immediate")
    assert again["MessageBody"] == entry["MessageBody"]
    assert 0 < again["DelaySeconds"] <= 20 + 300, "what is left of collapse and lag"
    assert '"message":"run requeued"' in logs.getvalue()


@pytest.mark.usefixtures("later")
def test_default_frequency_applies_to_readers_without_a_choice(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_DEFAULT_FREQUENCIES", '{"comment": "weekly", "like": "never"}')
    cloud.say("subscriber.changed", profile(), profile("bo", frequencies={"comment": "daily"}))
    cloud.say("event.created", event(1), event(2, user_id="bo"))
    cloud.say("event.created", {**event(3), "category": "like"})
    places = {row["event_id"]: row["stored"].partition("#")[0] for row in cloud.rows("events")}
    assert places == {"e1": "weekly", "e2": "daily"}


def test_invalid_detail_is_quarantined_and_the_batch_continues(cloud: Cloud) -> None:
    detail = event(1)
    del detail["user_id"]
    wrong = envelope("event.created", detail)
    cloud.work("ingest", wrong, envelope("event.created", event(2)))
    (kept,) = cloud.take("quarantine")
    assert kept["Body"] == wrong
    assert "detail.user_id" in kept["MessageAttributes"]["reason"]["StringValue"]
    assert ids(cloud) == Counter(["e2"])


def test_invalid_event_of_a_list_is_quarantined_and_the_rest_stored(cloud: Cloud) -> None:
    """Also where the whole message comes a second time."""
    events = [event(number) for number in range(10)]
    del events[4]["user_id"]
    wrong = envelope("event.created", {"events": events})
    cloud.work("ingest", wrong)
    cloud.work("ingest", wrong)
    kept = cloud.take("quarantine")
    assert [message["Body"] for message in kept] == [wrong, wrong]
    reason = kept[0]["MessageAttributes"]["reason"]["StringValue"]
    assert "detail.events.4.user_id" in reason
    assert ids(cloud) == Counter(f"e{number}" for number in range(10) if number != 4)


def test_unreadable_message_leaves_the_rest_of_the_batch_stored_once(
    cloud: Cloud,
) -> None:
    bodies = [envelope("event.created", event(number)) for number in range(10)]
    bodies[4] = "no JSON"
    cloud.work("ingest", *bodies)
    assert [message["Body"] for message in cloud.take("quarantine")] == ["no JSON"]
    assert ids(cloud) == Counter(f"e{number}" for number in range(10) if number != 4)


def test_failing_message_is_retried_without_repeating_the_batch(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, logs: io.StringIO
) -> None:
    """DynamoDB does not answer for one event, three times over."""
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def deaf_to_e4(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation == "PutItem" and request["Item"].get("event_id") == {"S": "e4"}:
            raise ConnectTimeoutError(endpoint_url="dynamodb")
        return real(client, operation, request)

    bodies = [envelope("event.created", event(number)) for number in range(10)]
    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", deaf_to_e4)
        assert cloud.invoke("ingest", records(*bodies)) == {
            "batchItemFailures": [{"itemIdentifier": "m4"}]
        }
    (line,) = [json.loads(line) for line in logs.getvalue().splitlines() if "ERROR" in line]
    assert (line["message"], line["message_id"]) == ("message failed", "m4")
    assert "The request to DynamoDB failed" in line["exception"]
    assert ids(cloud) == Counter(f"e{number}" for number in range(10) if number != 4)
    cloud.work("ingest", bodies[4])
    assert ids(cloud) == Counter(f"e{number}" for number in range(10))


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("function", ["generate", "resend"])
def test_error_of_a_run_is_logged_with_the_run(
    cloud: Cloud, logs: io.StringIO, function: str
) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    (message,) = fan_out(cloud)
    other = '{"user_id": "a b", "schedule": "daily", "sequence": 1}'
    with denied("Query", "runs"):
        cloud.invoke(function, records(message, "{}", other))
    lines = [json.loads(line) for line in logs.getvalue().splitlines() if "ERROR" in line]
    by_message = {line["message_id"]: line.get("correlation_id") for line in lines}
    assert by_message == {"m0": "ann-daily-1", "m1": None, "m2": None}
    assert {line["message"] for line in lines} == {"message failed"}


def test_ingest_that_cannot_be_built_returns_every_message(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, logs: io.StringIO
) -> None:
    monkeypatch.delenv("GAZETTE_EVENTS_TABLE")
    bodies = [envelope("event.created", event(number)) for number in range(2)]
    assert cloud.invoke("ingest", records(*bodies)) == {
        "batchItemFailures": [{"itemIdentifier": "m0"}, {"itemIdentifier": "m1"}]
    }
    assert logs.getvalue().count('"message":"message failed"') == 2


def test_event_waiting_for_a_profile_in_the_same_invocation_is_placed(
    cloud: Cloud,
) -> None:
    cloud.work(
        "ingest",
        envelope("event.created", event(1)),
        envelope("subscriber.changed", profile()),
        envelope("event.created", event(2)),
    )
    places = {row["event_id"]: row["stored"].partition("#")[0] for row in cloud.rows("events")}
    assert places == {"e1": "daily", "e2": "daily"}
    (schedule,) = cloud.rows("schedules")
    assert schedule["state"] == "armed"


def test_each_message_is_counted_by_its_outcome(
    cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.say("event.created", {"events": [event(1), event(1), event(2)]})
    (metrics,) = [
        json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line
    ]
    assert (metrics["ingest_stored"], metrics["ingest_duplicate"]) == ([2], [1])


@pytest.mark.usefixtures("later")
def test_run_with_an_unknown_outcome_is_left_to_the_sweep(cloud: Cloud, logs: io.StringIO) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    (message,) = fan_out(cloud)
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    runs.swap(stored_run(), replace(stored_run(), status=Status.UNKNOWN, attempt=1))
    cloud.work("generate", message)
    assert not cloud.sent()
    assert '"status":"unknown"' in logs.getvalue()


@pytest.mark.usefixtures("later")
def test_run_without_a_permit_is_requeued_and_counted(
    cloud: Cloud,
    monkeypatch: pytest.MonkeyPatch,
    logs: io.StringIO,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its message ends, and another one brings it back."""
    monkeypatch.setenv("GAZETTE_EMAILS_PER_SECOND", "1")
    until = now() + timedelta(hours=1, seconds=8)  # no permit further ahead is believed
    DynamoRateLimiter("pace", PacePlan(rate=1), name=ROWS.digest).reserve(until, until)
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    (message,) = fan_out(cloud)
    cloud.work("generate", message)
    assert not cloud.sent()
    assert [entry["MessageBody"] for entry in cloud.queued("generate")][1:] == [message]
    assert '"message":"run requeued"' in logs.getvalue()
    assert '"run_requeued"' in capsys.readouterr().out


@pytest.mark.usefixtures("later")
def test_digest_beyond_the_warmup_cap_is_skipped_with_its_reason(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_WARMUP_FROM", "2999-01-01")
    monkeypatch.setenv("GAZETTE_WARMUP_DAILY", "1")
    for user_id in ("ann", "bo"):
        cloud.say("subscriber.changed", profile(user_id))
        cloud.say("event.created", event(1, user_id=user_id))
        cloud.work("generate", *fan_out(cloud, user_id))
    assert len(cloud.sent()) == 1
    assert {row["reason"] for row in cloud.rows("runs")} == {"accepted", "daily_cap"}


def test_tick_continues_if_the_ses_quota_is_unknown(cloud: Cloud, logs: io.StringIO) -> None:
    assert cloud.invoke("fanout", {"time": ago()}) == {"shards": 1}
    assert "quota not stored" in logs.getvalue()
    cloud.send_quota.update(MaxSendRate=14.0, Max24HourSend=200.0, SentLast24Hours=3.0)
    assert cloud.invoke("fanout", {"time": ago()}) == {"shards": 1}
    assert '"rate":14.0,"daily":200,"left":197' in logs.getvalue()


@pytest.mark.usefixtures("later")
def test_digest_beyond_the_daily_account_quota_is_skipped_with_its_reason(
    cloud: Cloud,
) -> None:
    """SES would refuse it, again and again, until it has no attempts left."""
    cloud.send_quota.update(MaxSendRate=500.0, Max24HourSend=200.0, SentLast24Hours=199.0)
    messages = []
    for user_id in ("ann", "bo"):
        cloud.say("subscriber.changed", profile(user_id))
        cloud.say("event.created", event(1, user_id=user_id))
        messages += fan_out(cloud, user_id)
    cloud.work("generate", *messages)
    assert len(cloud.sent()) == 1
    assert {row["reason"] for row in cloud.rows("runs")} == {"accepted", "daily_cap"}


def test_message_without_a_run_is_discarded(cloud: Cloud) -> None:
    cloud.work("generate", MESSAGE)
    assert not cloud.sent()


def test_message_without_an_activity_is_discarded(cloud: Cloud) -> None:
    walk = {"entity": "post#p1", "activity_id": "a1", "side": "post#p1", "after": ""}
    cloud.warm_up("followers")
    cloud.work("followers", json.dumps(walk), json.dumps(walk | {"through": "z"}))
    assert not cloud.meter.write_units


@pytest.mark.usefixtures("later")
def test_log_contains_no_address_or_email_content(
    cloud: Cloud, logs: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    send_one_digest(cloud)
    cloud.say("follow.created", follow())
    cloud.say("activity.created", happening(2))
    walk = {"entity": "post#p1", "activity_id": "e2", "side": "post#p1", "after": ""}
    cloud.work("followers", json.dumps(walk), json.dumps(walk | {"through": "z"}))
    cloud.say("subscriber.deleted", {"user_id": "ann", "deleted_at": ago()})
    printed = logs.getvalue() + capsys.readouterr().out
    assert '"correlation_id":"ann-daily-1"' in printed
    assert '"message":"followers served"' in printed
    for private in ("ann@example.com", "Title of", "User 1", "User 2", "xxxx"):
        assert private not in printed


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("List-Unsubscribe=One-Click", "application/x-www-form-urlencoded"),
        (_MULTIPART, "multipart/form-data; boundary=b"),
    ],
)
def test_one_click_stops_the_digests_but_opening_the_link_does_not(
    cloud: Cloud, body: str, content_type: str
) -> None:
    send_one_digest(cloud)
    path = cloud.unsubscribe_path()

    opened = cloud.invoke("preferences", http("GET", path))
    assert opened["statusCode"] == 200
    assert '<form method="post">' in opened["body"]
    assert ann().status is SubscriberStatus.ACTIVE

    posted = cloud.invoke("preferences", http("POST", path, body, content_type))
    assert posted["statusCode"] == 200
    assert "You're unsubscribed" in posted["body"]
    assert ann().status is SubscriberStatus.UNSUBSCRIBED
    schedules = DynamoSchedules("schedules", shards=1)
    (schedule,) = schedules.of_user("ann")
    assert not list(schedules.due(schedule.next_due_at, 0))
    hashed = address_hash("ann@example.com")
    assert DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=now).holds(hashed)


@pytest.mark.usefixtures("later")
def test_unsubscribe_remains_effective_after_an_erasure(cloud: Cloud) -> None:
    """The address is not kept, only a hash of it that tells it again."""
    send_one_digest(cloud)
    cloud.invoke("preferences", http("POST", cloud.unsubscribe_path()))
    cloud.say("subscriber.deleted", {"user_id": "ann", "deleted_at": ago(minutes=1)})
    cloud.say("subscriber.changed", profile(changed_at=ago(), email="Ann@EXAMPLE.com"))
    assert ann().status is SubscriberStatus.SUPPRESSED
    cloud.say("event.created", event(2))
    assert not cloud.rows("events")
    assert not list(DynamoSchedules("schedules", shards=1).of_user("ann"))


@pytest.mark.usefixtures("later")
def test_erasure_keeps_only_runs_and_the_erasure_time(cloud: Cloud) -> None:
    send_one_digest(cloud)
    cloud.say("follow.created", follow())
    cloud.say("event.created", event(2))
    deleted_at = ago()
    cloud.say("subscriber.deleted", {"user_id": "ann", "deleted_at": deleted_at})
    (left,) = cloud.rows("subscribers")
    assert left.keys() == {"user_id", "erased_at"}
    for table in ("events", "follows", "schedules", "suppressions"):
        assert not cloud.rows(table)
    (run,) = cloud.rows("runs")
    assert (run["user_id"], run["status"]) == ("ann", "sent")
    cloud.say("event.created", event(3))
    cloud.say("follow.created", follow())
    cloud.say("subscriber.active", {"user_id": "ann", "active_at": ago()})
    assert cloud.rows("subscribers") == [left]
    assert not cloud.rows("events") + cloud.rows("follows")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_altered_link_is_explained_and_changes_no_data(cloud: Cloud, method: str) -> None:
    answer = cloud.invoke(
        "preferences", http(method, "/unsubscribe/k1.YW5u.AAAAAAAAAAAAAAAAAAAAAA")
    )
    assert answer["statusCode"] == 404
    assert "This link doesn't work" in answer["body"]
    assert not cloud.meter.write_units


def test_pages_forbid_scripts_and_send_no_referrer(cloud: Cloud) -> None:
    answer = cloud.invoke("preferences", http("GET", "/unsubscribe/x"))
    headers = answer["headers"]
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert headers["Referrer-Policy"] == "no-referrer"
    assert not re.search(r"<script|https?://", answer["body"])


@pytest.mark.usefixtures("later")
def test_shared_fragments_are_counted_in_a_metric(
    cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    for user in ("ann", "bo"):
        cloud.say("subscriber.changed", profile(user))
        cloud.say("event.created", event(1, user_id=user, entity="post#shared"))
    messages = [*fan_out(cloud), *fan_out(cloud, "bo")]
    capsys.readouterr()
    for message in messages:
        cloud.work("generate", message)
    written = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line]
    first, second = [line for line in written if "run_sent" in line]
    assert (first["fragments_made"], second["fragments_found"]) == ([1.0], [1.0])
    assert not first.keys() & {"fragments_found"} | second.keys() & {"fragments_made"}
