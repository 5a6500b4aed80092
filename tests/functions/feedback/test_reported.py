"""Delivery reports of a service on moto: from the message on the queue to the rows."""

import io
import json
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.feedback.reports import Prover
from gazette.domain.identity import address_hash
from gazette.domain.model import RunKey
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.domain.subscribers.suppression import Cause

from tests.builders import SUPPRESSION_KEY, a_claimed_run, a_run
from tests.functions.conftest import Cloud
from tests.functions.in_stages import STAGES
from tests.functions.messages import ago, delivery_report, profile, records
from tests.functions.serving import work_off_feedback
from tests.services import content, request

ANN = address_hash("ann@example.com")
RUNS = timedelta(days=180)


@pytest.fixture
def stage(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """The stage that sends by SMTP, with a reader and a run of unknown outcome."""
    for variable, value in STAGES["smtp"].items():
        monkeypatch.setenv(variable, value)
    cloud.say("subscriber.changed", profile())
    become(status=Status.UNKNOWN, reason=Reason.UNCERTAIN, categories=("comment",))
    cloud.meter.clear()
    return cloud


def become(**given: object) -> None:
    """Store the run of ann with one attempt."""
    runs = DynamoRuns("runs", retention=RUNS)
    runs.swap(runs.create(a_run(7)), a_claimed_run(7, **given))


def run() -> Run:
    found = DynamoRuns("runs", retention=RUNS).get(a_run(7).key)
    assert found
    return found


def reference(attempt: int = 1, *, sent_at: datetime | None = None) -> object:
    """What the email of the run carries."""
    prover = Prover(key=SUPPRESSION_KEY, installation="here")
    at = sent_at or now() - timedelta(hours=2)
    return prover.reference(RunKey("ann", "daily", 7), attempt, at, ANN)


def cause() -> Cause | None:
    found = DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=now).get(ANN)
    return found.cause if found else None


def test_delivered_email_settles_its_run(stage: Cloud, logs: io.StringIO) -> None:
    stage.work("feedback", *[delivery_report("delivered", reference())] * 3)
    assert (run().status, run().reason) == (Status.SENT, Reason.EVIDENCE)
    assert run().message_id == "ann-daily-7.1"
    (engagement,) = stage.rows("engagement")
    assert {"sent_at", "delivered_at"} <= engagement.keys()
    (counts,) = stage.rows("category_stats")
    assert counts["sent"] == 1
    assert not stage.take("quarantine")
    assert "example.com" not in logs.getvalue()


def test_permanent_bounce_suppresses_the_address(stage: Cloud, logs: io.StringIO) -> None:
    stage.work("feedback", *[delivery_report("bounced", reference(), bounce="permanent")] * 2)
    assert (cause(), stage.reader().status) == (Cause.BOUNCED, SubscriberStatus.SUPPRESSED)
    assert run().status is Status.SENT
    assert '"cause":"bounced hard"' in logs.getvalue()
    assert "example.com" not in logs.getvalue()


def test_click_is_activity_although_the_stage_does_not_track(stage: Cloud) -> None:
    stage.work("feedback", delivery_report("clicked", reference()))
    assert stage.meter.calls["events.PutEvents"] == 1
    assert stage.work_off_bus() == 1


def test_forged_report_waits_in_quarantine_without_a_stack_trace(
    stage: Cloud, logs: io.StringIO
) -> None:
    forged = f"{str(reference())[:-32]}{'0' * 32}"
    good = delivery_report("delivered", reference())
    bad = delivery_report("bounced", forged, bounce="permanent")
    answer = stage.invoke("feedback", records(bad, delivery_report("sent", forged), "{}"))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m2"}]}
    assert (run().status, cause()) == (Status.UNKNOWN, None)
    kept = stage.take("quarantine")
    assert json.loads(kept[0]["Body"]) == json.loads(bad)
    for each in kept:
        why = each["MessageAttributes"]["reason"]["StringValue"]
        assert why.startswith("detail.reference: was not made for this recipient by this stage.")
    lines = [json.loads(line) for line in logs.getvalue().splitlines()]
    warned = [line for line in lines if line["message"] == "delivery event quarantined"]
    assert len(warned) == 2
    assert not any("exception" in line for line in warned)
    assert "example.com" not in logs.getvalue()
    stage.work("feedback", good)
    assert run().status is Status.SENT


def test_report_of_an_unknown_attempt_settles_nothing(stage: Cloud) -> None:
    stage.work("feedback", delivery_report("delivered", reference(attempt=2)))
    assert run().status is Status.UNKNOWN
    assert not stage.rows("engagement")
    assert len(stage.take("quarantine")) == 1


def test_stage_without_reporters_accepts_no_report(
    stage: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_SOURCES", "{}")
    stage.work("feedback", delivery_report("delivered", reference()))
    (kept,) = stage.take("quarantine")
    assert "lists no source" in kept["MessageAttributes"]["reason"]["StringValue"]
    assert run().status is Status.UNKNOWN


def by_the_api(stage: Cloud, **event: str) -> dict[str, Any]:
    """Report a delivery event about the run of ann through the API."""
    body = {"reference": str(reference()), "recipient": "ann@example.com", "at": ago(), **event}
    return stage.invoke("api_writes", request("POST", "/v1/delivery-event", body))


def test_delivery_event_of_the_api_costs_one_message_and_settles_the_run(
    stage: Cloud, logs: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a source that may report on the bus, and without a read or write of a table."""
    monkeypatch.setenv("GAZETTE_SOURCES", "{}")
    stage.warm_up("api_writes")
    answer = by_the_api(stage, type="delivered")
    assert (answer["statusCode"], content(answer)["email"]) == (202, "ann-daily-7")
    assert [name for name, _ in stage.meter.requests] == ["sqs.SendMessage"]
    assert run().status is Status.UNKNOWN
    assert work_off_feedback(stage) == 1
    assert (run().status, run().reason) == (Status.SENT, Reason.EVIDENCE)
    assert not stage.take("quarantine")
    assert "example.com" not in logs.getvalue()


def test_bounce_of_the_api_suppresses_the_address(stage: Cloud, logs: io.StringIO) -> None:
    by_the_api(stage, type="bounced", bounce="permanent", status="5.1.1")
    assert work_off_feedback(stage) == 1
    assert (cause(), stage.reader().status) == (Cause.BOUNCED, SubscriberStatus.SUPPRESSED)
    assert "example.com" not in logs.getvalue()


def test_click_of_the_api_is_activity(stage: Cloud) -> None:
    by_the_api(stage, type="clicked")
    work_off_feedback(stage)
    assert stage.work_off_bus() == 1


def test_report_that_sqs_does_not_take_is_not_accepted(stage: Cloud, logs: io.StringIO) -> None:
    boto3.client("sqs").delete_queue(QueueUrl=stage.queues["feedback"])
    answer = by_the_api(stage, type="delivered")
    assert answer["statusCode"] == 503
    assert content(answer)["type"] == "docs/api.md#unavailable"
    assert "example.com" not in logs.getvalue()


def test_report_costs_the_write_units_of_its_rows(stage: Cloud) -> None:
    """One more than an event of SES, for the acceptance that the provider did not report."""
    stage.work("feedback", delivery_report("delayed", reference()))
    stage.meter.clear()
    stage.work("feedback", delivery_report("delivered", reference()))
    assert stage.meter.write_units == Counter(engagement=2, category_stats=1)
