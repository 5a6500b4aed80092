"""The functions of the API on moto: each route, its calls, and its log."""

import io
import json
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from gazette.adapters.dynamodb.runs import run_sort_key
from gazette.domain.model import RunKey

from tests.functions.conftest import Cloud, fan_out
from tests.functions.messages import ago, complaint, delivery_event, event, follow, http, profile
from tests.functions.serving import leave
from tests.services import CALLER, content, request

READ = {"GetItem", "BatchGetItem", "Query"}


@pytest.fixture
def stage(cloud: Cloud, later: None) -> Cloud:
    """Ann got an email with an event. An event of Bo waits."""
    for reader in ("ann", "bo"):
        cloud.say("subscriber.changed", profile(reader, frequencies={"like": "weekly"}))
    cloud.say("event.created", event(1))
    cloud.work("generate", *fan_out(cloud))
    cloud.work("feedback", delivery_event("Delivered"))
    cloud.say("event.created", event(2, user_id="bo"))
    cloud.warm_up("api", "api_writes")
    return cloud


def get(stage: Cloud, path: str, **query: Any) -> dict[str, Any]:
    stage.meter.clear()
    return stage.invoke("api", request("GET", path, **query))


def called(stage: Cloud) -> list[str]:
    """Return the calls to AWS of the last request."""
    return [name for name, _ in stage.meter.requests]


@pytest.mark.long
def test_subscriber_costs_the_calls_of_the_page_and_two_queries_per_digest(stage: Cloud) -> None:
    answer = get(stage, "/v1/subscriber", user_id="bo")
    assert answer["statusCode"] == 200
    found = content(answer)
    assert (found["user_id"], found["status"], found["revision"]) == ("bo", "active", 1)
    assert {each["category"]: each["because"] for each in found["categories"]}["like"] == "profile"
    (waiting,) = found["waiting"]
    assert (waiting["schedule"], waiting["events"]) == ("daily", 1)
    assert called(stage) == ["dynamodb.GetItem", *["dynamodb.Query"] * 4]


def test_emails_cost_three_calls(stage: Cloud) -> None:
    answer = get(stage, "/v1/subscriber/emails", user_id="ann")
    (email,) = content(answer)["emails"]
    assert (email["email"], email["status"], email["events"]) == ("ann-daily-1", "sent", 1)
    assert set(email["outcomes"]) == {"delivered"}
    assert called(stage) == ["dynamodb.GetItem", "dynamodb.Query", "dynamodb.BatchGetItem"]


def test_receipt_of_an_emailed_event_costs_three_calls(stage: Cloud) -> None:
    answer = get(stage, "/v1/event", user_id="ann", id=event(1)["id"])
    found = content(answer)
    assert (found["state"], found["emails"][0]["email"]) == ("emailed", "ann-daily-1")
    just_claimed = ["dynamodb.GetItem"]  # the event is read again, because it may have moved
    reads = ["dynamodb.GetItem", "dynamodb.Query", *just_claimed, "dynamodb.BatchGetItem"]
    assert called(stage) == reads


def test_activity_and_entity_cost_one_call_each(stage: Cloud) -> None:
    answer = get(stage, "/v1/activity", entity_type="post", entity_id="p1", id="a1")
    assert content(answer)["stored"] is False
    assert called(stage) == ["dynamodb.GetItem"]
    answer = get(stage, "/v1/entity", type="post", id="p1")
    assert content(answer)["followers"] == 0
    assert called(stage) == ["dynamodb.Query"]


def test_link_opens_the_preference_page(stage: Cloud) -> None:
    stage.meter.clear()
    link = request("POST", "/v1/subscriber/link", user_id="ann")
    url = str(content(stage.invoke("api", link))["url"])
    assert called(stage)[0] == "dynamodb.GetItem"
    assert set(called(stage)) <= {"dynamodb.GetItem", "secretsmanager.GetSecretValue"}
    path = url.removeprefix("https://example.com")
    page = stage.invoke("preferences", http("GET", path))
    assert page["statusCode"] == 200
    form = "frequency.like=never&act=save"
    submitted = http("POST", path, form, "application/x-www-form-urlencoded")
    assert stage.invoke("preferences", submitted)["statusCode"] == 200
    leave = http("POST", path.replace("/preferences/", "/unsubscribe/"))
    assert stage.invoke("preferences", leave)["statusCode"] == 404


def test_choice_is_published_and_in_force(stage: Cloud) -> None:
    stage.meter.clear()
    body = {"chosen_at": ago(), "frequencies": {event(2)["category"]: "never"}}
    answer = stage.invoke(
        "api_writes", request("PATCH", "/v1/subscriber/choices", body, user_id="bo")
    )
    assert answer["statusCode"] == 200, answer["body"]
    assert content(answer)["waiting"] == []
    (entry,) = [each for name, each in stage.meter.requests if name == "events.PutEvents"]
    assert entry["Entries"][0]["DetailType"] == "preferences.chosen"
    assert json.loads(entry["Entries"][0]["Detail"])["user_id"] == "bo"
    assert stage.work_off_bus() == 1


def give_back(stage: Cloud, user_id: str = "ann") -> dict[str, Any]:
    body = {"email": f"{user_id}@example.com", "consented_at": datetime.now(UTC).isoformat()}
    return stage.invoke(
        "api_writes", request("POST", "/v1/subscriber/return", body, user_id=user_id)
    )


