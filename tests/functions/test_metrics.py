"""What is counted and measured, exactly as it is written; and never whose it was."""

import io
import json
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from gazette import run_metrics
from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoQuota
from gazette.adapters.dynamodb.runs import PARTITIONS, DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.bootstrap import fanout, sweep
from gazette.bootstrap.parts import sending
from gazette.bootstrap.parts.templates import renderer
from gazette.domain.delivery.pace import Quota
from gazette.domain.model import DAILY, RunKey
from gazette.observability import metrics
from gazette.steps.sweep import audit

from functions.sweep import handler as sweep_handler
from tests.functions.conftest import Cloud, Context, due_shard, fan_out
from tests.functions.messages import (
    bounce,
    complaint,
    delivery_event,
    event,
    follow,
    happening,
    http,
    profile,
    records,
)
from tests.unit.house.test_metrics_page import documented

Written = list[dict[str, Any]]


def written(capsys: pytest.CaptureFixture[str]) -> Written:
    """The records in EMF since this was asked last, without their own time.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
    """
    lines = capsys.readouterr().out.splitlines()
    records = [json.loads(line) for line in lines if '"_aws"' in line]
    for record in records:
        assert isinstance(record["_aws"].pop("Timestamp"), int)
    return records


def due_at(key: RunKey) -> datetime:
    run = DynamoRuns("runs", retention=timedelta(days=180)).get(key)
    assert run
    return run.due_at


