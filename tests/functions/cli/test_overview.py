"""`gazette overview` on moto: everything about a stage on one screen."""

import inspect
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from gazette.adapters.aws.queues import decode_run_key
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.control.withdrawals import DynamoWithdrawals
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.tables import ControlRow
from gazette.domain.dead_letters import KNOWN, OPTIONAL
from gazette.domain.delivery.signals import Claim, Uncertain
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.model import RunKey, Window
from gazette.domain.withdrawing.withdrawals import Withdrawal, WithdrawalKind, WithdrawalList
from gazette.settings.delivery import GenerateSettings
from gazette.settings.fanout import FanoutSettings
from gazette.steps.runs import apply
from rich.console import Console
from typer.testing import CliRunner, Result

from gazette_cli.main import app
from gazette_cli.overview.command import LIVE, overview
from gazette_cli.shared import answers, live
from tests.builders import NOW, a_run
from tests.functions.cli.test_batches import slot, wait
from tests.functions.conftest import Cloud, fan_out
from tests.functions.deployed import deploy, publish_layer
from tests.functions.pushed import push_version
from tests.shapes import check, fields_of
from tests.unit.house.test_docs import wrong_commands

ALARM = {
    "AlarmDescription": "NOW: nothing. See docs/runbook/late.md.",
    "Namespace": "Gazette",
    "MetricName": "oldest_due_age",
    "Period": 60,
    "EvaluationPeriods": 1,
    "Threshold": 1,
    "ComparisonOperator": "GreaterThanThreshold",
    "Statistic": "Maximum",
}


@pytest.fixture
def stage(cloud: Cloud) -> Cloud:
    """A stage with all queues, and three readers with a digest due in one slot."""
    deploy("fanout", FanoutSettings.from_env().to_env())
    deploy("generate", GenerateSettings.from_env().to_env())
    make_queues()
    cloud.begin(wait)
    cloud.meter.clear()
    return cloud


def make_queues() -> None:
    for name in (*LIVE, *(dead.name for dead in KNOWN), "quarantine"):
        boto3.client("sqs").create_queue(QueueName=f"gazette-prod-{name}")


def put(name: str, body: str = "{}") -> None:
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName=f"gazette-prod-{name}")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody=body)


def trouble(cloud: Cloud) -> None:
    """One of everything that somebody should look at."""
    first, _ = fan_out(cloud)
    runs = DynamoRuns("runs", retention=timedelta(days=180))
    (pending,) = runs.chain(decode_run_key(first))
    claimed = apply(pending, Claim(Window(NOW, NOW), deadline=NOW, nonce="n"), runs=runs)
    apply(claimed, Uncertain(1, "timeout", check_at=datetime.now(UTC)), runs=runs)
    due_at = datetime.now(UTC) - timedelta(hours=2)
    runs.create(replace(a_run(), key=RunKey("zoe", "daily", 1), due_at=due_at))
    put("generate-dead")
    put("quarantine")
    DynamoCategoryHolds("control").add(
        category_hold("comment", "complaints\x1b[2J", datetime.now(UTC))
    )
    alarms = boto3.client("cloudwatch")
    for name in ("gazette-prod-sweep-silent", "gazette-prod-calm", "gazette-test-sweep-silent"):
        alarms.put_metric_alarm(AlarmName=name, **ALARM)
        state = "OK" if name.endswith("calm") else "ALARM"
        alarms.set_alarm_state(AlarmName=name, StateValue=state, StateReason="a test")


def run(cloud: Cloud, *arguments: str) -> Result:
    with cloud.meter.acting("an operator"):
        done = CliRunner().invoke(app, ["overview", *arguments])
    assert done.exit_code == 0, done.output
    return done


def told(result: Result) -> list[list[str]]:
    return [line.split("\t") for line in result.stdout.splitlines()]


def test_overview_of_a_healthy_stage_has_only_ok_lines(cloud: Cloud) -> None:
    deploy("fanout", FanoutSettings.from_env().to_env())
    deploy("generate", GenerateSettings.from_env().to_env())
    make_queues()
    lines = told(run(cloud))
    assert {level for level, *_ in lines} == {"ok"}
    by_area = {area: text for _, area, text, _ in lines}
    assert by_area["alarm"] == "no raised alarm"
    assert by_area["oldest run"] == "no run is waiting to be sent"
    assert by_area["current batch"] == "no batch"
    assert by_area["queues"].startswith("ingest 0, followers 0, shard 0, immediate 0")


