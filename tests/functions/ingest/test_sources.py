"""A stage that keeps detail types to their sources, on moto: what comes from another waits."""

import json

import pytest
from gazette.domain.subscribers.preference_form import follow_field

from tests.functions.conftest import Cloud, make_cold
from tests.functions.messages import ago, envelope, event, follow, profile
from tests.functions.preferences.test_page import press
from tests.functions.test_metrics import counted, written

SOURCES = {
    "subscriber.changed": ["shop.accounts"],
    "subscriber.deleted": ["shop.accounts"],
    "preferences.chosen": ["shop.accounts"],
    "follow.created": ["shop.accounts"],
    "follow.deleted": ["shop.accounts"],
}
TABLES = ("subscribers", "schedules", "follows", "events", "activities", "suppressions")


@pytest.fixture
def kept(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """An account whose stage has `sources`."""
    monkeypatch.setenv("GAZETTE_SOURCES", json.dumps(SOURCES))
    make_cold()
    return cloud


def test_attack_source_cannot_publish_events_without_permission(
    kept: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    """A service that may put comments takes over a reader's email."""
    body = envelope("subscriber.changed", profile(), source="shop.comments")
    kept.work("ingest", body)
    assert {name: kept.rows(name) for name in TABLES} == {name: [] for name in TABLES}
    (message,) = kept.take("quarantine")
    assert message["Body"] == body
    reason = message["MessageAttributes"]["reason"]["StringValue"]
    assert "subscriber.changed came from the source 'shop.comments'" in reason
    assert "the setting sources" in reason
    assert counted(written(capsys)) == {"ingest_foreign": [1]}


def test_attack_source_cannot_erase_readers_without_permission(kept: Cloud) -> None:
    kept.work("ingest", envelope("subscriber.changed", profile(), source="shop.accounts"))
    erasure = {"user_id": "ann", "deleted_at": ago(seconds=1)}
    kept.work("ingest", envelope("subscriber.deleted", erasure, source="shop.comments"))
    assert kept.reader().email == "ann@example.com"
    assert len(kept.take("quarantine")) == 1


def test_source_may_publish_its_own_and_unrestricted_types(kept: Cloud) -> None:
    kept.work(
        "ingest",
        envelope("subscriber.changed", profile(), source="shop.accounts"),
        envelope("event.created", event(1), source="shop.comments"),
    )
    assert len(kept.rows("events")) == 1
    assert not kept.take("quarantine")


def test_choices_from_the_settings_page_are_accepted_despite_source_lists(kept: Cloud) -> None:
    kept.work(
        "ingest",
        envelope("subscriber.changed", profile(), source="shop.accounts"),
        envelope("follow.created", follow(), source="shop.accounts"),
    )
    assert press(kept, hour="21", **{follow_field("post#p1"): "unfollow"})["statusCode"] == 200
    assert kept.work_off_bus() == 2, "the hour, and the follow"
    assert not kept.take("quarantine")
