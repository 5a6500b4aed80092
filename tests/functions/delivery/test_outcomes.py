"""Resend, feedback and the sweep on moto: how a run ends that generate did not end."""

import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError, ReadTimeoutError
from gazette.adapters.aws.queues import decode_run_key
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.control.evidence import DynamoEvidenceLog
from gazette.adapters.dynamodb.runs import PARTITIONS, DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.run import Reason, Run, Status, name_of
from gazette.domain.model import DAILY, RunKey
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.subscribers.subscriber import Subscriber, SubscriberStatus
from gazette.steps.sweep import audit

from tests.builders import a_window
from tests.functions.conftest import Cloud, fan_out
from tests.functions.costs_page import PAGE
from tests.functions.messages import ago, delivery_event, event, http, profile, records
from tests.meter import calls

URLENCODED = "application/x-www-form-urlencoded"

KEY = RunKey("ann", DAILY, 1)
RUNS = timedelta(days=180)

pytestmark = pytest.mark.usefixtures("later")


def stored() -> Run:
    run = DynamoRuns("runs", retention=RUNS).get(KEY)
    assert run
    return run


def become(**changes: Any) -> Run:
    """Let time pass, or a worker die: the run as it would be found."""
    return DynamoRuns("runs", retention=RUNS).swap(stored(), replace(stored(), **changes))


def be_carried() -> None:
    """The policy decides that the next run carries the events."""
    become(
        status=Status.UNKNOWN,
        reason=Reason.CARRIED,
        attempt=1,
        uncertain=frozenset({1}),
        window=a_window(until=now()),
        deadline=now(),
        newest=(name_of("e1"),),
    )


def outlast_the_grace() -> None:
    """No delivery event came in time."""
    long_ago = now() - timedelta(hours=1)
    become(deadline=long_ago, check_at=long_ago)


def wait(cloud: Cloud) -> None:
    """An event waits for Ann's digest."""
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))


@pytest.fixture
def message(cloud: Cloud) -> str:
    """A digest with one event is due: its message on the generate queue."""
    cloud.begin(wait)
    (body,) = fan_out(cloud)
    return body