@pytest.mark.usefixtures("later")
def test_problems_are_listed_first_with_the_next_command(stage: Cloud) -> None:
    due = slot()
    trouble(stage)
    lines = told(run(stage))
    levels = [level for level, *_ in lines]
    assert levels == sorted(levels, key=["problem", "warning", "ok"].index)
    found = {(level, area): (text, command) for level, area, text, command in lines}
    text, command = found["problem", "alarm"]
    assert text.startswith("sweep-silent, since ")
    assert command == "see docs/runbook/late.md"
    assert found["problem", "dead letters"] == (
        "1 in generate-dead",
        "gazette dlq show generate-dead",
    )
    assert found["problem", "quarantine"][1] == "gazette quarantine list"
    assert found["problem", "oldest run"][0].startswith("due at ")
    assert found["warning", "unknown"] == (
        f"1 email of batch {due} may have been sent",
        f"gazette batch show {due}",
    )
    assert found["warning", "held"][0].endswith("complaints?[2J")
    assert found["ok", "current batch"][1] == f"gazette batch show {due}"
    assert "test-sweep-silent" not in str(lines)
    for _, _, _, command in lines:
        assert wrong_commands(f"`{command}`") == []


@pytest.mark.usefixtures("later")
def test_overview_json_contains_every_figure(stage: Cloud) -> None:
    trouble(stage)
    done = run(stage, "--json")
    assert check("overview", done) == fields_of("overview")
    document = json.loads(done.stdout)
    assert document["unknown"] == 1
    assert document["dead_letters"]["generate-dead"] == 1
    assert [each["alarm"] for each in document["alarms"]] == ["sweep-silent"]


def templates_line(result: Result) -> list[str]:
    (found,) = (line for line in told(result) if line[1] == "templates")
    return found


def test_overview_shows_template_version_and_later_deployments(
    cloud: Cloud,
) -> None:
    deploy("fanout", FanoutSettings.from_env().to_env())
    layer = publish_layer("Core", b"x")
    deploy("generate", GenerateSettings.from_env().to_env(), layer)
    make_queues()
    command = "gazette templates list"
    everybody = "all readers get the deployed templates"
    assert templates_line(run(cloud)) == ["ok", "templates", everybody, command]
    with cloud.meter.acting("somebody else"):
        push_version(layer=layer)
    everybody = "all readers get version 1"
    assert templates_line(run(cloud)) == ["ok", "templates", everybody, command]
    with cloud.meter.acting("somebody else"):
        push_version(layer="another", percent=5)
    level, _, text, _ = templates_line(run(cloud))
    assert level == "warning"
    assert text == (
        "5 % of the readers get version 2, others version 1; the stage was deployed after the push"
    )


def test_unreadable_template_row_does_not_hide_remaining_overview_lines(
    stage: Cloud,
) -> None:
    with stage.meter.acting("somebody else"):
        push_version(layer="")
        ControlRow("templates", "in_force").update(actions=[ControlRow.version.set(-1)])
    level, _, text, _ = templates_line(run(stage))
    assert level == "problem"
    assert "cannot be read" in text
    assert check("overview", run(stage, "--json"))


