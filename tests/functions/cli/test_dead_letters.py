"""`gazette dlq` on moto: what it shows of dead letters is what a redrive does."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from gazette.adapters.aws.dead_letters import queues as sqs_queues
from gazette.adapters.aws.dead_letters import redrive
from gazette.adapters.aws.queues import SqsQueue, decode_run_key, encode_failed_run, encode_run_key
from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoRateLimiter
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.bootstrap.support import dead_letters as support
from gazette.domain.dead_letters import KNOWN
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.delivery.signals import Claim, RefusedForNow, Uncertain
from gazette.domain.model import DAILY, Window
from gazette.domain.scheduling.calendar import slot_id, slot_of
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.domain.subscribers.subscriber import SubscriberStatus
from gazette.settings.delivery import GenerateSettings
from gazette.steps.runs import apply
from rich.console import Console
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from gazette_cli.shared import answers
from tests.builders import NOW
from tests.functions.conftest import Cloud, fan_out
from tests.functions.deployed import deploy
from tests.functions.failing import dead_letter, denied, refused_to_the_end
from tests.functions.messages import delivery_report, envelope, event, profile
from tests.meter import Meter

READS = {
    ("runs", "Query"),
    ("subscribers", "GetItem"),
    ("suppressions", "GetItem"),
    ("events", "Query"),
    ("control", "GetItem"),
    ("control", "Query"),
    ("pace", "GetItem"),
}
SHARD = {"shard": 3, "since": "2026-11-22T06:10:00+00:00", "until": "2026-11-22T06:20:00+00:00"}
FETCH = {"user_id": "ann", "schedule": "daily", "due_at": "2026-11-22T06:10:00+00:00", "tries": 0}
ASKED = "Redrive these messages? No email is sent twice. [y/N]: y\n"
BODIES = {
    "ingest-dead": envelope("event.created", {"secret": "ann@example.com"}),
    "followers-dead": json.dumps(
        {"entity": "post#p1", "activity_id": "a1", "side": "post#p1", "after": ""}
    ),
    "shard-dead": json.dumps(SHARD),
    "content-dead": json.dumps(FETCH),
    "sweep-dead": '{"partition": 5}',
    "ticks-undelivered": '{"requestPayload": {"time": "2026-11-22T06:10:00Z"}}',
}


class Sqs:
    """The queues of the stage `prod`."""

    def __init__(self) -> None:
        self.client = boto3.client("sqs")
        names = {dead.name for dead in KNOWN} | {dead.source for dead in KNOWN if dead.source}
        self.urls = {
            name: self.client.create_queue(QueueName=f"gazette-prod-{name}")["QueueUrl"]
            for name in names
        }

    def put(self, name: str, *bodies: str) -> None:
        for body in bodies:
            self.client.send_message(QueueUrl=self.urls[name], MessageBody=body)

    def bodies(self, name: str) -> list[str]:
        """The bodies that a receive would return now; they stay in the queue."""
        found: list[dict[str, Any]] = []
        while messages := self.client.receive_message(
            QueueUrl=self.urls[name], MaxNumberOfMessages=10, VisibilityTimeout=600
        ).get("Messages"):
            found += [dict(message) for message in messages]
        for message in found:
            self.client.change_message_visibility(
                QueueUrl=self.urls[name],
                ReceiptHandle=message["ReceiptHandle"],
                VisibilityTimeout=0,
            )
        return sorted(message["Body"] for message in found)


class MoveTasks:
    """StartMessageMoveTask and ListMessageMoveTasks, which moto does not have.

    A task that was started is seen running once, and has then ended as `status` says. Where the
    engine does not `know` them, it answers as MiniStack does.
    """

    def __init__(self, sqs: Sqs, meter: Meter) -> None:
        self.sqs = sqs
        self.meter = meter
        self.known = False
        self.status = "COMPLETED"
        self.listed: list[dict[str, Any]] = []
        self.started: list[dict[str, Any]] = []
        self.refused: dict[str, str] = {}

    def answer(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        code = self.refused.get(operation) or ("" if self.known else "InvalidAction")
        if code:
            raise ClientError({"Error": {"Code": code, "Message": "no"}}, operation)
        if operation == "ListMessageMoveTasks":
            found = {"Results": [dict(task) for task in self.listed[:1]]}
            if self.listed and self.listed[0]["Status"] == "RUNNING":
                self.listed[0]["Status"] = self.status
            return found
        self.started.append(request)
        with self.meter.acting("SQS"):
            moved = self._move(*(request[name].rpartition(":")[2] for name in sorted(request)))
        self.listed.insert(0, _task(len(self.listed) + 1, moved, "CouldNotGoOn"))
        return {"TaskHandle": "handle"}

    def _move(self, destination: str, source: str) -> int:
        ours, theirs = (name.removeprefix("gazette-prod-") for name in (source, destination))
        bodies = self.sqs.bodies(ours)
        if self.status == "COMPLETED":
            self.sqs.client.purge_queue(QueueUrl=self.sqs.urls[ours])
            self.sqs.put(theirs, *bodies)
        return len(bodies)


def _task(started: int, moved: int, why: str) -> dict[str, Any]:
    return {
        "Status": "RUNNING",
        "StartedTimestamp": started,
        "ApproximateNumberOfMessagesMoved": moved,
        "ApproximateNumberOfMessagesToMove": moved,
        "FailureReason": why,
    }


@contextmanager
def answering(monkeypatch: pytest.MonkeyPatch, tasks: MoveTasks) -> Iterator[None]:
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def call(client: BaseClient, name: str, request: dict[str, Any]) -> Any:
        if name.endswith(("MessageMoveTask", "MessageMoveTasks")) or name in tasks.refused:
            return tasks.answer(name, request)
        return real(client, name, request)

    with monkeypatch.context() as patched:
        patched.setattr(BaseClient, "_make_api_call", call)
        yield


@pytest.fixture
def stage(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, later: None) -> Cloud:
    """The commands find the tables in the settings of generate alone."""
    deploy("generate", GenerateSettings.from_env().to_env())
    monkeypatch.setattr(sqs_queues, "POLL", 0)  # moto would sleep, and has one server only
    monkeypatch.setattr(redrive, "_pause", lambda _: None)
    monkeypatch.setattr(support, "now", lambda: datetime.now(UTC) + timedelta(hours=1))
    return cloud


@pytest.fixture
def sqs(stage: Cloud) -> Sqs:
    return Sqs()


@pytest.fixture
def tasks(stage: Cloud, sqs: Sqs, monkeypatch: pytest.MonkeyPatch) -> Iterator[MoveTasks]:
    tasks = MoveTasks(sqs, stage.meter)
    with answering(monkeypatch, tasks):
        yield tasks


def run(cloud: Cloud, *arguments: str, said: str | None = None) -> Result:
    with cloud.meter.acting("an operator"):
        return CliRunner().invoke(app, ["dlq", *arguments], input=said)


def rows(result: Result) -> list[list[str]]:
    assert result.exit_code == 0, result.output
    return [line.split("\t") for line in result.stdout.splitlines()]


def a_message(cloud: Cloud, reader: str = "ann") -> str:
    """The message of a run with an event, which a worker could not process."""
    cloud.say("subscriber.changed", profile(reader, digest={"hour": 8, "minute": 0}))
    cloud.say("event.created", event(1, user_id=reader))
    (message,) = fan_out(cloud, reader)
    cloud.meter.clear()
    return message


def runs() -> DynamoRuns:
    return DynamoRuns("runs", retention=timedelta(days=180))


def test_redriven_dead_letter_is_sent_once_and_then_reported_as_sent(
    stage: Cloud, sqs: Sqs, tasks: MoveTasks
) -> None:
    message = a_message(stage)
    sqs.put("generate-dead", message)
    (before,) = rows(run(stage, "show", "generate-dead"))
    assert [before[0], *before[3:5]] == ["generate-dead", "1", "sends"]
    assert before[1].startswith("ann-daily-")
    assert stage.meter.actions["an operator"] == READS
    done = run(stage, "redrive", "generate-dead", said="y\n")
    assert "generate-dead: 1: 1 sends" in done.stdout
    assert done.stdout.endswith("generate-dead: 1 redriven, 0 remaining\n")
    assert sqs.bodies("generate-dead") == []
    (back,) = sqs.bodies("generate")
    stage.work("generate", back)
    assert len(stage.sent()) == 1
    for queue in ("generate-dead", "resend-dead"):
        sqs.put(queue, message)
        (after,) = rows(run(stage, "show", queue))
        assert after[4:] == [
            "already_sent",
            "the provider accepted the email; the email is not sent again",
        ]
        stage.work(queue.removesuffix("-dead"), message)
    assert len(stage.sent()) == 1
    assert stage.meter.actions["an operator"] == READS


@pytest.mark.long
def test_listing_dead_letters_neither_removes_nor_hides_messages(stage: Cloud, sqs: Sqs) -> None:
    message = a_message(stage)
    sqs.put("generate-dead", *[message] * 12)
    assert {row[3] for row in rows(run(stage, "show"))} == {"1"}
    assert {row[3] for row in rows(run(stage, "show"))} == {"2"}
    assert len(sqs.bodies("generate-dead")) == 12
    cut = run(stage, "show", "gazette-prod-generate-dead", "--limit", "5")
    assert len(rows(cut)) == 5
    assert cut.stderr == (
        "Showing 5 of about 12 messages in gazette-prod-generate-dead. Specify --limit to show "
        "more.\n"
    )
    assert stage.sent() == []


def test_dead_letter_list_shows_count_and_age(stage: Cloud, sqs: Sqs) -> None:
    sqs.put("shard-dead", json.dumps(SHARD), json.dumps(SHARD))
    listed = {name: rest for name, *rest in rows(run(stage, "list"))}
    assert set(listed) == {dead.name for dead in KNOWN}
    number, oldest = listed.pop("shard-dead")
    assert number == "2"
    assert oldest.endswith(" UTC")
    assert set(map(tuple, listed.values())) == {("0", "-")}
    assert len(sqs.bodies("shard-dead")) == 2


def test_waiting_or_unknown_run_is_shown_with_a_reason(stage: Cloud, sqs: Sqs) -> None:
    message = a_message(stage)
    sqs.put("resend-dead", message)
    DynamoRateLimiter("pace", PacePlan(rate=500), name=ROWS.digest).open_by_hand(
        "wrong template", NOW
    )
    (braked,) = rows(run(stage, "show"))
    assert braked[4:] == [
        "waits",
        (
            "sending is stopped (`gazette sending status` shows the reason); the email is "
            "sent once sending resumes"
        ),
    ]
    DynamoRateLimiter("pace", PacePlan(rate=500), name=ROWS.digest).close_by_hand()
    claim = Claim(Window(NOW, NOW), deadline=datetime.now(UTC), nonce="n")
    claimed = apply(runs().chain(decode_run_key(message))[0], claim, runs=runs())
    (overdue,) = rows(run(stage, "show"))
    assert overdue[4] == "unknown"
    assert runs().chain(claimed.key)[0] == claimed
    refused = apply(
        claimed, RefusedForNow(1, "Throttling", datetime.now(UTC) + timedelta(days=2)), runs=runs()
    )
    (pausing,) = rows(run(stage, "show"))
    assert pausing[4] == "waits"
    assert "retried at" in pausing[5]
    claimed = apply(refused, claim, runs=runs())
    apply(claimed, Uncertain(2, "ReadTimeoutError"), runs=runs())
    (unknown,) = rows(run(stage, "show"))
    assert unknown[4] == "unknown"
    assert unknown[5] == (
        "the provider was called, but did not confirm that it accepted the email "
        "(ReadTimeoutError); a redrive does not change the outcome; a delivery event or the sweep "
        "determines it"
    )


def test_trace_aa_failed_run_starts_the_next_run_as_forecast(stage: Cloud, sqs: Sqs) -> None:
    """By a plain receive, send, delete; the body is as resend puts it there itself."""
    run_that_failed = refused_to_the_end(a_message(stage))
    SqsQueue(sqs.client, sqs.urls["failed"], encode_failed_run).send([run_that_failed.key])
    assert sqs.bodies("failed") == [dead_letter(run_that_failed)]
    stage.say("event.created", event(2))
    stage.meter.clear()
    (row,) = rows(run(stage, "show"))
    assert row[4:] == [
        "starts_next",
        "the run failed; run ann-daily-2 starts now with all waiting events",
    ]
    assert stage.meter.actions["an operator"] == READS | {("schedules", "GetItem")}
    done = run(stage, "redrive", "failed", said="y\n")
    told = f"ann-daily-1: {row[4]}: {row[5]}\n"
    assert (
        f"failed: 1: 1 starts_next\n{ASKED}{told}failed: 1 redriven, 0 remaining\n" in done.stdout
    )
    (back,) = sqs.bodies("resend")
    stage.work("resend", back)
    sqs.put("failed", back)
    (queued,) = rows(run(stage, "show"))
    assert queued[4:] == [
        "goes_with",
        "the events are included in run ann-daily-2, which has not been sent and is queued again",
    ]
    for message in stage.take("resend"):
        stage.work("resend", message["Body"])
    (mail,) = stage.sent()
    assert "2 comments" in mail["Content"]["Simple"]["Body"]["Text"]["Data"]
    (sent,) = rows(run(stage, "show"))
    assert sent[4] == "sent_since"
    assert sent[5].startswith("run ann-daily-2, due 2")
    assert sent[5].endswith(" UTC, has already sent these events; no email is sent")
    stage.work("resend", back)
    assert len(stage.sent()) == 1
    assert stage.take("resend") == stage.take("failed") == []


def test_failed_run_that_starts_no_run_is_shown_with_a_reason(stage: Cloud, sqs: Sqs) -> None:
    bodies = [dead_letter(refused_to_the_end(a_message(stage, reader))) for reader in ("bo", "cy")]
    sqs.put("failed", *bodies)
    with stage.meter.acting("somebody else"):
        stage.set_status("bo", SubscriberStatus.UNSUBSCRIBED)
        schedules = DynamoSchedules("schedules", shards=1)
        schedule = schedules.get("cy", DAILY)
        assert schedule
        assert schedules.remove(schedule)
    was = "failed: the provider rejected the email 6 times (Throttling); no run is started"
    said = {row[1]: row[4:] for row in rows(run(stage, "show"))}
    assert said == {
        "bo-daily-1": ["not_wanted", f"{was}: the reader had unsubscribed"],
        "cy-daily-1": ["no_schedule", f"{was} because the reader no longer has this schedule"],
    }
    done = run(stage, "redrive", "failed", "--yes")
    assert {line.split(": ")[1] for line in done.stdout.splitlines()[:-1]} == {
        "not_wanted",
        "no_schedule",
    }
    stage.work("resend", *sqs.bodies("resend"))
    assert (stage.sent(), len(stage.rows("runs"))) == ([], 2)


@pytest.mark.parametrize("options", ["run", "batch", "on", "run and on"])
def test_redrive_can_select_messages_by_run_batch_or_date(
    stage: Cloud, sqs: Sqs, tasks: MoveTasks, options: str
) -> None:
    """Also where SQS could move them all."""
    tasks.known = True
    failed = [refused_to_the_end(a_message(stage, reader)) for reader in ("ann", "bo")]
    ann, bo = failed
    with stage.meter.acting("somebody else"):
        other = replace(bo, key=replace(bo.key, sequence=9), due_at=bo.due_at - timedelta(days=3))
        runs().create(other)
    at_once = replace(bo, key=replace(bo.key, schedule=immediate_schedule("post#p1")))
    runs().create(at_once)
    sqs.put("failed", *map(dead_letter, (ann, other, at_once)), '{"user_id": "gone"}')
    sqs.put("generate-dead", encode_run_key(ann.key), encode_run_key(other.key))
    sqs.put("shard-dead", json.dumps(SHARD))
    slot, day = slot_id(slot_of(ann.due_at)), f"{ann.due_at:%Y-%m-%d}"
    arguments, moved = {
        "run": (("--run", "ann-daily-1"), [ann]),
        "batch": (("--batch", slot), [ann]),
        "on": (("--on", day), [ann, at_once]),
        "run and on": (("--run", "bo-daily-9", "--on", day), []),
    }[options]
    done = run(stage, "redrive", *arguments, said="y\n")
    assert done.exit_code == 0, done.output
    assert sqs.bodies("resend") == sorted(map(dead_letter, moved))
    assert len(sqs.bodies("failed")) == 4 - len(moved)
    back = [encode_run_key(ann.key)] if ann in moved else []
    assert sqs.bodies("generate") == back
    assert len(sqs.bodies("generate-dead")) == 2 - len(back)
    assert len(sqs.bodies("shard-dead")) == 1
    assert tasks.started == []
    if not moved:
        assert "failed: 0: none selected" in done.stdout


def test_expired_run_and_invalid_message_are_distinguished(stage: Cloud, sqs: Sqs) -> None:
    sqs.put(
        "generate-dead",
        '{"user_id": "gone", "schedule": "daily", "sequence": 1}',
        '{"user_id": "", "schedule": "daily", "sequence": 1}',
        "hello\tworld " * 10,
    )
    found = {row[1]: row[4] for row in rows(run(stage, "show"))}
    assert found == {
        "gone-daily-1": "no_such_run",
        'not a Gazette message: {"user_id": "", "schedule": "daily", "se…': "fails_again",
        "not a Gazette message: hello?world hello?world hello?world hell…": "fails_again",
    }


def test_dead_letters_are_identified_by_key_without_content(stage: Cloud, sqs: Sqs) -> None:
    for queue, body in BODIES.items():
        sqs.put(queue, body)
    sqs.put("feedback-dead", "[]")
    shown = run(stage, "show")
    assert "ann@example.com" not in shown.output
    assert {row[0]: (row[1], row[4]) for row in rows(shown)} == {
        "ingest-dead": ("event.created", "again"),
        "followers-dead": ("activity a1 on post#p1", "again"),
        "shard-dead": ("shard 3, slots 2026-11-22T06:10Z to 2026-11-22T06:20Z", "again"),
        "content-dead": (
            *("items for schedule daily of ann, due 2026-11-22 06:10:00 UTC", "again"),
        ),
        "sweep-dead": ("partition 5", "again"),
        "feedback-dead": ("not a Gazette message: []", "fails_again"),
        "ticks-undelivered": ("tick of 2026-11-22T06:10:00Z", "stays"),
    }


def test_dead_delivery_report_is_identified_by_its_run(stage: Cloud, sqs: Sqs) -> None:
    reference = "ann-daily-17.2.1795248002.5f0c8a1be27d43966f1e0c9ab8d7e254"
    for told in (reference, "nonsense"):
        sqs.put("feedback-dead", delivery_report("bounced", told, bounce="permanent"))
    shown = run(stage, "show")
    assert "ann@example.com" not in shown.output
    assert {row[1] for row in rows(shown)} == {
        "bounced of ann-daily-17",
        "delivery.reported; a redrive returns the event to the quarantine",
    }


def test_sqs_move_task_targets_the_named_queue(stage: Cloud, sqs: Sqs, tasks: MoveTasks) -> None:
    tasks.known = True
    tasks.listed = [{**_task(1, 99, ""), "Status": "COMPLETED"}]
    sqs.put("shard-dead", "one", "two")
    done = run(stage, "redrive", "shard-dead", "--yes")
    assert done.stdout == "shard-dead: 2 redriven, 0 remaining\n"
    assert done.stderr == "2 of about 2 moved\n"
    (started,) = tasks.started
    assert started["SourceArn"].endswith(":gazette-prod-shard-dead")
    assert started["DestinationArn"].endswith(":gazette-prod-shard")
    assert sqs.bodies("shard") == ["one", "two"]


def test_running_move_task_is_followed(stage: Cloud, sqs: Sqs, tasks: MoveTasks) -> None:
    tasks.known = True
    tasks.listed = [_task(1, 7, "")]
    sqs.put("shard-dead", "late")
    done = run(stage, "redrive", "shard-dead", "--yes")
    assert done.stdout == "shard-dead: 7 redriven, 1 remaining\n"
    assert tasks.started == []


def test_failed_move_task_names_the_required_permissions(
    stage: Cloud, sqs: Sqs, tasks: MoveTasks
) -> None:
    tasks.known, tasks.status = True, "FAILED"
    sqs.put("shard-dead", "one")
    done = run(stage, "redrive", "shard-dead", "--yes")
    assert done.exit_code == 2
    assert "1 remaining" in done.stdout
    assert "sqs:DeleteMessage and sqs:GetQueueAttributes on gazette-prod-shard-dead" in done.stderr
    assert sqs.bodies("shard-dead") == ["one"]


def test_undelivered_eventbridge_messages_are_moved_individually(
    stage: Cloud, sqs: Sqs, tasks: MoveTasks
) -> None:
    tasks.known = True
    sqs.put("undelivered", "event")
    sqs.put("feedback-undelivered", "delivery_event")
    sqs.put("ticks-undelivered", "{}")
    done = run(stage, "redrive", "--yes")
    assert done.stdout == (
        "undelivered: 1 redriven, 0 remaining\nfeedback-undelivered: 1 redriven, 0 remaining\n"
    )
    assert (sqs.bodies("ingest"), sqs.bodies("feedback")) == (["event"], ["delivery_event"])
    assert tasks.started == []


def test_returned_dead_letters_are_not_counted_as_remaining(
    stage: Cloud, sqs: Sqs, tasks: MoveTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqs.put("undelivered", "one", "two")
    send = sqs_queues.Queue.send

    def send_and_return_one(queue: sqs_queues.Queue, body: str) -> None:
        send(queue, body)
        if body == "one":
            with stage.meter.acting("EventBridge"):
                sqs.put("undelivered", body)

    monkeypatch.setattr(sqs_queues.Queue, "send", send_and_return_one)
    done = run(stage, "redrive", "undelivered", "--yes", "--json")
    assert json.loads(done.stdout)["queues"] == [
        {"queue": "undelivered", "moved": 2, "left": 0, "came_back": 1}
    ]


def test_messages_are_moved_individually_without_move_tasks_and_survive_a_crash(
    stage: Cloud, sqs: Sqs, tasks: MoveTasks
) -> None:
    sqs.put("shard-dead", "one", "two", "three")
    tasks.refused["DeleteMessage"] = "AccessDenied"
    broken = run(stage, "redrive", "shard-dead", "--yes")
    assert broken.exit_code == 2
    assert "need sqs:DeleteMessage on gazette-prod-shard-dead" in broken.stderr
    assert len(sqs.bodies("shard-dead")) == 3
    del tasks.refused["DeleteMessage"]
    done = run(stage, "redrive", "shard-dead", "--yes")
    assert done.stdout == "shard-dead: 3 redriven, 0 remaining\n"
    assert "Moving the messages one by one" in done.stderr
    assert set(sqs.bodies("shard")) == {"one", "two", "three"}


@pytest.mark.parametrize(("answer", "moves"), [("y\n", True), ("n\n", False), ("", False)])
def test_dead_letters_are_not_redriven_without_confirmation(
    stage: Cloud, sqs: Sqs, tasks: MoveTasks, answer: str, moves: bool
) -> None:
    sqs.put("sweep-dead", '{"partition": 5}', "?")
    done = run(stage, "redrive", said=answer)
    assert "sweep-dead: 2: 1 again, 1 fails_again" in done.stdout
    assert (done.exit_code == 0) == moves
    assert len(sqs.bodies("sweep-dead")) == (0 if moves else 2)


def test_empty_dead_letter_queues_are_reported(stage: Cloud, sqs: Sqs) -> None:
    assert run(stage, "show").stderr == "There are no dead letters.\n"
    one = run(stage, "show", "shard-dead")
    assert (one.exit_code, one.stdout) == (0, "")
    assert one.stderr == "gazette-prod-shard-dead is empty.\n"
    assert run(stage, "redrive").stderr == "There are no messages to redrive.\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("show", "quarantine"), "Specify one of ingest-dead, followers-dead"),
        (("redrive", "generate"), "QUEUE 'generate' is not a dead-letter queue of stage prod"),
        (("redrive", "ticks-undelivered"), "the next tick does the same work"),
        (
            ("redrive", "--run", "ann"),
            "--run 'ann' is not a run id. Specify an id such as ann-daily-17",
        ),
        (
            ("redrive", "--batch", "noon"),
            "--batch 'noon' is not a batch. Specify the slot of a batch in UTC",
        ),
        (("redrive", "shard-dead", "--run", "ann-daily-1"), "shard-dead do not belong to runs"),
        (("list", "--stage", "nowhere"), "Queue gazette-nowhere-ingest-dead does not exist"),
        (("show", "--stage", "nowhere"), "Queue gazette-nowhere-ingest-dead does not exist"),
    ],
)
def test_invalid_redrive_is_reported_on_a_single_line(
    stage: Cloud, sqs: Sqs, arguments: tuple[str, ...], said: str
) -> None:
    done = run(stage, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_missing_dead_letter_permission_is_named(stage: Cloud, sqs: Sqs, tasks: MoveTasks) -> None:
    sqs.put("generate-dead", a_message(stage))
    for operation, said in {
        "ListMessageMoveTasks": "sqs:ListMessageMoveTasks on gazette-prod-generate-dead",
        "GetFunctionConfiguration": "lambda:GetFunctionConfiguration on gazette-prod-generate",
        "ReceiveMessage": "sqs:ReceiveMessage on gazette-prod-generate-dead",
    }.items():
        tasks.refused = {operation: "AccessDenied"}
        arguments = ("redrive", "--yes") if "Move" in operation else ("show",)
        done = run(stage, *arguments[:1], "generate-dead", *arguments[1:])
        assert done.exit_code == 2
        assert f"Your credentials need {said}" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_redrive_without_readable_settings_reports_the_remaining_messages(
    stage: Cloud, sqs: Sqs, tasks: MoveTasks
) -> None:
    sqs.put("failed", dead_letter(refused_to_the_end(a_message(stage))))
    tasks.refused = {"GetFunctionConfiguration": "AccessDenied"}
    done = run(stage, "redrive", "failed", "--yes")
    assert (done.exit_code, done.stdout) == (2, "failed: 0 redriven, 1 remaining\n")
    assert done.stderr == (
        "gazette: Access denied. Your credentials need lambda:GetFunctionConfiguration on "
        "gazette-prod-generate. The other messages are still in gazette-prod-failed. Run the "
        "command again.\n"
    )


def test_unreadable_category_holds_are_an_error_for_dead_letters(stage: Cloud, sqs: Sqs) -> None:
    sqs.put("generate-dead", a_message(stage))
    with denied("Query", "control"):
        shown = run(stage, "show", "generate-dead")
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert "Your credentials need dynamodb:Query on the tables of stage prod" in shown.stderr


def test_terminal_shows_dead_letters_as_a_table(
    stage: Cloud, sqs: Sqs, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqs.put("sweep-dead", '{"partition": 5}')
    monkeypatch.setattr(answers, "Console", lambda: Console(force_terminal=True, width=160))
    for arguments in (("show",), ("list",)):
        shown = run(stage, *arguments)
        assert "sweep-dead" in shown.stdout
        assert "┃" in shown.stdout