@pytest.fixture
def ses_says(
    monkeypatch: pytest.MonkeyPatch, message: str
) -> Iterator[Callable[[Exception], None]]:
    """Set the outcome of the next SendEmail, which does not count as sent."""
    script: list[Exception] = []
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def answered(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation == "SendEmail" and script:
            raise script.pop(0)
        return real(client, operation, request)

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", answered)
        yield script.append


def throttled() -> Exception:
    return ClientError(
        {
            "Error": {"Code": "TooManyRequestsException", "Message": "Slow down."},
            "ResponseMetadata": {"HTTPStatusCode": 429},  # type: ignore[typeddict-item]
        },
        "SendEmail",
    )


def test_temporarily_refused_run_moves_to_the_resend_queue_and_is_hidden(
    cloud: Cloud, message: str, ses_says: Callable[[Exception], None], logs: io.StringIO
) -> None:
    ses_says(throttled())
    cloud.work("generate", message)
    (queued,) = cloud.queued("resend")
    assert queued["MessageBody"] == message
    assert 60 <= queued["DelaySeconds"] <= 73
    sqs = boto3.client("sqs")
    url = cloud.queues["resend"]
    sqs.send_message(QueueUrl=url, MessageBody=message)
    (received,) = sqs.receive_message(QueueUrl=url)["Messages"]
    given = records(message, queue="resend")
    given["Records"][0]["receiptHandle"] = received["ReceiptHandle"]
    assert cloud.invoke("resend", given) == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    assert "returned to queue" in logs.getvalue()
    (hidden,) = [
        request for name, request in cloud.meter.requests if name == "sqs.ChangeMessageVisibility"
    ]
    assert 50 <= hidden["VisibilityTimeout"] <= 73
    asked = {name for name, _ in cloud.meter.requests}
    assert "sqs.ChangeMessageVisibilityBatch" not in asked  # it would take that back
    become(retry_at=None)
    assert cloud.invoke("resend", given) == {"batchItemFailures": []}
    assert stored().status is Status.SENT
    assert len(cloud.sent()) == 1


def test_failed_run_becomes_a_dead_letter_once(
    cloud: Cloud, message: str, ses_says: Callable[[Exception], None]
) -> None:
    ses_says(throttled())
    become(status=Status.RETRYING, refusals=5, attempt=5)
    cloud.work("resend", message)
    assert stored().reason is Reason.ATTEMPTS_EXHAUSTED
    (dead,) = cloud.take("failed")
    cloud.work("resend", dead["Body"])
    assert not cloud.take("failed")


def test_temporarily_refused_immediate_email_is_sent_by_resend(
    cloud: Cloud, message: str, ses_says: Callable[[Exception], None]
) -> None:
    cloud.say("subscriber.changed", profile("bo", frequencies={"comment": "immediate"}))
    cloud.meter.clear()
    cloud.say("event.created", event(1, user_id="bo"))
    (at_once,) = [entry["MessageBody"] for entry in cloud.queued("immediate")]
    ses_says(throttled())
    cloud.work("generate", at_once)
    assert [entry["MessageBody"] for entry in cloud.queued("resend")] == [at_once]
    runs = DynamoRuns("runs", retention=RUNS)
    run = runs.chain(decode_run_key(at_once))[0]
    runs.swap(run, replace(run, retry_at=None))
    cloud.work("resend", at_once)
    (email,) = cloud.sent()
    assert email["FromEmailAddress"] == "Gazette now <now@example.com>"


def test_delivery_event_settles_an_unknown_outcome(
    cloud: Cloud, message: str, ses_says: Callable[[Exception], None], logs: io.StringIO
) -> None:
    ses_says(ReadTimeoutError(endpoint_url="sesv2"))
    cloud.work("generate", message)
    assert stored().status is Status.UNKNOWN
    cloud.work("feedback", delivery_event(), delivery_event("Sent"), delivery_event())
    run = stored()
    assert (run.status, run.reason, run.message_id) == (
        Status.SENT,
        Reason.EVIDENCE,
        "0100-m1",
    )
    assert '"type":"delivered"' in logs.getvalue()


def test_delivery_events_without_a_run_are_discarded(cloud: Cloud) -> None:
    about_the_account = json.loads(delivery_event())
    about_the_account["detail-type"] = "Sending Status Disabled"
    cloud.work(
        "feedback",
        delivery_event(run="canary"),
        delivery_event(run="gone-daily-7"),
        json.dumps(about_the_account),
    )
    assert DynamoEvidenceLog("control").latest()


def test_only_the_invalid_delivery_event_is_returned(cloud: Cloud) -> None:
    answer = cloud.invoke(
        "feedback", records(delivery_event(run="canary"), "{", delivery_event(run="canary"))
    )
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}]}


def test_sweep_queues_every_partition(cloud: Cloud) -> None:
    assert cloud.invoke("sweep", {"time": now().isoformat()}) == {"late_shards": 0}
    partitions = {json.loads(entry["MessageBody"])["partition"] for entry in cloud.queued("sweep")}
    assert partitions == set(range(16))


def test_sweep_queues_a_late_shard_again(cloud: Cloud) -> None:
    batches = DynamoBatches("control", retention=RUNS, clock=now)
    batches.save_checkpoint(0, slot_of(now()) - 5 * SLOT)
    assert cloud.invoke("sweep", {"time": now().isoformat()}) == {"late_shards": 1}
    assert [json.loads(entry["MessageBody"])["shard"] for entry in cloud.queued("shard")] == [0]


def swept(cloud: Cloud) -> None:
    for partition in range(16):
        cloud.work("sweep", json.dumps({"partition": partition}))


def test_run_without_a_message_is_queued_again_and_sent(cloud: Cloud, message: str) -> None:
    become(check_at=now())
    cloud.meter.clear()
    swept(cloud)
    (again,) = cloud.queued("generate")
    assert again["MessageBody"] == message
    swept(cloud)
    assert len(cloud.queued("generate")) == 1
    cloud.work("generate", message)
    assert stored().status is Status.SENT