def test_next_due_digests_are_counted_by_slot(
    stage: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = datetime.fromisoformat(slot()) - timedelta(minutes=10)
    monkeypatch.setattr("gazette_support.bootstrap.batches.now", lambda: before)
    document = json.loads(run(stage, "--json").stdout)
    assert [each["digests"] for each in document["due"]] == [0, 3, 0]


def test_manual_stop_is_shown_with_the_resume_command(stage: Cloud) -> None:
    CliRunner().invoke(app, ["sending", "stop", "wrong subject", "--yes"])
    stops = [line for line in told(run(stage)) if line[1] == "stopped"]
    assert [(level, command) for level, _, _, command in stops] == [
        ("warning", "gazette sending resume")
    ] * 2


def withdraw(cloud: Cloud, number: int) -> list[str]:
    """Return the line about this many withdrawals, the first of which is five days old."""
    now = datetime.now(UTC)
    each = Withdrawal(WithdrawalKind.ACTOR, "bo", now, now + timedelta(days=30))
    others = [replace(each, id=f"bo{other}") for other in range(number - 1)]
    with cloud.meter.acting("somebody else"):
        store = DynamoWithdrawals("control")
        oldest = replace(each, at=now - timedelta(days=5))
        store.change(WithdrawalList((oldest, *others), store.read().revision + 1))
    (line,) = (line for line in told(run(cloud)) if line[1] == "withdrawn")
    return line


def test_withdrawals_are_counted_and_a_full_list_is_a_warning(stage: Cloud) -> None:
    assert "withdrawn" not in {area for _, area, _, _ in told(run(stage))}
    level, _, text, command = withdraw(stage, 2)
    assert level == "ok"
    assert text.startswith("2 of at most 100 withdrawals, the oldest for 5 days, 0:00:")
    assert command == "gazette withdraw list"
    assert withdraw(stage, 100)[0] == "warning"
    assert json.loads(run(stage, "--json").stdout)["withdrawals"] == 100


def test_ended_withdrawal_has_no_line(stage: Cloud) -> None:
    now = datetime.now(UTC)
    ended = Withdrawal(WithdrawalKind.ACTOR, "bo", now - timedelta(days=300), now)
    with stage.meter.acting("somebody else"):
        DynamoWithdrawals("control").change(WithdrawalList((ended,), 1))
    assert "withdrawn" not in {area for _, area, _, _ in told(run(stage))}


@pytest.mark.usefixtures("later")
def test_overview_refresh_makes_the_documented_number_of_calls(
    stage: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look again: the first one also reads the settings, and where the queues are.

    In a stage that asks no content source, which has no queue for that.
    """
    sqs = boto3.client("sqs")
    for name in OPTIONAL:
        sqs.delete_queue(QueueUrl=sqs.get_queue_url(QueueName=f"gazette-prod-{name}")["QueueUrl"])
    fan_out(stage)
    looked: list[Any] = []

    def calls() -> None:
        looked.append(stage.meter.calls.copy())
        if len(looked) == 2:
            raise KeyboardInterrupt

    watching(monkeypatch, calls)
    run(stage)
    first, second = looked
    assert second - first == _calls(shards=1, batches=1)
    said = inspect.getdoc(overview) or ""
    calls_of_16_shards = _calls(shards=16, batches=3).total()
    documented = f"In a stage with 16 shards, a refresh makes {calls_of_16_shards} AWS calls"
    assert documented in " ".join(said.split())


def _calls(*, shards: int, batches: int) -> Counter[str]:
    partitions = 16
    return Counter(
        {
            "dynamodb.Query": 3 * shards  # due in each of three slots
            + partitions  # open runs
            + 1  # the latest batches, of which there may be three
            + batches * (shards + partitions)
            + 1,  # held categories
            "dynamodb.GetItem": 2  # the pace of both streams
            + 2,  # which templates are in force, and the withdrawals
            "sqs.GetQueueAttributes": len(LIVE) + len(KNOWN) - len(OPTIONAL) + 1,
            "cloudwatch.DescribeAlarms": 1,
        }
    )


def watching(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """On a terminal, `act` happens while the command waits for its next look."""
    for module in (live, answers):
        monkeypatch.setattr(module, "Console", lambda: Console(force_terminal=True, width=120))
    monkeypatch.setattr(live, "_pause", lambda _: act())


@pytest.mark.usefixtures("later")
def test_terminal_overview_refreshes_until_interrupted(
    stage: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []

    def meanwhile() -> None:
        looks.append(1)
        if len(looks) == 2:
            raise KeyboardInterrupt
        with stage.meter.acting("somebody else"):
            put("generate-dead")

    watching(monkeypatch, meanwhile)
    shown = run(stage).stdout
    assert "1 in generate-dead" in shown
    assert len(looks) == 2
    looks.clear()
    assert "Stage prod" in run(stage, "--once").stdout
    assert looks == []
