"""The links of the notice in the last digests of an inactive reader."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.domain.model import DAILY, RunKey
from gazette.domain.subscribers.subscriber import SubscriberStatus

from tests.functions.conftest import Cloud
from tests.functions.messages import http
from tests.functions.test_handlers import send_one_digest

URLENCODED = "application/x-www-form-urlencoded"


@pytest.fixture
def sent(cloud: Cloud) -> Cloud:
    """Ann got a digest, and becomes dormant after the next one."""
    send_one_digest(cloud)
    ann = cloud.reader()
    registered_on = datetime.now(UTC).date() - timedelta(days=44)
    changed = replace(ann, registered_on=registered_on, revision=ann.revision + 1)
    assert DynamoSubscribers("subscribers").put(changed, replacing=ann)
    return cloud


def test_only_the_button_counts_as_activity(
    sent: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    path = sent.link("keep")
    shown = sent.invoke("preferences", http("GET", path))
    assert shown["statusCode"] == 200
    assert "Keep your digest?" in shown["body"]
    assert "visited for a while" in shown["body"]
    assert shown["body"].count("<button") == 1
    assert sent.reader().active_on is None
    pressed = sent.invoke("preferences", http("POST", path, "act=keep", URLENCODED))
    assert pressed["statusCode"] == 200
    assert "You keep your digest" in pressed["body"]
    assert sent.reader().active_on == datetime.now(UTC).date()
    assert '"digest_kept":[1.0]' in capsys.readouterr().out
    again = sent.invoke("preferences", http("GET", path))
    assert "You keep your digest" in again["body"]
    assert "visited for a while" not in again["body"]
    assert "<button" not in again["body"]


def test_weekly_link_offers_the_weekly_digest(sent: Cloud) -> None:
    request = http("GET", sent.link("keep")) | {"rawQueryString": "offer=weekly"}
    shown = sent.invoke("preferences", request)
    assert "Make your digest weekly?" in shown["body"]
    assert shown["body"].count("<button") == 1
    pressed = sent.invoke("preferences", http("POST", sent.link("keep"), "act=weekly", URLENCODED))
    assert "You get email weekly at most" in pressed["body"]


def test_one_click_request_does_not_act_on_the_link(sent: Cloud) -> None:
    body = "List-Unsubscribe=One-Click"
    answer = sent.invoke("preferences", http("POST", sent.link("keep"), body, URLENCODED))
    assert "Keep your digest?" in answer["body"]
    assert sent.reader().active_on is None
    assert sent.reader().status is SubscriberStatus.ACTIVE


def test_link_of_another_address_shows_that_it_is_invalid(sent: Cloud) -> None:
    other = replace(sent.reader(), email="other@example.com")
    path = sent.link("keep", RunKey("ann", DAILY, 1), other)
    for method in ("GET", "POST"):
        answer = sent.invoke("preferences", http(method, path, "act=keep", URLENCODED))
        assert answer["statusCode"] == 410
    assert sent.reader().active_on is None
