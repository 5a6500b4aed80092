"""The log lines about delivery events, by which people find what became of an email."""

import io
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.domain.delivery.run import Reason, Status

from tests.builders import KEY
from tests.functions.conftest import Cloud, fan_out
from tests.functions.messages import bounce, delivery_event, event, profile, records

pytestmark = pytest.mark.usefixtures("later")


@pytest.fixture
def run(cloud: Cloud) -> dict[str, Any]:
    """The stored run of an email that was sent."""
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    cloud.work("generate", *fan_out(cloud))
    (row,) = cloud.rows("runs")
    return row


def _lines(logs: io.StringIO) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in logs.getvalue().splitlines()]
    return [line for line in lines if line["message"] != "metrics"]


def _process(cloud: Cloud, logs: io.StringIO, *bodies: str) -> list[dict[str, Any]]:
    """The lines of one invocation."""
    logs.truncate(0)
    logs.seek(0)
    assert cloud.invoke("feedback", records(*bodies)) == {"batchItemFailures": []}
    return _lines(logs)


def test_events_that_confirm_an_email_share_one_line(
    cloud: Cloud, logs: io.StringIO, run: dict[str, Any]
) -> None:
    message = run["message_id"]
    (line,) = _process(
        cloud,
        logs,
        delivery_event("Sent", record="send", message_id=message),
        delivery_event(message_id=message),
    )
    assert line["message"] == "emails confirmed"
    assert line["sent"] == line["delivered"] == [message]


def test_event_of_another_message_of_the_run_has_its_own_line(
    cloud: Cloud, logs: io.StringIO, run: dict[str, Any]
) -> None:
    """It may be a second email, so `gazette accept` looks for it by the run."""
    own, shared = _process(
        cloud,
        logs,
        delivery_event("Sent", record="send", message_id=run["message_id"]),
        delivery_event("Sent", record="send", message_id="0100-another"),
    )
    assert shared["sent"] == [run["message_id"]]
    assert own["correlation_id"] == "ann-daily-1"
    assert (own["type"], own["provider_message_id"]) == ("sent", "0100-another")


def test_bounce_has_its_own_line(cloud: Cloud, logs: io.StringIO, run: dict[str, Any]) -> None:
    (line,) = _process(cloud, logs, bounce(message_id=run["message_id"]))
    assert (line["correlation_id"], line["type"]) == ("ann-daily-1", "bounced")
    assert line["suppressed"] == "bounced"


def test_event_that_settles_its_run_has_its_own_line(
    cloud: Cloud, logs: io.StringIO, run: dict[str, Any]
) -> None:
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    stored = runs.get(KEY)
    assert stored
    runs.swap(stored, replace(stored, status=Status.UNKNOWN, reason=Reason.UNCERTAIN))
    (line,) = _process(cloud, logs, delivery_event(message_id=run["message_id"]))
    assert (line["correlation_id"], line["status"]) == ("ann-daily-1", "sent")


def test_lines_do_not_name_their_place_in_the_code(
    cloud: Cloud, logs: io.StringIO, run: dict[str, Any]
) -> None:
    (line,) = _process(cloud, logs, delivery_event(message_id=run["message_id"]))
    assert line.keys() == {
        "level",
        "message",
        "timestamp",
        "service",
        "function_request_id",
        "delivered",
    }
