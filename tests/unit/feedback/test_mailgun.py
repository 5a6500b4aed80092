"""The program of docs/delivery-events.md, held against the contract."""

import json
import tomllib
from contextlib import AbstractContextManager, nullcontext
from email.message import Message
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request

import pytest
from gazette.adapters.contract.reports import read_report
from gazette.domain.feedback.reports import DeliveryReport
from gazette.domain.model import RunKey

from tests.builders import KEY, NOW
from tests.mailgun import BY_THE_API, PROGRAM, SIGNING_KEY, blocks, failure, webhook
from tests.unit.feedback.test_reports import ANN, reference

MESSAGE_ID = f"{reference()}@shop.example"
"""Mailgun leaves out the angle brackets."""


class Events:
    """A client of EventBridge that keeps the entries, or rejects them."""

    def __init__(self, failed: int = 0) -> None:
        self.entries: list[dict[str, str]] = []
        self.failed = failed

    def put_events(self, Entries: list[dict[str, str]]) -> dict[str, int]:  # noqa: N803
        self.entries += Entries
        return {"FailedEntryCount": self.failed}


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Events:
    made = Events()
    monkeypatch.setenv("MAILGUN_SIGNING_KEY", SIGNING_KEY)
    monkeypatch.setattr(PROGRAM.boto3, "client", lambda _: made)
    return made


def told(request: dict[str, Any]) -> Any:
    return PROGRAM.delivery_event(json.loads(request["body"])["event-data"])


@pytest.mark.parametrize(
    ("event", "more", "expected"),
    [
        ("accepted", {}, {"type": "sent"}),
        ("delivered", {}, {"type": "delivered"}),
        ("opened", {}, {"type": "opened"}),
        ("clicked", {}, {"type": "clicked"}),
        ("complained", {}, {"type": "complained"}),
        ("failed", failure("temporary", "4.2.2"), {"type": "delayed"}),
        (
            "failed",
            failure("permanent", "5.1.1"),
            {"type": "bounced", "bounce": "permanent", "status": "5.1.1"},
        ),
        ("failed", failure("permanent", None), {"type": "bounced", "bounce": "permanent"}),
        ("failed", failure("permanent", ""), {"type": "bounced", "bounce": "permanent"}),
        ("failed", {"severity": "permanent"}, {"type": "bounced", "bounce": "transient"}),
        (
            "failed",
            failure("permanent", "5.1.1") | {"reason": "suppress-bounce"},
            {"type": "bounced", "bounce": "permanent", "status": "5.1.1"},
        ),
        (
            "failed",
            failure("permanent", "4.4.1") | {"reason": "old"},
            {"type": "bounced", "bounce": "transient", "status": "4.4.1"},
        ),
    ],
)
def test_each_webhook_becomes_a_valid_report(
    event: str, more: dict[str, Any], expected: dict[str, str]
) -> None:
    detail = told(webhook(event, MESSAGE_ID, ANN, NOW.timestamp(), **more))
    assert {name: detail[name] for name in detail.keys() & {"type", "bounce", "status"}} == expected
    report = read_report(detail)
    assert isinstance(report, DeliveryReport)
    assert (report.reference.run, report.at) == (KEY, NOW)


@pytest.mark.parametrize(
    ("event", "message_id"),
    [
        ("unsubscribed", MESSAGE_ID),
        ("rejected", MESSAGE_ID),
        ("delivered", "20260203192638.000be97f99f8cea1@sample.mailgun.com"),
        ("delivered", ""),
    ],
)
def test_webhook_that_gazette_cannot_use_is_skipped(event: str, message_id: str) -> None:
    assert told(webhook(event, message_id, ANN, NOW.timestamp())) is None


def test_user_ids_of_any_characters_are_recognised() -> None:
    named = f"{reference(RunKey('a.b/c@d', 'now1', 12))}@shop.example"
    assert told(webhook("delivered", named, ANN, NOW.timestamp()))


def test_handler_publishes_a_signed_webhook(events: Events) -> None:
    request = webhook("delivered", MESSAGE_ID, ANN, NOW.timestamp())
    assert PROGRAM.handler(request, None) == {"statusCode": 200}
    (entry,) = events.entries
    assert (entry["EventBusName"], entry["Source"]) == ("gazette", "shop.mailgun")
    assert entry["DetailType"] == "delivery.reported"
    assert read_report(json.loads(entry["Detail"]))


class Api:
    """The API, which keeps the requests and answers each with a status."""

    def __init__(self, status: int = 202) -> None:
        self.status, self.requests = status, list[Request]()

    def __call__(self, request: Request, *, timeout: float) -> AbstractContextManager["Api"]:
        assert timeout < 30
        self.requests.append(request)
        if self.status != 202:
            raise HTTPError(request.full_url, self.status, "", Message(), None)
        return nullcontext(self)


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Api:
    made = Api()
    for name, value in {
        "MAILGUN_SIGNING_KEY": SIGNING_KEY,
        "GAZETTE_SERVICES_URL": "https://api.example.com",
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(BY_THE_API, "urlopen", made)
    return made


def test_handler_reports_a_signed_webhook_to_the_api(api: Api) -> None:
    request = webhook("delivered", MESSAGE_ID, ANN, NOW.timestamp())
    assert BY_THE_API.handler(request, None) == {"statusCode": 200}
    (sent,) = api.requests
    assert (sent.get_method(), sent.full_url) == (
        "POST",
        "https://api.example.com/v1/delivery-event",
    )
    assert sent.get_header("Content-type") == "application/json"
    assert "/eu-central-1/execute-api/" in str(sent.get_header("Authorization"))
    assert isinstance(sent.data, bytes)
    assert read_report(json.loads(sent.data))


@pytest.mark.parametrize("status", [422, 503, 504])
def test_handler_lets_mailgun_repeat_what_the_api_rejects(api: Api, status: int) -> None:
    api.status = status
    with pytest.raises(HTTPError):
        BY_THE_API.handler(webhook("delivered", MESSAGE_ID, ANN, NOW.timestamp()), None)


def test_handler_rejects_a_forged_webhook(events: Events) -> None:
    request = webhook("delivered", MESSAGE_ID, ANN, NOW.timestamp(), key="guessed")
    assert PROGRAM.handler(request, None) == {"statusCode": 406}
    assert not events.entries


def test_handler_lets_mailgun_repeat_a_rejected_entry(events: Events) -> None:
    events.failed = 1
    request = webhook("delivered", MESSAGE_ID, ANN, NOW.timestamp())
    assert PROGRAM.handler(request, None) == {"statusCode": 503}


def test_handler_answers_for_an_email_of_another_application(events: Events) -> None:
    request = webhook("delivered", "1@other.example", ANN, NOW.timestamp())
    assert PROGRAM.handler(request, None) == {"statusCode": 200}
    assert not events.entries


def test_policy_and_setting_of_the_page_name_the_source_of_the_program() -> None:
    api, setting = map(tomllib.loads, blocks("toml"))
    (policy,) = blocks("json")
    assert api["services_api"]["requests_per_second"] > 0
    assert setting == {"sources": {"delivery.reported": [PROGRAM.SOURCE]}}
    (statement,) = json.loads(policy)["Statement"]
    conditions = statement["Condition"]
    assert conditions["ForAllValues:StringEquals"] == {"events:source": [PROGRAM.SOURCE]}
    assert conditions["StringEquals"] == {"events:detail-type": ["delivery.reported"]}
    assert statement["Resource"].endswith(f":event-bus/{PROGRAM.BUS}")
