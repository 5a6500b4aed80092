"""docs/cli grants each command exactly the calls to AWS that it makes."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from gazette.adapters.aws.dead_letters import queues as sqs_queues
from gazette.adapters.aws.queues import SqsQuarantine, decode_run_key, encode_run_key
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.feedback.statistics import DynamoCategoryStats
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.pacing.pace import RECOMMENDATIONS_ROW, DynamoRateLimiter
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.bootstrap.parts.clock import now
from gazette.domain.dead_letters import KNOWN, Interrupted
from gazette.domain.delivery.pace import PacePlan
from gazette.domain.delivery.run import Status
from gazette.domain.feedback.delivery_events import Mark
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.identity import address_hash, run_id
from gazette.domain.model import DAILY, RunKey, Schedule
from gazette.domain.scheduling.calendar import Recurrence
from gazette.domain.scheduling.kinds import immediate_schedule
from gazette.settings.content import ContentSettings
from gazette.settings.delivery import GenerateSettings
from gazette.settings.fanout import FanoutSettings
from gazette.settings.feedback import FeedbackSettings
from gazette.settings.ingest import IngestSettings
from gazette.settings.outbox import OutboxSettings
from gazette.settings.preferences import PreferencesSettings
from typer.testing import CliRunner

from gazette_cli.main import app
from gazette_cli.reference.permissions import PERMISSIONS
from gazette_cli.restore.command import COPY, Restorable
from gazette_cli.rollback.versions import FUNCTIONS
from proofs.sources.service import Reply, Service, items, serving
from tests.builders import SUPPRESSION_KEY, a_run, a_window
from tests.functions.cli.test_batches import slot
from tests.functions.cli.test_events_out import keep_batch
from tests.functions.cli.test_overview import make_queues
from tests.functions.cli.test_restore import create_copies, write_once_more
from tests.functions.conftest import Cloud, fan_out
from tests.functions.deployed import deploy, publish
from tests.functions.failing import dead_letter, refused_to_the_end
from tests.functions.messages import (
    complaint,
    delivery_event,
    envelope,
    event,
    follow,
    profile,
)
from tests.shapes import check, fields_of
from tests.unit.imports import files
from tests.unit.outbox.test_publish import a_batch

Run = Callable[..., None]

EMPTY_HERE = (
    "experiment stop.variations",  # nobody is in an experiment then
    "explain.expired",  # as `waiting`, by the same function
    "explain.lapsed",  # and this one
    "explain.given_up",
    "explain.muted",  # in tests/unit/support
    "explain.mutes",
    "explain.seen",
    "explain.withdrawn",  # in tests/unit/delivery/test_withdrawn.py
    "explain.over_limit",  # in tests/unit/support/test_explain_attention.py
    "explain.merged",  # in tests/unit/support/test_explain_attention.py
    "explain.late",  # in tests/unit/support/test_explain_attention.py
    "explain.schedules[].with_notice",
    "explain.held_categories",
    "explain.unreadable",
    "explain.schedules[].sources",  # in tests/unit/content/test_explained.py
    "explain.runs[].without",
    "explain.schedules[].quiet",
    "overview.alarms",  # in test_overview
    "overview.held_categories",
    "replay.emails[].before.problems",  # as `after`, by the same function
    "statistics.emails",  # in test_statistics
    "statistics.readers",
    "statistics.verdicts",
)
"""Lists without an entry here, so that nothing tells whether these are their fields."""


@pytest.fixture
def run(cloud: Cloud, layers: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs a command in the stage `prod` and keeps the calls that it makes, by its path.

    Its answer in JSON has the fields that docs/cli gives it, each at least once.
    """
    monkeypatch.setenv("GAZETTE_CRITICAL_CATEGORIES", '["security"]')  # else nothing names one
    deploy("fanout", FanoutSettings.from_env().to_env())
    deploy("feedback", FeedbackSettings.from_env().to_env())
    deploy("generate", GenerateSettings.from_env().to_env(), *layers)
    deploy("ingest", IngestSettings.from_env().to_env())
    deploy("preferences", PreferencesSettings.from_env().to_env())
    monkeypatch.setattr(sqs_queues, "POLL", 0)  # moto would sleep, and has one server only

    seen: dict[str, set[str]] = defaultdict(set)

    def invoke(path: str, *arguments: str, said: str | None = None, exits: int = 0) -> None:
        as_json = [] if said else ["--json"]  # a program is asked nothing
        with cloud.meter.acting(path), no_move_tasks(monkeypatch):
            done = CliRunner().invoke(app, [*path.split(), *arguments, *as_json], input=said)
        assert done.exit_code == exits, (path, done.output)
        if as_json:
            assert bool(done.stdout) == (exits != 2), (path, done.output)
            seen[path] |= check(path, done)

    yield invoke
    for path, fields in seen.items():
        missing = {each for each in fields_of(path) - fields if not each.startswith(EMPTY_HERE)}
        assert missing == set(), f"{path} never said"


