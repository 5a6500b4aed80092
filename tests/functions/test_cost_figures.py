"""What `gazette cost` reckons with is what the real handlers read, write, store and log."""

import io
import json
import math
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import boto3
import pytest
from gazette.adapters.aws.queues import encode_run_key
from gazette.domain.model import DAILY, RunKey

from gazette_cli.cost import actions
from gazette_cli.cost.assumptions import (
    AROUND_AN_EVENT,
    AROUND_AN_INVOCATION,
    CALLS,
    LINE,
    ROWS,
    SHARDS,
    SWEEPS,
    TICKS,
)
from gazette_cli.cost.bill import items
from gazette_cli.cost.metrics import METRICS
from gazette_cli.cost.usage import Usage
from tests.functions.conftest import Cloud, fan_out
from tests.functions.costs_page import units_of
from tests.functions.messages import ago, delivery_event, envelope, event, profile
from tests.functions.test_metrics import counted, written
from tests.meter import item_size
from tests.unit.house.test_metrics_page import documented

SES_QUOTA = {"MaxSendRate": 14.0, "Max24HourSend": 50_000.0, "SentLast24Hours": 0.0}
TEN = [event(number, entity=f"post#p{number}") for number in range(10)]


@pytest.fixture
def ann(cloud: Cloud) -> Cloud:
    """Ann is known, something waits in her schedule, and the functions are warm."""
    cloud.say("subscriber.changed", profile())
    cloud.arm("ann")
    cloud.warm_up("ingest", "fanout", "generate", "feedback")
    return cloud


def spent(cloud: Cloud) -> actions.Units:
    """Since the meter was cleared, by whatever table."""
    return actions.Units(cloud.meter.write_units.total(), sum(cloud.meter.read_units.values()))


def row_of(table: str) -> int:
    (row, *_) = boto3.client("dynamodb").scan(TableName=table)["Items"]
    return item_size(row)


def test_event_cost_matches_the_bill(ann: Cloud) -> None:
    ann.say("event.created", TEN[0])
    assert spent(ann) == actions.event(row_of("events"))


def test_large_event_cost_matches_the_bill(ann: Cloud) -> None:
    """Each kilobyte that its row begins is a unit, and one more in the index."""
    large = TEN[0] | {"entity": TEN[0]["entity"] | {"url": "https://example.com/" + "p" * 900}}
    ann.say("event.created", large)
    assert spent(ann) == actions.event(row_of("events"))
    assert row_of("events") > 1024


def test_immediate_event_cost_matches_the_bill(ann: Cloud) -> None:
    ann.say(
        "subscriber.changed", profile(changed_at=ago(days=9), frequencies={"comment": "immediate"})
    )
    ann.say("event.created", TEN[1] | {"entity": TEN[1]["entity"] | {"id": "another"}})
    ann.meter.clear()  # a process reads once a minute which templates are in force
    ann.say("event.created", TEN[0])
    assert spent(ann) == actions.immediate_event(row_of("events"))