def test_immediate_run_without_a_message_is_queued_again_on_its_queue(
    cloud: Cloud,
) -> None:
    cloud.say("subscriber.changed", profile("bo", frequencies={"comment": "immediate"}))
    cloud.say("event.created", event(1, user_id="bo"))
    (lost,) = [entry["MessageBody"] for entry in cloud.queued("immediate")]
    runs = DynamoRuns("runs", retention=RUNS)
    run = runs.chain(decode_run_key(lost))[0]
    runs.swap(run, replace(run, check_at=now()))
    cloud.meter.clear()
    swept(cloud)
    assert [entry["MessageBody"] for entry in cloud.queued("immediate")] == [lost]
    assert not cloud.queued("generate")


def test_unknown_outcome_is_resent_after_delivery_events_are_confirmed(
    cloud: Cloud, message: str, ses_says: Callable[[Exception], None]
) -> None:
    ses_says(ReadTimeoutError(endpoint_url="sesv2"))
    cloud.work("generate", message)
    outlast_the_grace()
    cloud.meter.clear()
    swept(cloud)
    assert stored().reason is Reason.UNCERTAIN
    (canary,) = cloud.sent()
    assert canary["Destination"] == {"ToAddresses": ["success@simulator.amazonses.com"]}
    cloud.work("feedback", delivery_event(run="canary"))
    swept(cloud)
    assert stored().reason is Reason.POLICY_RESEND
    (queued,) = cloud.queued("resend")
    cloud.work("resend", queued["MessageBody"])
    assert (stored().status, stored().attempt) == (Status.SENT, 2)


@pytest.mark.parametrize("queue", ["feedback_dead", "feedback_undelivered", "feedback"])
def test_run_is_not_resent_while_delivery_events_are_queued(
    cloud: Cloud, message: str, ses_says: Callable[[Exception], None], queue: str
) -> None:
    """On the feedback queue they do no harm as long as CloudWatch says that they are young."""
    ses_says(ReadTimeoutError(endpoint_url="sesv2"))
    cloud.work("generate", message)
    outlast_the_grace()
    cloud.work("feedback", delivery_event(run="canary"))
    boto3.client("sqs").send_message(QueueUrl=cloud.queues[queue], MessageBody=delivery_event())
    swept(cloud)
    assert stored().reason is Reason.UNCERTAIN


@pytest.mark.parametrize(
    ("policy", "reason"), [("carry_over", "carried"), ("assume_sent", "assumed")]
)
def test_unknown_outcome_policy_of_the_stage_applies(
    cloud: Cloud,
    message: str,
    ses_says: Callable[[Exception], None],
    monkeypatch: pytest.MonkeyPatch,
    policy: str,
    reason: str,
) -> None:
    monkeypatch.setenv("GAZETTE_UNKNOWN_POLICY", policy)
    ses_says(ReadTimeoutError(endpoint_url="sesv2"))
    cloud.work("generate", message)
    outlast_the_grace()
    swept(cloud)
    assert stored().reason.value == reason
    assert not any(row.get("open") for row in cloud.rows("runs"))


def test_carried_run_is_closed_by_the_next_claim(cloud: Cloud, message: str) -> None:
    be_carried()
    cloud.say("event.created", event(2))
    (body,) = fan_out(cloud)
    cloud.work("generate", body)
    assert stored().reason is Reason.CARRIED_INTO
    (mail,) = cloud.sent()
    assert "2 new comments" in mail["Content"]["Simple"]["Subject"]["Data"]


# What it costs; docs/tables.md repeats the sums.


def test_refusal_costs_three_write_units_more_than_an_attempt(
    cloud: Cloud, message: str, ses_says: Callable[[Exception], None]
) -> None:
    """The run is looked at by the sweep at another time, and its batch counts it as retrying."""
    ses_says(throttled())
    cloud.warm_up("generate")
    cloud.work("generate", message)
    assert cloud.meter.write_units == Counter(pace=1, runs=1 + 1 + 2 + 1)
    assert cloud.meter.calls["sqs.SendMessageBatch"] == 1