@contextmanager
def no_move_tasks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """SQS has no task under way and cannot start one, so that both calls are made."""
    real: Any = BaseClient._make_api_call  # type: ignore[attr-defined]

    def call(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
        if operation not in {"ListMessageMoveTasks", "StartMessageMoveTask"}:
            return real(client, operation, request)
        with suppress(ClientError, NotImplementedError):
            real(client, operation, request)
        if operation == "ListMessageMoveTasks":
            return {"Results": []}
        raise ClientError({"Error": {"Code": "UnsupportedOperation"}}, operation)

    with monkeypatch.context() as patched:
        patched.setattr(BaseClient, "_make_api_call", call)
        yield


def assert_exact(cloud: Cloud, group: str) -> None:
    """Every command of the group made the calls that it is granted, and no others."""
    for path in (path for path in PERMISSIONS if path.split()[0] == group):
        assert PERMISSIONS[path] - cloud.meter.grants[path] == set(), f"{path} never calls"
        assert cloud.meter.grants[path] - PERMISSIONS[path] == set(), f"{path} may not call"


def denied(*_: object) -> None:
    raise Interrupted("Access denied.")


def wait(cloud: Cloud) -> None:
    """Store an event for a reader's digest."""
    cloud.say("subscriber.changed", profile("ann", digest={"hour": 8, "minute": 0}))
    cloud.say("event.created", event(1, user_id="ann"))


@pytest.mark.usefixtures("later")
def test_batch_commands_use_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    wait(cloud)
    due = slot()
    fan_out(cloud)
    run("batch list")
    run("batch show", due, "--once")
    run("batch cancel", due, "--yes")
    assert_exact(cloud, "batch")


def an_immediate_run_behind_which_one_was_sent() -> str:
    """The body of its message. The chain begins at the sent run, so it is read by its key."""
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    first = RunKey("ann", immediate_schedule("post#p1"), 1)
    runs.create(replace(a_run(), key=first))
    later = runs.create(replace(a_run(), key=replace(first, sequence=2)))
    runs.swap(later, replace(later, attempt=1, status=Status.SENT, window=a_window()))
    return encode_run_key(first)


@pytest.mark.long
@pytest.mark.usefixtures("later")
def test_dlq_commands_use_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    sqs = boto3.client("sqs")
    wait(cloud)
    (failed,) = fan_out(cloud)
    bodies = {
        "ingest-dead": envelope("event.created", {}),
        "failed": dead_letter(refused_to_the_end(failed)),
        "generate-dead": failed,
        "resend-dead": an_immediate_run_behind_which_one_was_sent(),
    }
    for dead in KNOWN:
        if dead.source:
            sqs.create_queue(QueueName=f"gazette-prod-{dead.source}")
        url = sqs.create_queue(QueueName=f"gazette-prod-{dead.name}")["QueueUrl"]
        for _ in range(2):
            sqs.send_message(QueueUrl=url, MessageBody=bodies.get(dead.name, "{}"))
    run("dlq list")
    run("dlq show")
    run("dlq show", "--limit", "1")
    run("dlq redrive", "--run", run_id(decode_run_key(failed)), "--on", "2000-01-01", "--yes")
    run("dlq redrive", said="n\n", exits=1)
    run("dlq redrive", "--yes")
    assert_exact(cloud, "dlq")


def test_experiment_commands_use_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    run("experiment start", "one", "1=1", "2=1")
    run("experiment show")
    run("experiment stop")
    assert_exact(cloud, "experiment")


def test_links_commands_use_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    run("links list")
    run("links rotate")
    run("links retire", "k1", "--yes")
    assert_exact(cloud, "links")


def test_quarantine_commands_use_exactly_the_documented_permissions(
    cloud: Cloud, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqs = boto3.client("sqs")
    urls = [
        sqs.create_queue(QueueName=f"gazette-prod-{name}")["QueueUrl"]
        for name in ("quarantine", "ingest", "feedback")
    ]
    sqs.send_message(QueueUrl=urls[0], MessageBody="{}")
    sqs.send_message(QueueUrl=urls[0], MessageBody=complaint())
    run("quarantine list", "--limit", "1")
    with monkeypatch.context() as patched:
        patched.setattr(sqs_queues.Queue, "send", denied)
        run("quarantine redrive", exits=2)  # what it holds is released, and counted
    run("quarantine redrive")
    assert_exact(cloud, "quarantine")


def test_restore_command_uses_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    wait(cloud)
    with cloud.meter.acting("somebody else"):
        create_copies()
    for table in Restorable:
        run("restore", table, "--yes")
        if table.is_by_reader:
            run("restore", table, "--user", "ann", "--yes")
        with cloud.meter.acting("somebody else"):
            write_once_more(f"{table}{COPY}")
        run("restore", table, "--yes")
    assert_exact(cloud, "restore")


def test_sending_commands_use_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    now = datetime.now(UTC)
    DynamoCategoryStats("category_stats").add("comment", Mark.SENT, now)
    DynamoCategoryHolds("control").add(category_hold("comment", "complaints", now))
    run("sending status")
    run("sending stop", "wrong template", "--yes")
    run("sending stop", "wrong line", "--category", "like", "--yes")
    run("sending resume")
    run("sending resume", "--category", "comment")
    assert_exact(cloud, "sending")


@pytest.fixture
def recommending(socket_enabled: None) -> Iterator[Service]:
    """A recommendation service with one valid and one invalid item."""
    with serving() as running:
        listed = [*json.loads(items("a"))["items"], {"id": "b"}]
        running.answers(Reply(body=json.dumps({"items": listed}).encode()))
        yield running


def test_sources_commands_use_exactly_the_documented_permissions(
    cloud: Cloud, run: Run, monkeypatch: pytest.MonkeyPatch, recommending: Service
) -> None:
    """A reader is armed who was there before the stage had a source, and a schedule was lost."""
    for reader in ("ann", "bo"):
        cloud.say("subscriber.changed", profile(reader))
    with cloud.meter.acting("somebody else"):
        schedules = DynamoSchedules("schedules", shards=1)
        schedules.remove(a_daily("bo"))
        idle = a_daily("ann")  # as a crash has left it, between a choice and its schedule
        at_noon = replace(
            idle.armed(now() - timedelta(hours=1)), recurrence=Recurrence(12, 0, "UTC")
        )
        schedules.put(at_noon, replacing=idle)
    monkeypatch.setenv("GAZETTE_CONTENT_SOURCES", '["events", "recommendations"]')
    url = {"GAZETTE_RECOMMENDATIONS_URL": recommending.url}
    deploy("content", ContentSettings.from_env().to_env() | url)
    for name in ("content", "content-dead"):
        boto3.client("sqs").create_queue(QueueName=f"gazette-prod-{name}")
    with cloud.meter.acting("somebody else"):
        DynamoRateLimiter("pace", PacePlan(rate=9), name=RECOMMENDATIONS_ROW).trip("503", now())
    run("sources status")
    run("sources resume")
    run("sources stop", "it moves", "--yes")
    run("sources status")
    run("sources arm", said="n\n", exits=1)
    run("sources arm", "--yes")
    run("sources try", "--stage", "prod")
    assert_exact(cloud, "sources")
    assert {a_daily(reader).sources for reader in ("ann", "bo")} == {("events", "recommendations")}
    assert a_daily("ann").listed


def test_events_out_commands_use_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    deploy("outbox", OutboxSettings.from_env().to_env())
    cloud.say("subscriber.changed", profile("ann"))
    with cloud.meter.acting("somebody else"):
        boto3.client("s3").create_bucket(Bucket="outunpublished")
        keep_batch("outunpublished", a_batch(2))
        keep_batch("outunpublished", "no batch", key="aws/lambda/0/later")
    run("events-out republish", exits=1)
    run("events-out tell", "ann")
    run("events-out tell", "bo", exits=2)
    assert_exact(cloud, "events-out")


def a_daily(user_id: str) -> Schedule:
    found = DynamoSchedules("schedules", shards=1).get(user_id, DAILY)
    assert found
    return found


def test_rollback_command_uses_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    for step in ("followers", "resend", "sweep"):
        deploy(step, {})
    publish("a", *FUNCTIONS)
    run("rollback", "--list")
    run("rollback", "a", "--yes")
    assert_exact(cloud, "rollback")


def test_suppression_commands_use_exactly_the_documented_permissions(
    cloud: Cloud, run: Run, tmp_path: Any
) -> None:
    listed = tmp_path / "suppressed.csv"
    listed.write_text("address\nann@example.com\nann@example.com\n")
    cloud.answers["ListSuppressedDestinations"] = lambda _: {
        "SuppressedDestinationSummaries": [{"EmailAddress": "Bo@example.com"}]
    }
    cloud.answers["DeleteSuppressedDestination"] = lambda _: {}
    run("suppression add", "bo@example.com")
    run("suppression add", "bo@example.com")
    run("suppression import", str(listed))
    run("suppression list")
    run("suppression export")
    run("suppression remove", "bo@example.com", "--yes")
    run("suppression add", "bo@example.com")
    with cloud.meter.acting("somebody else"):
        suppressions = DynamoSuppressions("suppressions", key=SUPPRESSION_KEY, clock=now)
        suppressions.unsubscribe(address_hash("bo@example.com"), "bo")
    run("suppression remove", "bo@example.com", "--yes")
    assert_exact(cloud, "suppression")


def test_withdraw_commands_use_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    run("withdraw add", "--actor", "mallory", "--yes")
    run("withdraw list")
    run("withdraw remove", "--actor", "mallory", "--yes")
    assert_exact(cloud, "withdraw")


def test_import_commands_use_exactly_the_documented_permissions(
    cloud: Cloud, run: Run, tmp_path: Path
) -> None:
    lines = (files.reader(1), files.reader(2), files.follow(1), files.suppression(1))
    file = files.write(tmp_path / "readers.ndjson", *lines)
    with cloud.meter.acting("somebody else"):
        sqs = boto3.client("sqs")
        sqs.create_queue(QueueName="gazette-prod-ingest")
        url = sqs.create_queue(QueueName="gazette-prod-quarantine")["QueueUrl"]
        body = json.dumps({"source": "gazette.import"})
        SqsQuarantine(sqs, url).keep(body, "detail.follows.3: wrong")
    cloud.say("subscriber.changed", files.reader(1)["subscriber"])
    cloud.say("follow.created", files.follow(1)["follow"])
    run("import check", str(file))
    run("import run", str(file), "--yes", exits=1)
    run("import verify", str(file), exits=1)
    assert_exact(cloud, "import")


@pytest.mark.usefixtures("later")
def test_explain_command_uses_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    wait(cloud)
    cloud.say("follow.created", follow(frequency="weekly"))
    run("explain", "ann")
    cloud.work("generate", *fan_out(cloud))
    run("explain", "ann")
    assert_exact(cloud, "explain")


@pytest.mark.usefixtures("later")
def test_receipt_command_uses_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    wait(cloud)
    cloud.say("follow.created", follow(), follow(entity="blog#b1"))
    activity = event(2) | {"id": "a1"}
    del activity["user_id"]
    cloud.say("activity.created", activity | {"parent": {"type": "blog", "id": "b1", "title": "B"}})
    run("receipt", event(1)["id"], "--user", "ann")
    run("receipt", event(1)["id"], "--yes")
    run("receipt", "a1", "--entity", "post:p1", "--limit", "1")
    run("receipt", "a1", "--entity", "post:p1")
    run("receipt", "unknown", "--user", "ann", exits=1)
    cloud.work("generate", *fan_out(cloud))
    cloud.work("feedback", delivery_event())
    run("receipt", event(1)["id"], "--user", "ann")
    assert_exact(cloud, "receipt")


@pytest.mark.usefixtures("later")
def test_export_command_uses_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    wait(cloud)
    cloud.say("follow.created", follow())
    cloud.work("generate", *fan_out(cloud))
    cloud.work("feedback", delivery_event())
    run("export", "ann")
    run("export", "nobody", exits=1)
    assert_exact(cloud, "export")


@pytest.mark.long
def test_preview_command_uses_exactly_the_documented_permissions(
    cloud: Cloud, run: Run, tmp_path: Any
) -> None:
    wait(cloud)
    run("templates push", write_templates(tmp_path / "own", "News"), "--yes")
    run("preview", "--user", "ann", "--to", str(tmp_path), "--no-open")
    run("preview", "--version", "1", "--to", str(tmp_path), "--no-open")
    run("preview", "--version", "deployed", "--to", str(tmp_path), "--no-open")
    assert_exact(cloud, "preview")


def test_event_commands_use_exactly_the_documented_permissions(
    cloud: Cloud, run: Run, tmp_path: Any
) -> None:
    file = tmp_path / "events.json"
    details = {"event.created": event(1), "subscriber.changed": profile(), "event.retracted": {}}
    entries = [
        {"Source": "shop", "DetailType": kind, "Detail": each} for kind, each in details.items()
    ]
    file.write_text(json.dumps(entries))
    run("templates push", write_templates(tmp_path / "own", "News"), "--yes")
    run("event preview", str(file), exits=1)
    run("event preview", str(file), "--version", "1", exits=1)
    run("event preview", str(file), "--version", "deployed", exits=1)
    assert_exact(cloud, "event")


@pytest.mark.long
@pytest.mark.usefixtures("later")
def test_replay_command_uses_exactly_the_documented_permissions(
    cloud: Cloud, run: Run, tmp_path: Any
) -> None:
    wait(cloud)
    cloud.work("generate", *fan_out(cloud))
    own = tmp_path / "own"
    (own / "digest").mkdir(parents=True)
    page = ("--no-open", "--to", str(tmp_path / "page"))
    run("replay", *page, "--templates", str(own))
    run("replay", *page, "--user", "ann")
    line = own / "categories" / "comment" / "line.txt"
    line.parent.mkdir(parents=True)
    line.write_text("{{ group.data.stars }}")
    run("replay", *page, "--templates", str(own), exits=1)
    run("templates push", write_templates(tmp_path / "mine", "News"), "--yes")
    run("replay", *page, "--version", "1")
    assert_exact(cloud, "replay")


def write_templates(folder: Path, subject: str) -> str:
    """A folder of templates of one's own."""
    (folder / "digest").mkdir(parents=True, exist_ok=True)
    (folder / "digest" / "subject.txt").write_text(subject)
    (folder / "settings.json").write_text('{"max_blocks": 5}')
    return str(folder)


@pytest.mark.long
def test_templates_commands_use_exactly_the_documented_permissions(
    cloud: Cloud, run: Run, tmp_path: Path
) -> None:
    one, two = (write_templates(tmp_path / name, name) for name in ("one", "two"))
    run("templates list")
    run("templates push", one, "--note", "shorter", "--yes")
    run("templates push", two, "--percent", "5", "--yes")
    run("templates rollout", "50", "--yes")
    run("templates list", "--log")
    run("templates diff", "deployed", "1", exits=1)
    run("templates rollback", "--yes")
    run("templates push", two, "--yes")
    run("templates rollback", "1", "--yes")
    run("templates rollback", "--yes")
    assert_exact(cloud, "templates")


@pytest.mark.usefixtures("later")
def test_find_command_uses_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    wait(cloud)
    fan_out(cloud)
    run("find", "ann-daily-1")
    run("find", "0100019a-no-such-message", "--yes", exits=1)
    run("find", "ann@example.com", "--yes")
    assert_exact(cloud, "find")


@pytest.mark.usefixtures("later")
def test_overview_command_uses_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    make_queues()
    wait(cloud)
    fan_out(cloud)
    run("overview")
    assert_exact(cloud, "overview")


@pytest.mark.long
def test_statistics_command_uses_exactly_the_documented_permissions(cloud: Cloud, run: Run) -> None:
    run("statistics", "--batch", "2026-11-22T06:10Z")
    run("experiment start", "one", "1=1", "2=1")
    run("statistics", "--experiment", "one")
    assert_exact(cloud, "statistics")