@pytest.mark.usefixtures("later")
def test_digest_metrics_are_exact(
    cloud: Cloud, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hour = (datetime.now(UTC) + timedelta(hours=12)).hour  # no digest is due while the test runs
    cloud.say("subscriber.changed", profile(time_zone="UTC", digest={"hour": hour}))
    cloud.say("event.created", event(1), event(2))
    (message,) = fan_out(cloud)
    renderer.cache_clear()  # with the groups that other tests made
    accepted_at = due_at(RunKey("ann", "daily", 1)) + timedelta(minutes=2, milliseconds=500)
    ticks = count(100, 0.0125)
    monkeypatch.setattr(sending, "now", lambda: accepted_at)
    monkeypatch.setattr(run_metrics, "thread_time", lambda: next(ticks))
    written(capsys)
    cloud.work("generate", message)
    assert written(capsys) == [
        {
            "_aws": {
                "CloudWatchMetrics": [
                    {
                        "Namespace": "Gazette",
                        "Dimensions": [["service"]],
                        "Metrics": [
                            {"Name": "render_time", "Unit": "Milliseconds"},
                            {"Name": "run_sent", "Unit": "Count"},
                            {"Name": "slot_to_accepted", "Unit": "Seconds"},
                            {"Name": "fragments_made", "Unit": "Count"},
                        ],
                    }
                ]
            },
            "service": metrics().service,
            "render_time": [12.5],
            "run_sent": [1.0],
            "slot_to_accepted": [120.5],
            "fragments_made": [1.0],
        }
    ]


@pytest.mark.usefixtures("later")
def test_redriven_message_of_a_sent_run_is_not_counted_or_logged_as_sent(
    cloud: Cloud, capsys: pytest.CaptureFixture[str], logs: io.StringIO
) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    (message,) = fan_out(cloud)
    cloud.work("generate", message)
    assert counted(written(capsys))["run_sent"] == [1]
    cloud.work("generate", message)
    cloud.work("resend", message)
    assert written(capsys) == []
    lines = [json.loads(line) for line in logs.getvalue().splitlines()]
    of_run = [each for each in lines if each.get("correlation_id") == "ann-daily-1"]
    assert [(each["message"], each["status"]) for each in of_run] == [
        ("run ended", "sent"),
        *[("run had already ended", "sent")] * 2,
    ]


def counted(records: Written) -> dict[str, list[float]]:
    """The values of each metric, of all records together."""
    found: dict[str, list[float]] = {}
    for record in records:
        for metric in record["_aws"]["CloudWatchMetrics"][0]["Metrics"]:
            found.setdefault(metric["Name"], []).extend(record[metric["Name"]])
    return found


def test_shard_counts_due_digests_with_waiting_events(
    cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.say("subscriber.changed", profile())
    for due in (0, 1):
        shard = due_shard(cloud)
        written(capsys)
        cloud.work("fanout", shard)
        assert counted(written(capsys)) == {**({"due": [due]} if due else {}), "shards_done": [1]}
        cloud.say("event.created", event(1))


def test_shard_counts_outcomes_of_unsent_occurrences(
    cloud: Cloud, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two occurrences have passed: the events of the first go with the second."""
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    (schedule,) = cloud.rows("schedules")
    due = datetime.fromisoformat(schedule["next_due_at"])
    shard = due_shard(cloud)
    monkeypatch.setattr(fanout, "now", lambda: due + timedelta(days=1, hours=1))
    written(capsys)
    cloud.work("fanout", shard)
    assert counted(written(capsys)) == {
        "due": [2],
        "run_skipped": [1],
        "skipped_too_late": [1],
        "shards_done": [1],
    }


def test_only_shards_of_the_current_tick_are_counted(
    cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else a former shard, or a slot that was left behind, would stand for one that is missing."""
    cloud.say("subscriber.changed", profile())
    shard = json.loads(due_shard(cloud))
    former = {**shard, "shard": shard["shard"] + 1}
    left = {**shard, "since": "2026-11-01T00:00:00Z", "until": "2026-11-01T00:00:00Z"}
    for body, done in ((shard, True), (former, False), (left, False)):
        written(capsys)
        cloud.work("fanout", json.dumps(body))
        assert ("shards_done" in counted(written(capsys))) == done, body


def test_tick_is_counted_after_its_shards_are_queued(
    cloud: Cloud, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a tick that fails is not: the alarm on silence hears of it."""
    struck = {"time": "2026-11-23T08:00:00Z"}
    written(capsys)
    cloud.invoke("fanout", struck)
    assert counted(written(capsys))["ticks_done"] == [1]
    monkeypatch.setattr(fanout, "tick", fails)
    fanout.build_tick.cache_clear()
    with pytest.raises(ConnectionError):
        cloud.invoke("fanout", struck)
    fanout.build_tick.cache_clear()
    assert counted(written(capsys)) == {}


def fails(*_: object, **__: object) -> int:
    raise ConnectionError("no answer")


def test_shard_that_runs_out_of_time_is_not_counted_as_done(
    cloud: Cloud, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another message continues with the rest, and counts at its end."""
    cloud.say("subscriber.changed", profile())
    shard = due_shard(cloud)
    monkeypatch.setattr(Context, "get_remaining_time_in_millis", lambda _: 29_000)
    written(capsys)
    cloud.work("fanout", shard)
    assert counted(written(capsys)) == {}


@pytest.mark.usefixtures("later")
def test_digest_skipped_at_its_permit_is_counted_by_reason(
    cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    (message,) = fan_out(cloud)
    cloud.work("feedback", complaint("ann-weekly-9"))
    written(capsys)
    cloud.work("generate", message)
    assert counted(written(capsys)) == {"run_skipped": [1], "skipped_suppressed": [1]}


def test_policy_refusal_is_counted_and_suppresses_no_address(
    cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.say("subscriber.changed", profile())
    recipient = {"emailAddress": "ann@example.com", "status": "5.7.26"}
    about = {"bounceType": "Permanent", "bouncedRecipients": [recipient]}
    written(capsys)
    cloud.work("feedback", delivery_event("Bounced", bounce=about))
    assert counted(written(capsys)) == {"mail_bounced": [1], "mail_refused_by_policy": [1]}
    assert not cloud.rows("suppressions")


@pytest.mark.usefixtures("later")
def test_immediate_email_has_no_delay_from_a_slot(
    cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    cloud.say("subscriber.changed", profile(frequencies={"comment": "immediate"}))
    cloud.say("event.created", event(1))
    (entry,) = cloud.queued("immediate")
    written(capsys)
    cloud.work("generate", entry["MessageBody"])
    found = counted(written(capsys))
    assert found["run_sent"] == [1]
    assert "slot_to_accepted" not in found


@pytest.mark.usefixtures("later")
def test_delay_of_an_immediate_email_counts_from_the_end_of_collecting(
    cloud: Cloud, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.say("subscriber.changed", profile(frequencies={"comment": "immediate"}))
    cloud.say("event.created", event(1))
    (run,) = cloud.rows("runs")
    due_at = datetime.fromisoformat(run["due_at"])
    monkeypatch.setattr(sending, "now", lambda: due_at + timedelta(minutes=10, milliseconds=250))
    (entry,) = cloud.queued("immediate")
    written(capsys)
    cloud.work("generate", entry["MessageBody"])
    assert counted(written(capsys))["collected_to_accepted"] == [600.25]


def test_sweep_reports_the_age_of_the_oldest_due_run(
    cloud: Cloud, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each partition, also where nothing is due."""
    cloud.say("subscriber.changed", profile())
    cloud.say("event.created", event(1))
    monkeypatch.setattr(fanout, "now", lambda: datetime.now(UTC) + timedelta(hours=1))
    fan_out(cloud)
    then = due_at(RunKey("ann", "daily", 1)) + timedelta(minutes=20)
    monkeypatch.setattr(sweep, "now", lambda: then)
    written(capsys)
    for partition in range(PARTITIONS):
        cloud.work("sweep", json.dumps({"partition": partition}))
    found = counted(written(capsys))
    ages = found["oldest_due_age"]
    assert "held_by_day" not in found
    assert found["partitions_swept"] == [1] * PARTITIONS
    assert sorted(ages) == [0] * (PARTITIONS - 1) + [1200]


def test_run_held_until_the_next_day_is_counted_but_not_overdue(
    cloud: Cloud, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.say("subscriber.changed", profile(frequencies={"comment": "immediate"}))
    cloud.say("event.created", event(1))
    later = datetime.now(UTC) + timedelta(minutes=20)
    DynamoQuota("pace", name=ROWS.immediate).set_quota(Quota(rate=14, daily=200, left=0), later)
    monkeypatch.setattr(sweep, "now", lambda: later)
    written(capsys)
    for partition in range(PARTITIONS):
        cloud.work("sweep", json.dumps({"partition": partition}))
    found = counted(written(capsys))
    assert sum(found["held_by_day"]) == 1
    assert found["oldest_due_age"] == [0] * PARTITIONS


def test_sweep_reports_audited_and_armed_schedules(
    cloud: Cloud, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has an event that waits, as if its worker had died before it armed the schedule."""
    for number, reader in enumerate(("ann", "bo")):
        cloud.say("subscriber.changed", profile(reader))
        fan_out(cloud, reader)
        cloud.say("event.created", event(number, user_id=reader))
    schedules = DynamoSchedules("schedules", shards=1)
    armed = schedules.get("bo", DAILY)
    assert armed
    assert schedules.put(armed.idle(), replacing=armed)
    monkeypatch.setattr(sweep, "now", lambda: datetime.now(UTC) + timedelta(hours=2))
    monkeypatch.setattr(audit, "_ALL", timedelta(minutes=5))
    for each in ([1], None):
        written(capsys)
        for partition in range(PARTITIONS):
            cloud.work("sweep", json.dumps({"partition": partition}))
        found = counted(written(capsys))
        assert (found.get("audited"), found.get("audit_armed")) == (each, each)


def test_sweep_with_a_cut_off_audit_is_retried_and_reports_its_work(
    cloud: Cloud, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        sweep_handler, "build_audit", lambda: lambda *_: audit.Audited(idle=3, is_cut_off=True)
    )
    answer = cloud.invoke("sweep", records(json.dumps({"partition": 0})))
    assert len(answer["batchItemFailures"]) == 1
    found = counted(written(capsys))
    assert (found["partitions_swept"], found["audited"]) == ([1], [3])


def test_sweep_messages_contain_the_tick_for_the_audit(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[datetime | None] = []

    def noted(_: int, *, tick: datetime | None, **__: object) -> audit.Audited:
        asked.append(tick)
        return audit.Audited()

    monkeypatch.setattr(sweep, "audit", noted)
    time = "2026-11-26T00:18:00Z"
    cloud.invoke("sweep", {"time": time})
    for message in (*cloud.take("sweep"), {"Body": json.dumps({"partition": 0})}):
        cloud.work("sweep", message["Body"])
    assert asked == [datetime.fromisoformat(time)] * PARTITIONS + [None]


@pytest.mark.usefixtures("later")
def test_metrics_of_every_function_contain_no_reader_data(
    cloud: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither in its name, nor in a dimension, nor in a value; and each is on the page."""
    reader = "zq9reader"
    run = f"{reader}-daily-1"
    cloud.say("subscriber.changed", profile(reader))
    cloud.say("follow.created", follow(reader))
    cloud.say("activity.created", happening(7))
    cloud.say("event.created", event(1, user_id=reader), {"id": "wrong", "user_id": reader})
    cloud.work_off_followers()
    cloud.work("generate", *fan_out(cloud, reader))
    cloud.work("resend", json.dumps({"user_id": reader, "schedule": "daily", "sequence": 1}))
    cloud.work(
        "feedback",
        delivery_event(run=run),
        bounce(run),
        delivery_event("Clicked", run, record="click"),
    )
    cloud.invoke("sweep", {"time": datetime.now(UTC).isoformat()})
    for partition in range(PARTITIONS):
        cloud.work("sweep", json.dumps({"partition": partition}))
    cloud.invoke("preferences", http("POST", cloud.unsubscribe_path()))
    cloud.invoke("preferences", http("POST", cloud.preferences_path(reader)))
    records = written(capsys)
    assert {record["_aws"]["CloudWatchMetrics"][0]["Namespace"] for record in records} == {
        "Gazette"
    }
    assert reader not in json.dumps(records)
    for record in records:
        assert record["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["service"]]
        assert record["service"] == metrics().service
    found = counted(records)
    assert found.keys() <= documented()
    assert found.keys() >= {
        "ingest_stored",
        "ingest_quarantined",
        "due",
        "run_sent",
        "mail_bounced",
        "suppressed_bounced",
        "oldest_due_age",
        "preferences_unchanged",
    }