def test_unknown_outcome_costs_four_write_units_and_its_delivery_event_five(
    cloud: Cloud, message: str, ses_says: Callable[[Exception], None]
) -> None:
    ses_says(ReadTimeoutError(endpoint_url="sesv2"))
    cloud.warm_up("generate", "feedback")
    cloud.work("generate", message)
    assert cloud.meter.write_units == Counter(pace=1, runs=1 + 1 + 2 + 1)
    cloud.meter.clear()
    cloud.work("feedback", delivery_event())
    assert cloud.meter.calls == calls(BatchGetItem=1, PutItem=1, UpdateItem=2)
    assert cloud.meter.write_units == Counter(runs=1 + 1 + 1, control=1, engagement=1)


@pytest.mark.parametrize(
    ("kind", "units"),
    [
        *[(kind, {"engagement": 1}) for kind in ("Delivered", "Rejected", "Opened")],
        ("Clicked", {}),
    ],
)
def test_delivery_event_of_a_sent_run_has_the_documented_cost(
    cloud: Cloud, message: str, kind: str, units: dict[str, int]
) -> None:
    """And one twice a minute, that delivery events come in. The click is that of a scanner.

    What a bounce or a complaint costs is counted in test_suppressing.
    """
    cloud.work("generate", message)
    cloud.work("feedback", delivery_event())
    for _ in range(2):
        cloud.meter.clear()
        cloud.work("feedback", delivery_event(kind, record=kind.lower()))
        assert cloud.meter.calls == calls(BatchGetItem=1, **({"UpdateItem": 1} if units else {}))
        assert cloud.meter.read_units == Counter(runs=1)
        assert cloud.meter.write_units == Counter(units)


def test_click_reactivates_a_dormant_reader(cloud: Cloud, message: str) -> None:
    cloud.work("generate", message)
    subscribers = DynamoSubscribers("subscribers")
    reader = subscribers.get("ann")
    assert isinstance(reader, Subscriber)
    assert subscribers.set_dormant(reader)
    cloud.meter.clear()
    cloud.work("feedback", delivery_event("Clicked", record="click", minutes=5))
    assert cloud.meter.calls["events.PutEvents"] == 1
    assert cloud.meter.write_units == Counter(engagement=1, control=1)
    assert cloud.work_off_bus() == 1
    resumed = subscribers.get("ann")
    assert isinstance(resumed, Subscriber)
    assert resumed.status is SubscriberStatus.ACTIVE