def test_consent_lifts_an_unsubscription(
    stage: Cloud, logs: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    leave(stage, "ann")
    assert content(get(stage, "/v1/subscriber", user_id="ann"))["status"] == "unsubscribed"
    answer = give_back(stage)
    assert content(answer) == {"user_id": "ann", "outcome": "returned"}
    found = content(get(stage, "/v1/subscriber", user_id="ann"))
    assert (found["status"], found["next_digest"] is None) == ("active", False)
    assert stage.rows("suppressions") == []
    assert content(give_back(stage))["outcome"] == "unchanged"
    lines = [json.loads(each) for each in logs.getvalue().splitlines() if "consent stated" in each]
    assert [(each["user_id"], each["outcome"]) for each in lines] == [
        ("ann", "returned"),
        ("ann", "unchanged"),
    ]
    assert "@" not in logs.getvalue()
    written = capsys.readouterr().out
    assert written.count('"consents":[1.0]') == 2
    assert written.count('"consent_returned":[1.0]') == 1
    assert written.count('"consent_unchanged":[1.0]') == 1


def test_consent_after_a_complaint_is_refused(stage: Cloud) -> None:
    stage.work("feedback", complaint())
    answer = give_back(stage)
    assert (answer["statusCode"], content(answer)["reason"]) == (409, "complained")


def test_key_of_suppressions_is_read_with_the_first_consent(stage: Cloud) -> None:
    """A stage that accepts no consents does not permit it."""
    body = {"chosen_at": ago(), "frequencies": {"mention": "never"}}
    stage.invoke("api_writes", request("PATCH", "/v1/subscriber/choices", body, user_id="bo"))
    assert "secretsmanager.GetSecretValue" not in called(stage)
    give_back(stage)
    give_back(stage)
    assert called(stage).count("secretsmanager.GetSecretValue") == 1


def exported(stage: Cloud, user_id: str) -> list[dict[str, Any]]:
    """Return the rows of all pages of an export."""
    rows, cursor = list[dict[str, Any]](), ""
    while cursor is not None:
        page = content(get(stage, "/v1/subscriber/export", user_id=user_id, cursor=cursor))
        rows += page["rows"]
        cursor = page["next"]
    return rows


def test_export_has_the_rows_of_each_table(stage: Cloud) -> None:
    stage.say("follow.created", follow("ann"))
    stage.work("feedback", complaint())
    rows = exported(stage, "ann")
    tables = {"subscribers", "suppressions", "schedules", "follows", "events", "runs", "engagement"}
    assert {each["table"] for each in rows} == tables
    assert "bo@example.com" not in json.dumps(rows)
    stage.say("subscriber.deleted", {"user_id": "ann", "deleted_at": ago()})
    assert exported(stage, "ann") == exported(stage, "nobody") == []


def test_pages_of_an_export_cost_their_queries(stage: Cloud) -> None:
    get(stage, "/v1/subscriber/export", user_id="bo")  # reads the key
    answer = get(stage, "/v1/subscriber/export", user_id="bo")
    assert called(stage) == ["dynamodb.GetItem"] * 3
    counts = []
    while cursor := content(answer)["next"]:
        answer = get(stage, "/v1/subscriber/export", user_id="bo", cursor=cursor)
        counts.append(len(called(stage)))
    assert counts == [2, 2, 2, 2], "the profile, and one Query each"


def test_caller_is_logged_without_the_query(stage: Cloud, logs: io.StringIO) -> None:
    get(stage, "/v1/subscriber", user_id="ann")
    (line,) = [json.loads(each) for each in logs.getvalue().splitlines() if CALLER in each]
    assert (line["caller"], line["route"], line["status"]) == (CALLER, "GET /v1/subscriber", 200)
    assert "ann" not in str({**line, "caller": ""})


def test_unreadable_row_is_answered_and_logged(stage: Cloud, logs: io.StringIO) -> None:
    boto3.client("dynamodb").update_item(
        TableName="subscribers",
        Key={"user_id": {"S": "ann"}},
        UpdateExpression="SET choices = :broken",
        ExpressionAttributeValues={":broken": {"S": "{"}},
    )
    answer = get(stage, "/v1/subscriber", user_id="ann")
    assert answer["statusCode"] == 500
    assert "request failed" in logs.getvalue()


def test_unreadable_run_does_not_hide_the_other_emails(stage: Cloud) -> None:
    boto3.client("dynamodb").put_item(
        TableName="runs",
        Item={
            "user_id": {"S": "ann"},
            "run": {"S": run_sort_key(RunKey("ann", "weekly", 1))},
            "status": {"S": "sent"},
        },
    )
    answer = get(stage, "/v1/subscriber/emails", user_id="ann", limit=1)
    assert content(answer)["emails"] == []
    answer = get(
        stage, "/v1/subscriber/emails", user_id="ann", limit=1, cursor=content(answer)["next"]
    )
    assert [each["email"] for each in content(answer)["emails"]] == ["ann-daily-1"]


def test_no_read_writes(stage: Cloud) -> None:
    before = {table: stage.rows(table) for table in ("subscribers", "schedules", "events", "runs")}
    for path, query in (
        ("/v1/subscriber", {"user_id": "ann"}),
        ("/v1/subscriber/emails", {"user_id": "ann"}),
        ("/v1/event", {"user_id": "bo", "id": event(2)["id"]}),
        ("/v1/subscriber/export", {"user_id": "ann"}),
    ):
        assert get(stage, path, **query)["statusCode"] == 200
    assert {action for _, action in stage.meter.actions["api"] if action} <= READ
    assert {table: stage.rows(table) for table in before} == before
