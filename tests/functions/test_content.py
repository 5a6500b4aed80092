"""The function `content` on moto, with a service on loopback: calls, units, metrics."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from gazette.adapters.aws.queues import decode_run_key, decode_shard
from gazette.adapters.content.connection import Connection
from gazette.adapters.content.fetch_messages import decode_fetch, encode_fetch
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.pacing.pace import RECOMMENDATIONS_ROW, DynamoRateLimiter
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.bootstrap import content, fanout
from gazette.bootstrap.parts.clock import now
from gazette.domain.content.ports import Fetch, QueuedFetch
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.model import DAILY, Schedule
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.domain.templates.settings import SourcePolicy, VersionSettings

from gazette_cli.cost.actions import Units
from gazette_cli.cost.actions import fetch as fetch_of
from proofs.sources.service import Reply, Service, items, serving
from tests.functions.conftest import Cloud, due_shard, fan_out
from tests.functions.costs_page import promised
from tests.functions.messages import profile, records
from tests.functions.pushed import push_version
from tests.meter import calls

pytestmark = pytest.mark.enable_socket

PROMISED = promised()


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, cloud: Cloud) -> Iterator[Service]:
    """The stage asks a service on loopback. The connections of the functions end with the test."""
    opened: list[Connection] = []

    def connect(*args: Any, **named: Any) -> Connection:
        opened.append(Connection(*args, **named))
        return opened[-1]

    with serving() as running:
        monkeypatch.setattr(content, "Connection", connect)
        monkeypatch.setenv("GAZETTE_CONTENT_SOURCES", '["events", "recommendations"]')
        monkeypatch.setenv("GAZETTE_RECOMMENDATIONS_URL", running.url)
        yield running
        for each in opened:
            each.close()


@pytest.fixture
def ann(cloud: Cloud, service: Service) -> Cloud:
    """Ann is known, and the function is warm."""
    cloud.say("subscriber.changed", profile())
    cloud.warm_up("content")
    return cloud


def schedule(user_id: str = "ann") -> Schedule:
    found = DynamoSchedules("schedules", shards=1).get(user_id, DAILY)
    assert found
    return found


def message(user_id: str = "ann") -> str:
    """For the next digest of a reader."""
    fetch = Fetch(user_id, DAILY, schedule(user_id).next_due_at)
    return encode_fetch(QueuedFetch(fetch, timedelta(0))).body


def stored(cloud: Cloud) -> list[str]:
    return sorted(row["event_id"] for row in cloud.rows("events"))


def test_content_items_become_events_and_update_the_schedule(ann: Cloud, service: Service) -> None:
    service.answers(Reply(body=items("a", "b")))
    ann.work("content", message())
    assert stored(ann) == ["recommendations:a", "recommendations:b"]
    assert schedule().fetched_for == schedule().next_due_at
    assert service.requests[0].headers["authorization"] == "Bearer the-token"


@pytest.mark.parametrize("number", [0, 1, 5])
def test_fetch_costs_two_units_plus_two_per_item(ann: Cloud, service: Service, number: int) -> None:
    """One for the permit, one for the mark; those of items are those of events."""
    service.answers(Reply(body=items(*map(str, range(number)))))
    fetch = message()
    ann.meter.clear()
    ann.work("content", fetch)
    assert ann.meter.write_units == +Counter(events=2 * number, pace=1, schedules=1)
    assert ann.meter.write_units.total() == PROMISED["a fetch"] + number * PROMISED["an item"]
    spent = Units(ann.meter.write_units.total(), sum(ann.meter.read_units.values()))
    assert spent == fetch_of(number, 500)
    routing = calls(BatchGetItem=3) if number else calls()
    assert ann.meter.calls == (
        calls(GetItem=3, Query=2, UpdateItem=1, PutItem=1) + calls(PutItem=number) + routing
    )


def test_repeated_fetch_message_costs_a_single_read(ann: Cloud, service: Service) -> None:
    ann.work("content", message())
    fetch = message()
    ann.meter.clear()
    ann.work("content", fetch)
    assert ann.meter.calls == calls(GetItem=1)
    assert ann.meter.write_units == Counter()
    assert len(service.requests) == 1


def test_open_breaker_requeues_the_fetch_without_a_request(ann: Cloud, service: Service) -> None:
    limiter = DynamoRateLimiter("pace", PacePlan(rate=10), name=RECOMMENDATIONS_ROW)
    limiter.open_by_hand("by hand", now())
    ann.work("content", message())
    (requeued,) = ann.queued("content")
    assert 60 <= requeued["DelaySeconds"] <= 180
    assert service.requests == []
    assert stored(ann) == []


@pytest.mark.parametrize(
    ("of_stage", "of_version", "asked_for"),
    [
        ("without", None, timedelta(minutes=30)),
        ("without", "wait", timedelta(hours=6)),
        ("wait", None, timedelta(hours=6)),
        ("wait", "without", timedelta(minutes=30)),
    ],
)
def test_content_fetch_window_follows_the_policy_of_the_template_version(
    cloud: Cloud,
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    of_stage: str,
    of_version: str | None,
    asked_for: timedelta,
) -> None:
    """Ended as the stage has it, the digest would wait for hours for what nobody asks for."""
    monkeypatch.setenv("GAZETTE_RECOMMENDATIONS_POLICY", of_stage)
    if of_version:
        push_version(settings=VersionSettings(source_policy=SourcePolicy(of_version)))
    cloud.say("subscriber.changed", profile())
    cloud.work("content", _due_since(asked_for + timedelta(minutes=2)))
    assert service.requests == []
    cloud.work("content", _due_since(asked_for - timedelta(minutes=2)))
    assert len(service.requests) == 1


def _due_since(waited: timedelta) -> str:
    """The message for a digest of Ann that was started, and waits for so long."""
    before, due_at = schedule(), now() - waited
    started = replace(before, last_due_at=due_at, revision=before.revision + 1)
    assert DynamoSchedules("schedules", shards=1).put(started, replacing=before)
    return encode_fetch(QueuedFetch(Fetch("ann", DAILY, due_at), timedelta(0))).body


def test_failed_request_is_retried_once_and_then_redelivered(ann: Cloud, service: Service) -> None:
    service.answers(Reply(status=500))
    ann.work("content", message())
    assert len(service.requests) == 2
    (requeued,) = ann.queued("content")
    assert '"tries": 1' in requeued["MessageBody"]


def test_source_refusal_opens_the_breaker_for_all_workers(ann: Cloud, service: Service) -> None:
    service.answers(Reply(status=429, headers={"Retry-After": "300"}))
    ann.work("content", message())
    (row,) = (each for each in ann.rows("pace") if each["name"] == RECOMMENDATIONS_ROW)
    assert row["breaker_why"] == "It answered with status 429."
    assert len(service.requests) == 1


def test_invalid_fetch_message_is_returned(ann: Cloud, service: Service) -> None:
    answer = ann.invoke("content", records("{}"))
    assert len(answer["batchItemFailures"]) == 1
    assert service.requests == []


@pytest.mark.long
def test_ten_fetches_of_an_invocation_share_a_connection(cloud: Cloud, service: Service) -> None:
    readers = [f"u{number}" for number in range(10)]
    for user_id in readers:
        cloud.say("subscriber.changed", profile(user_id))
    service.answers(Reply(body=items("a")))
    cloud.work("content", *map(message, readers))
    assert len(service.requests) == 10
    assert len({asked.connection for asked in service.requests}) == 1
    assert max(asked.in_progress for asked in service.requests) == 1


@pytest.mark.usefixtures("later")
def test_fetched_content_is_in_the_email(ann: Cloud, service: Service) -> None:
    service.answers(Reply(body=items("a", summary="Quiet places.")))
    ann.work("content", message())
    ann.work("generate", *fan_out(ann))
    (mail,) = ann.sent()
    said = mail["Content"]["Simple"]["Body"]["Text"]["Data"]
    assert "Item a" in said
    assert "Recommended for you" in said
    assert "Quiet places." in said


@pytest.mark.usefixtures("later")
def test_digest_without_fetched_content_requests_and_awaits_the_items(
    ann: Cloud, service: Service
) -> None:
    service.answers(Reply(body=items("a")))
    ann.warm_up("fanout", "generate")
    shard = due_shard(ann)
    ann.meter.clear()
    ann.work("fanout", shard)
    assert ann.meter.write_units == +Counter(runs=3, schedules=3, control=2)
    (run,) = [message["Body"] for message in ann.take("generate")]
    (wanted,) = [message["Body"] for message in ann.take("content")]
    ann.meter.clear()
    ann.work("generate", run)
    assert ann.meter.calls == calls(Query=1, GetItem=1, SendMessageBatch=1), "it reads no events"
    assert ann.meter.write_units == Counter()
    assert ann.sent() == []
    ann.work("content", wanted)
    ann.work("generate", run)
    (mail,) = ann.sent()
    assert "Item a" in mail["Content"]["Simple"]["Body"]["Text"]["Data"]


@pytest.mark.usefixtures("later")
def test_run_with_unrequested_content_queues_a_single_fetch(ann: Cloud) -> None:
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    (run,) = fan_out(ann)
    ann.take("content")
    asked = runs.get(decode_run_key(run))
    assert asked
    runs.swap(asked, replace(asked, asked_at=None))
    ann.warm_up("generate")
    ann.work("generate", run)
    assert ann.meter.write_units == Counter(runs=1)
    ann.meter.clear()
    ann.work("generate", run)
    assert ann.meter.write_units == Counter()
    assert len(ann.take("content")) == 1


def test_occurrence_without_new_content_costs_four_units(ann: Cloud) -> None:
    """The ended run, whose sequence it uses; the schedule, and its entry in `due` moved."""
    ann.work("content", message())
    shard = due_shard(ann)
    ann.warm_up("fanout")
    ann.work("fanout", shard)
    written = ann.meter.write_units - Counter(control=99)
    assert written == Counter(runs=1, schedules=3)
    assert written.total() == PROMISED["a due schedule whose content source has no new items"]
    assert not ann.take("generate")


def test_look_ahead_queues_a_fetch_without_writes(
    cloud: Cloud, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAZETTE_RECOMMENDATIONS_LEAD", "60")
    cloud.say("subscriber.changed", profile())
    due_at = schedule().next_due_at
    monkeypatch.setattr(fanout, "now", lambda: due_at - timedelta(hours=2))
    batches = DynamoBatches("control", retention=timedelta(days=200), clock=now)
    batches.save_checkpoint(0, slot_of(due_at) - 8 * SLOT)
    answer = cloud.invoke("fanout", {"time": (due_at - timedelta(minutes=10)).isoformat()})
    assert answer == {"shards": 2}
    plain, ahead = sorted((each["Body"] for each in cloud.take("shard")), key=len)
    assert decode_shard(ahead).ahead
    cloud.warm_up("fanout")
    cloud.work("fanout", ahead)
    assert cloud.meter.write_units == Counter()
    (queued,) = cloud.queued("content")
    assert decode_fetch(queued["MessageBody"]).due_at == due_at
    assert queued["DelaySeconds"] < SLOT.total_seconds()
    assert not decode_shard(plain).ahead