def test_clicks_are_not_published_if_tracking_is_disabled(
    cloud: Cloud, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SES reports clicks for sixty days, so also after tracking was switched off."""
    monkeypatch.setenv("GAZETTE_TRACK_CLICKS", "0")
    cloud.work("generate", message)
    cloud.meter.clear()
    cloud.work("feedback", delivery_event("Clicked", record="click", minutes=5))
    assert cloud.meter.calls["events.PutEvents"] == 0


def test_sent_data_is_stored_with_the_outcome(cloud: Cloud, message: str) -> None:
    cloud.say("subscriber.changed", profile(locale="de-AT", changed_at=ago(days=1)))
    cloud.work("generate", message)
    cloud.work("feedback", delivery_event())
    (row,) = cloud.rows("engagement")
    (run,) = cloud.rows("runs")
    assert (row["run"], row["locale"], run["locale"]) == ("ann-daily-1", "de-AT", "de-AT")
    assert row["categories"] == run["categories"] == "comment"
    assert row["slot"] == run["batch"]


@pytest.mark.parametrize("way", ["one click", "page"])
def test_unsubscribe_is_recorded_for_its_email(cloud: Cloud, message: str, way: str) -> None:
    cloud.work("generate", message)
    if way == "page":
        form = http("POST", cloud.preferences_path(), "act=unsubscribe", URLENCODED)
    else:
        form = http("POST", cloud.unsubscribe_path(), "List-Unsubscribe=One-Click", URLENCODED)
    for _ in range(2):
        assert cloud.invoke("preferences", form)["statusCode"] == 200
    (row,) = cloud.rows("engagement")
    assert (row["run"], row["categories"]) == ("ann-daily-1", "comment")
    assert row["unsubscribed_at"]


def test_idle_sweep_costs_two_queries_and_a_scan_per_partition(cloud: Cloud) -> None:
    cloud.warm_up("sweep")
    cloud.invoke("sweep", {"time": now().isoformat()})
    assert cloud.meter.calls == calls(SendMessageBatch=2, Query=1)
    cloud.meter.clear()
    swept(cloud)
    assert cloud.meter.calls == calls(Query=2 * 16, Scan=16)
    assert cloud.meter.write_units == Counter()
    assert cloud.meter.read_units == Counter(runs=16, schedules=8)


@pytest.fixture
def audited(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """Ann's schedule is idle, and every sweep audits all schedules."""
    cloud.begin(wait)
    schedules = DynamoSchedules("schedules", shards=1)
    daily = schedules.get("ann", DAILY)
    assert daily
    assert schedules.put(daily.idle(), replacing=daily)
    monkeypatch.setattr(audit, "_ALL", audit._EVERY)
    cloud.warm_up("sweep")
    return cloud


def test_audit_of_an_idle_schedule_costs_two_reads(audited: Cloud) -> None:
    """Its runs, and the first event behind them; once in thirty days."""
    audited.say("event.retracted", {"id": "e1", "user_id": "ann"})
    audited.meter.clear()
    swept(audited)
    assert audited.meter.calls == calls(Query=2 * 16 + 2, Scan=16)
    assert audited.meter.read_units == Counter(runs=16 + 1, events=1, schedules=8)
    assert audited.meter.write_units == Counter()


def test_documented_audit_cost_of_a_million_idle_schedules_is_correct() -> None:
    """A scan reads half a unit, as above: up to 17 rows of 231 bytes, and here there are seven."""
    scans = PARTITIONS * (audit._ALL // audit._EVERY)
    units = scans / 2 + 2 * 1_000_000
    assert (f"{scans:,}", f"{units / 1e6:.1f}") == ("138,240", "2.1")
    page, readme = PAGE.read_text(), (PAGE.parents[1] / "README.md").read_text()
    assert "138,240 in thirty days" in page
    assert "2.1 million read units a month" in page
    cost = f"${units / 1e6 * 0.125:.2f}"
    assert cost in page
    assert f"{cost} a month for an audit" in readme


def test_audit_of_a_forgotten_event_costs_two_additional_write_units(
    audited: Cloud,
) -> None:
    swept(audited)
    assert audited.meter.calls == calls(Query=2 * 16 + 2, Scan=16, PutItem=1)
    assert audited.meter.write_units == Counter(schedules=2)
    (row,) = audited.rows("schedules")
    assert row["state"] == "armed"
    assert row["due"]


def test_requeued_run_costs_three_write_units(cloud: Cloud, message: str) -> None:
    become(check_at=now())
    cloud.warm_up("sweep")
    swept(cloud)
    assert cloud.meter.calls == calls(
        Query=2 * 16, Scan=16, BatchGetItem=1, SendMessageBatch=1, PutItem=1
    )
    assert cloud.meter.write_units == Counter(runs=1 + 2)


def test_claim_of_a_carrying_run_costs_four_additional_write_units(
    cloud: Cloud, message: str
) -> None:
    """A transaction of two: each row twice, and the batch counts the older one as failed."""
    be_carried()
    cloud.say("event.created", event(2))
    (body,) = fan_out(cloud)
    cloud.warm_up("generate")
    cloud.work("generate", body)
    assert cloud.meter.calls["dynamodb.TransactWriteItems"] == 1
    assert cloud.meter.write_units == Counter(pace=1, runs=(2 + 2 + 1) + 3)


def test_trace_t_delivery_event_of_an_unknown_attempt_is_quarantined(
    cloud: Cloud, message: str
) -> None:
    body = delivery_event("Clicked", record="click")
    assert cloud.invoke("feedback", records(body)) == {"batchItemFailures": []}
    assert stored().status is Status.PENDING
    (kept,) = cloud.take("quarantine")
    assert kept["Body"] == body


def test_delivery_event_of_another_installation_is_ignored(cloud: Cloud, message: str) -> None:
    cloud.work("generate", message)
    sent = stored()
    cloud.work("feedback", delivery_event("Clicked", record="click", installation="before"))
    assert stored() == sent
    assert not cloud.rows("engagement")
    assert not cloud.take("quarantine")
