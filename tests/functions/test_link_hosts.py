"""A link to a host that the stage does not allow, through the real handler."""

from typing import Any

import pytest

from tests.functions.conftest import Cloud, fan_out, make_cold
from tests.functions.messages import ago, envelope, event, follow, happening, profile

STAGE = '["example.com", "*.example.com"]'


@pytest.fixture
def named(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """A stage that names its hosts, before a function is built."""
    monkeypatch.setenv("GAZETTE_LINK_HOSTS", STAGE)
    cloud.say("subscriber.changed", profile())
    cloud.say("follow.created", follow())
    return cloud


def elsewhere(
    detail: dict[str, Any], url: str = "https://example.com.evil.test/p"
) -> dict[str, Any]:
    """The detail with a link to another host."""
    return {**detail, "entity": {**detail["entity"], "url": url}}


def reasons(cloud: Cloud) -> dict[str, str]:
    """By body, why a message is in quarantine."""
    return {
        message["Body"]: message["MessageAttributes"]["reason"]["StringValue"]
        for message in cloud.take("quarantine")
    }


@pytest.mark.parametrize(
    ("detail_type", "detail"), [("event.created", event(1)), ("activity.created", happening(1))]
)
def test_attack_published_event_cannot_link_to_a_disallowed_host(
    named: Cloud,
    detail_type: str,
    detail: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    body = envelope(detail_type, elsewhere(detail))
    named.work("ingest", body)
    assert '"ingest_quarantined":[1.0]' in capsys.readouterr().out
    assert named.work_off_followers() == 0
    assert named.rows("events") == []
    assert not any("evil" in str(row) for row in named.rows("activities"))
    assert reasons(named) == {
        body: f"{detail_type} does not match its schema: detail.entity.url: must not point to "
        "example.com.evil.test, which is not in the stage's setting link_hosts."
    }


def test_link_to_an_allowed_host_is_stored(named: Cloud) -> None:
    named.say("event.created", event(1), elsewhere(event(2), "https://A.Example.com:8443/p"))
    assert {row["event_id"] for row in named.rows("events")} == {"e1", "e2"}
    assert reasons(named) == {}


def test_attack_list_event_with_a_disallowed_link_is_rejected_alone(named: Cloud) -> None:
    body = envelope("event.created", {"events": [event(1), elsewhere(event(2)), event(3)]})
    named.work("ingest", body)
    assert {row["event_id"] for row in named.rows("events")} == {"e1", "e3"}
    [reason] = reasons(named).values()
    assert "detail.events.1.entity.url: must not point to example.com.evil.test" in reason


def test_attack_amendment_cannot_change_a_link_to_a_disallowed_host(named: Cloud) -> None:
    named.say("event.created", event(1))
    before = named.rows("events")
    named.say("event.created", {**elsewhere(event(1)), "amended_at": ago(minutes=1)})
    assert named.rows("events") == before
    assert len(reasons(named)) == 1


@pytest.mark.usefixtures("later")
def test_events_stored_before_the_link_hosts_setting_are_kept(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", elsewhere(event(1), "https://elsewhere.example/p"))
    monkeypatch.setenv("GAZETTE_LINK_HOSTS", STAGE)
    make_cold()
    cloud.work("generate", *fan_out(cloud))
    (request,) = cloud.sent()
    assert "https://elsewhere.example/p" in request["Content"]["Simple"]["Body"]["Text"]["Data"]
