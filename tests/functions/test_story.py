"""The story on top of the dashboard, by the real function on moto: its calls and its words."""

import io
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError
from gazette.bootstrap.console import story

from tests.contract.outside.test_stage_metrics import put as put_metric
from tests.functions.cli.test_dead_letters import Sqs
from tests.functions.conftest import Cloud, Context
from tests.functions.failing import denied
from tests.functions.messages import envelope
from tests.functions.supporting import Widget, button, put, stage_queues
from tests.unit.console.pages import ARN

QUEUES = 13
"""The queues that must be empty in a stage without a content source."""

CALLS = {
    "sqs.GetQueueUrl": QUEUES,
    "sqs.GetQueueAttributes": QUEUES,
    "cloudwatch.GetMetricData": 1,
    "dynamodb.GetItem": 2,
}
"""The calls of a story, whatever the size of the stage. No message is received."""


@pytest.fixture
def sqs(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Sqs:
    monkeypatch.setattr(Context, "invoked_function_arn", ARN)
    return stage_queues(cloud)


@pytest.fixture
def widget(cloud: Cloud, sqs: Sqs) -> Widget:
    with cloud.meter.acting("the functions"):
        for minutes in (1, 2, 6, 7):
            at = datetime.now(UTC) - timedelta(minutes=minutes)
            for name, value in (("ticks_done", 1), ("oldest_due_age", 0), ("due", 5)):
                put_metric(name, value, at)
    cloud.meter.clear()
    return Widget(cloud)


def test_calm_stage_is_on_time_with_few_calls(cloud: Cloud, widget: Widget) -> None:
    shown = widget.story()
    assert shown.texts[0] == "Everything is on time."
    assert "20 digests became due" in shown.text
    assert cloud.meter.calls == CALLS


def test_refresh_within_five_minutes_reads_no_metric(
    cloud: Cloud, widget: Widget, monkeypatch: pytest.MonkeyPatch
) -> None:
    for passed, number in ((timedelta(0), 1), (timedelta(minutes=4), 1), (timedelta(minutes=5), 2)):
        at = datetime.now(UTC) + passed
        monkeypatch.setattr(story, "now", lambda at=at: at)
        widget.story()
        assert cloud.meter.calls["cloudwatch.GetMetricData"] == number


def test_dead_letters_are_named_and_nothing_is_received(
    cloud: Cloud, sqs: Sqs, widget: Widget
) -> None:
    put(cloud, sqs, "ingest-dead", "x", "y")
    put(cloud, sqs, "quarantine", envelope("event.created", {}))
    cloud.meter.clear()
    shown = widget.story()
    assert shown.texts[0] == (
        "2 problems: dead letters: 2 in ingest-dead; quarantine: 1 events do not match the "
        "contract."
    )
    assert "gazette dlq show ingest-dead" in shown.text
    assert cloud.meter.calls == CALLS


def test_button_shows_the_support_page(widget: Widget) -> None:
    assert widget.press(button(widget.story())).texts[0] == "All queues are empty"


def test_each_part_that_cannot_be_read_says_so(
    cloud: Cloud, sqs: Sqs, widget: Widget, logs: io.StringIO
) -> None:
    def refused(_: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetMetricData")

    sqs.client.delete_queue(QueueUrl=sqs.urls["failed"])
    put(cloud, sqs, "ingest-dead", "x")
    with denied("GetItem", "pace"):
        shown = widget.story()
    assert shown.texts[0].startswith("1 problem: dead letters: 1 in ingest-dead.")
    assert "it is unknown whether email is stopped" in shown.text
    assert "These queues cannot be read: failed." in shown.text
    assert "20 digests became due" in shown.text
    cloud.answers["GetMetricData"] = refused
    story_of_a_new_process = Widget(cloud)
    shown = story_of_a_new_process.story()
    assert "20 digests became due" in shown.text, "the metrics are kept for five minutes"
    assert "pace not read" in logs.getvalue()


def test_metrics_that_cannot_be_read_do_not_hide_the_queues(
    cloud: Cloud, sqs: Sqs, widget: Widget, logs: io.StringIO
) -> None:
    def refused(_: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetMetricData")

    cloud.answers["GetMetricData"] = refused
    put(cloud, sqs, "ingest-dead", "x")
    shown = widget.story()
    assert shown.texts[0] == (
        "1 problem: dead letters: 1 in ingest-dead. Not everything can be read."
    )
    assert shown.text.count("The metrics cannot be read") == 3
    assert "metrics not read" in logs.getvalue()