def test_cost_of_a_limited_immediate_event_matches_the_bill(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_IMMEDIATE_LIMIT", '{"per_hour": 2, "per_day": 2}')
    cloud.say("subscriber.changed", profile(frequencies={"comment": "immediate"}))
    cloud.say("event.created", TEN[1])
    cloud.meter.clear()
    cloud.say("event.created", TEN[0])
    found, usual = spent(cloud), actions.immediate_event(row_of("events"))
    limited = actions.limited_event()
    assert found == actions.Units(usual.written + limited.written, usual.read + limited.read)


@pytest.mark.usefixtures("later")
def test_cost_of_an_email_that_waits_in_quiet_hours_matches_the_bill(ann: Cloud) -> None:
    local = datetime.now(ZoneInfo("Europe/Berlin")) + timedelta(hours=1)
    hours = f"{local - timedelta(hours=1):%H:%M}-{local + timedelta(hours=1):%H:%M}"
    at_once = profile(
        changed_at=ago(days=9), frequencies={"comment": "immediate"}, quiet_hours=hours
    )
    ann.say("subscriber.changed", at_once)
    ann.say("event.created", TEN[0])
    (entry,) = ann.queued("immediate")
    ann.meter.clear()
    ann.work("generate", entry["MessageBody"])
    assert ann.meter.calls.total() == CALLS["wait for quiet hours"]
    wait = actions.quiet_wait(row_of("events"))
    queued = actions.WRITES["an immediate email that the sweep queues"]
    assert spent(ann) == actions.Units(wait.written - queued, wait.read)


@pytest.mark.usefixtures("later")
def test_digest_cost_from_fan_out_to_reports_matches_the_bill(ann: Cloud) -> None:
    ann.say("event.created", {"events": TEN})
    event_row = row_of("events")
    messages = fan_out(ann)
    ann.meter.clear()
    ann.work("generate", *messages)
    assert spent(ann) == actions.digest(10, event_row)
    ann.work("feedback", delivery_event())
    for kind, of_sending in (("Sent", True), ("Delivered", False)):
        ann.meter.clear()
        ann.work("feedback", delivery_event(kind, record="send", minutes=of_sending))
        assert spent(ann) == actions.report(of_sending=of_sending, categories=1)
    for name in ("runs", "engagement", "subscribers", "schedules"):
        assert row_of(name) == pytest.approx(ROWS[name], rel=0.1), name
    assert row_of("runs") < 1024, "each write of it is one unit"


@pytest.mark.long
@pytest.mark.usefixtures("later")
@pytest.mark.parametrize(("emails_per_second", "share_reads"), [(500, 10), (13, 1)])
def test_cost_of_ten_digests_in_an_invocation_matches_the_bill(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, emails_per_second: int, share_reads: int
) -> None:
    """At a low rate, each digest has slept until its own permit before it reads its batch."""
    monkeypatch.setenv("GAZETTE_EMAILS_PER_SECOND", str(emails_per_second))
    readers = [f"reader{number}" for number in range(10)]
    for reader in readers:
        cloud.say("subscriber.changed", profile(reader, digest={"hour": 8, "minute": 10}))
        cloud.say("event.created", event(1, user_id=reader))
    event_row = row_of("events")
    for reader in readers:
        fan_out(cloud, reader)
    messages = [encode_run_key(RunKey(reader, DAILY, 1)) for reader in readers]
    cloud.warm_up("generate")
    cloud.meter.clear()
    cloud.work("generate", *messages)
    each = actions.digest(1, event_row, together=10, share_reads=share_reads)
    all_ten = spent(cloud)
    assert len(cloud.sent()) == 10
    assert (all_ten.written, all_ten.read) == pytest.approx((10 * each.written, 10 * each.read))


def test_stored_event_overhead_in_bytes_matches_the_bill(ann: Cloud) -> None:
    ann.say("event.created", TEN[0])
    put = len(json.dumps(TEN[0], separators=(",", ":")))
    assert row_of("events") - put == pytest.approx(AROUND_AN_EVENT, abs=10)


def test_activity_signal_cost_matches_the_bill(ann: Cloud) -> None:
    ann.say("subscriber.active", {"user_id": "ann", "active_at": ago()})
    assert spent(ann) == actions.sign_of_life()


def visit(entity: str, **when: float) -> dict[str, object]:
    return {"user_id": "ann", "entity": {"type": "post", "id": entity}, "seen_at": ago(**when)}


def test_cost_of_visits_matches_the_bill(ann: Cloud, capsys: pytest.CaptureFixture[str]) -> None:
    ann.say("entity.seen", visit("other", days=1))
    first, further = spent(ann), actions.visit()
    activity = actions.sign_of_life().written
    assert first.written == further.written + actions.first_visit().written + activity
    written(capsys)
    ann.meter.clear()
    ann.say("entity.seen", visit("p1", days=1))
    assert spent(ann) == further
    assert ann.meter.calls.total() == CALLS["visit"]
    assert counted(written(capsys)).keys() == set(METRICS["visits"])
    assert row_of("events") == pytest.approx(ROWS["mark"], rel=0.1)


@pytest.mark.usefixtures("later")
def test_cost_of_a_digest_with_seen_events_matches_the_bill(ann: Cloud) -> None:
    ann.say("event.created", {"events": TEN})
    event_row = row_of("events")
    ann.say("entity.seen", {"seen": [visit("p1"), visit("p2")]})
    messages = fan_out(ann)
    ann.meter.clear()
    ann.work("generate", *messages)
    found, digest = spent(ann), actions.digest(10, event_row)
    again = actions.run_with_seen_events(10, event_row)
    assert found.written == digest.written + again.written + 2 * actions.seen_event().written
    assert found.read == pytest.approx(digest.read + again.read + 10, abs=1)


def test_cost_of_a_mute_matches_the_bill(ann: Cloud) -> None:
    ann.say("subscriber.active", {"user_id": "ann", "active_at": ago()})
    ann.meter.clear()
    mute = {"mute": [{"type": "post", "id": "p1"}]}
    ann.say("preferences.chosen", {"user_id": "ann", "chosen_at": ago(), **mute})
    assert spent(ann) == actions.mute()
    assert ann.meter.calls.total() == CALLS["mute"]


@pytest.mark.parametrize("operation", actions.WRITES)
def test_documented_write_units_match_the_bill(operation: str) -> None:
    assert units_of(operation) == actions.WRITES[operation]


@pytest.mark.usefixtures("later")
def test_log_volume_of_each_function_is_within_the_bill(
    ann: Cloud, logs: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    def told() -> int:
        size = len(logs.getvalue().encode()) + len(capsys.readouterr().out.encode())
        logs.truncate(0)
        logs.seek(0)
        return size

    told()
    ann.work("ingest", *(envelope("event.created", each) for each in TEN))
    ingest = told() + 34 * len(TEN)  # the id of a message has 36 characters in life, here 2
    messages = fan_out(ann)
    told()
    ann.work("generate", *messages)
    generate = told()
    (run,) = ann.rows("runs")
    of_run = {"message_id": run["message_id"]}
    events = [delivery_event("Sent", record="send", **of_run), delivery_event(**of_run)]
    ann.work("feedback", *events * 5)
    feedback = told() + (60 - len(run["message_id"])) * 10  # SES's ids have 60 characters
    for function, size, number in (
        ("ingest", ingest, 10),
        ("generate", generate, 1),
        ("feedback", feedback, 10),
    ):
        assumed = number * LINE[function] + AROUND_AN_INVOCATION[function]
        assert 0.7 * assumed < size <= assumed, function


def test_write_units_are_rounded_up() -> None:
    assert actions.event(1024).written == 2
    assert actions.event(1025).written == 4
    assert actions.digest(10, 484).read == 5 + math.ceil(4840 / 4096)


@pytest.fixture
def empty(cloud: Cloud) -> Cloud:
    """No reader is known, SES answers, and the functions are warm."""
    cloud.send_quota.update(SES_QUOTA)
    cloud.warm_up("fanout", "sweep")
    return cloud


def tick(cloud: Cloud) -> None:
    """Strike the clock of fan-out, and process all shards."""
    cloud.invoke("fanout", {"time": datetime.now(UTC).isoformat()})
    cloud.work("fanout", *(message["Body"] for message in cloud.take("shard")))


def sweep(cloud: Cloud) -> None:
    """Strike the clock of the sweep, and process all partitions."""
    cloud.invoke("sweep", {"time": datetime.now(UTC).isoformat()})
    cloud.work("sweep", *(message["Body"] for message in cloud.take("sweep")))


def test_empty_stage_writes_only_the_metrics_on_its_bill(
    empty: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    written(capsys)
    tick(empty)
    sweep(empty)
    found = counted(written(capsys))
    assert found.keys() == set(METRICS["ticks and sweeps"])
    assert found["partitions_swept"] == [1] * actions.PARTITIONS


def test_tick_and_sweep_of_an_empty_stage_cost_what_the_bill_says(empty: Cloud) -> None:
    """The stage of the test has one shard; the bill is for the default number."""
    empty.meter.clear()
    tick(empty)
    ticked = spent(empty)
    empty.meter.clear()
    sweep(empty)
    swept = spent(empty)
    day = Usage(readers=1, events=0, digests=0, signs=0, days=1)
    billed = {each.what: each.quantity for each in items(day) if each.fixed}
    more = SHARDS - 1
    written_units = TICKS * (ticked.written + more) + SWEEPS * swept.written
    assert written_units <= billed["writes: ticks and sweeps"]
    read = TICKS * (ticked.read + more * actions.SLOTS / 2) + SWEEPS * swept.read
    assert 0.8 * billed["reads: ticks and sweeps"] < read <= billed["reads: ticks and sweeps"]


@pytest.mark.usefixtures("later")
def test_way_of_an_event_writes_the_metrics_on_the_bill(
    ann: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    written(capsys)
    ann.say("event.created", TEN[0])
    assert counted(written(capsys)).keys() == set(METRICS["events"])
    ann.say("subscriber.active", {"user_id": "ann", "active_at": ago()})
    assert counted(written(capsys)).keys() == set(METRICS["reader activity"])
    ann.send_quota.update(SES_QUOTA)
    messages = fan_out(ann)
    ann.work("generate", *messages)
    found = counted(written(capsys)).keys() - set(METRICS["ticks and sweeps"])
    assert found <= {*METRICS["digests"], *METRICS["emails"]}
    assert found >= {*METRICS["digests"], "run_sent", "render_time"}
    ann.work("feedback", delivery_event("Sent", record="send"), delivery_event())
    assert counted(written(capsys)).keys() == set(METRICS["delivery events"])


def test_each_billed_metric_is_documented_once() -> None:
    billed = [name for names in METRICS.values() for name in names]
    assert len(billed) == len(set(billed))
    assert set(billed) <= documented()
