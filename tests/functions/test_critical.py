"""A critical event through the real handlers: who left gets it, once, and nothing else."""

import html
import re
from typing import Any

import pytest
from gazette.domain.delivery.run import Reason, Status
from gazette.domain.scheduling.kinds import is_critical
from gazette.domain.subscribers.subscriber import SubscriberStatus

from tests.functions.conftest import Cloud
from tests.functions.messages import event, http, profile
from tests.functions.test_handlers import send_one_digest

STILL = "Only these still come, because they're about your account: Security."


@pytest.fixture
def stage(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, later: None) -> Cloud:
    """The stage lists `security`, and Ann has been sent one digest."""
    monkeypatch.setenv("GAZETTE_CRITICAL_CATEGORIES", '["security"]')
    cloud.begin(send_one_digest)
    return cloud


def alert(number: int) -> dict[str, Any]:
    return {**event(number), "category": "security"}


def shown(cloud: Cloud, path: str, body: str | None = None) -> str:
    form = "application/x-www-form-urlencoded"
    request = http("GET", path) if body is None else http("POST", path, body, form)
    answer = cloud.invoke("preferences", request)
    assert answer["statusCode"] == 200
    return html.unescape(re.sub(r"[\u2066-\u2069]", "", answer["body"]))


def test_unsubscribed_reader_gets_only_critical_events_and_each_once(stage: Cloud) -> None:
    path = stage.unsubscribe_path()
    assert STILL in shown(stage, path)
    assert STILL in shown(stage, path, "act=leave")
    assert stage.reader().status is SubscriberStatus.UNSUBSCRIBED
    before = len(stage.sent())
    with stage.meter.acting("somebody else"):
        stage.say("event.created", alert(7), event(8))
        stage.say("event.created", alert(7))
    messages = [each["MessageBody"] for each in stage.queued("immediate")]
    stage.work("generate", *messages)
    stage.work("generate", *messages)
    (request,) = stage.sent()[before:]
    content = request["Content"]["Simple"]
    assert request["Destination"] == {"ToAddresses": ["ann@example.com"]}
    assert not {one["Name"] for one in content["Headers"]} & {
        "List-Unsubscribe",
        "List-Unsubscribe-Post",
    }
    assert "whatever your email settings are." in content["Body"]["Text"]["Data"]
    assert "/unsubscribe/" not in content["Body"]["Html"]["Data"]
    (run,) = [row for row in stage.rows("runs") if is_critical(row["run"].partition("#")[0])]
    assert (run["status"], run["reason"]) == (Status.SENT, Reason.ACCEPTED)


def test_settings_page_of_a_stage_lists_critical_categories(stage: Cloud) -> None:
    page = shown(stage, stage.preferences_path())
    assert "These always come right away, because they're about your account: Security." in page
    assert 'name="category-security"' not in page


def test_unsubscribed_reader_gets_no_email_without_critical_categories(
    cloud: Cloud, later: None
) -> None:
    cloud.begin(send_one_digest)
    path = cloud.unsubscribe_path()
    assert "still come" not in shown(cloud, path)
    assert "still come" not in shown(cloud, path, "act=leave")
    with cloud.meter.acting("somebody else"):
        cloud.say("subscriber.changed", profile())
        cloud.say("event.created", alert(7))
    assert not cloud.queued("immediate")
