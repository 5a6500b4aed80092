"""`gazette doctor` on moto: what it asks, what it may not ask, and with which code it ends."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.control.evidence import DynamoEvidenceLog
from gazette.adapters.dynamodb.tables import ControlRow
from gazette.domain.scheduling.calendar import SLOT, slot_of
from gazette.settings.content import ContentSettings
from gazette.settings.delivery import GenerateSettings
from gazette.settings.sweep import SweepSettings
from typer.testing import CliRunner, Result

from gazette_cdk.concurrency import senders
from gazette_cli.doctor import command
from gazette_cli.main import app
from proofs.sources.service import Reply, Service, serving
from tests.functions.cli.conftest import outside
from tests.functions.conftest import Cloud
from tests.functions.deployed import deploy
from tests.functions.pushed import push_version
from tests.unit.support.test_doctor_mail import ACCOUNT, DESTINATION, IDENTITY
from tests.unit.support.test_doctor_sets import SET

_QUEUES = "https://sqs.us-east-1.amazonaws.com/123456789012/gazette-prod"
_GENERATE = senders(10, immediate_share=20)["generate"]
_RESOURCES = {
    "AWS::DynamoDB::Table": "runs",
    "AWS::SQS::Queue": f"{_QUEUES}-generate-dead",
    "AWS::SNS::Topic": "arn:aws:sns:us-east-1:123456789012:GazetteProd-Alarms",
    "AWS::Scheduler::Schedule": "GazetteProd-Tick",
    "AWS::Events::Rule": "GazetteProd-DeliveryEventsByBus",
    "AWS::Lambda::Alias": "arn:aws:lambda:us-east-1:123456789012:function:gazette-prod-sweep:live",
    "AWS::Lambda::EventSourceMapping": "uuid",
    "AWS::Lambda::Function": "gazette-prod-sweep",
    "AWS::SES::ConfigurationSet": "gazette-prod-digest",
    "AWS::CloudWatch::Alarm": "gazette-prod-concurrency-nearly-used-up",
}
_MAPPED = {
    "BatchSize": _GENERATE.batch,
    "ScalingConfig": {"MaximumConcurrency": _GENERATE.concurrency},
}
_MADE: dict[str, Mapping[str, Any]] = {
    "AWS::SQS::Queue": {"VisibilityTimeout": 30},
    "AWS::Lambda::EventSourceMapping": {
        "EventSourceArn": {"Fn::GetAtt": ["Queue1234ABCD", "Arn"]},
        **_MAPPED,
    },
    "AWS::SES::ConfigurationSet": SET,
    "AWS::CloudWatch::Alarm": {
        "AlarmName": "gazette-prod-concurrency-nearly-used-up",
        "Threshold": 900,
    },
}
"""What the template says of them; of the table, what moto has."""


def listed(request: dict[str, Any]) -> dict[str, Any]:
    """All resources are in the service stack; the data stack is empty."""
    found = [(f"R{number}", *each) for number, each in enumerate(_RESOURCES.items())]
    found.append(("Queue1234ABCD", "AWS::SQS::Queue", f"{_QUEUES}-generate"))
    found.append(("Bus1234ABCD", "AWS::Events::EventBus", "gazette"))
    found.append(("OutBus1234ABCD", "AWS::Events::EventBus", "gazette-prod-out"))
    names = ("LogicalResourceId", "ResourceType", "PhysicalResourceId")
    summaries = [dict(zip(names, each, strict=True)) for each in found]
    return {"StackResourceSummaries": summaries if request["StackName"] == "GazetteProd" else []}


def template(_: object) -> dict[str, Any]:
    described = boto3.client("dynamodb").describe_table(TableName="runs")["Table"]
    kept = ("KeySchema", "GlobalSecondaryIndexes", "LocalSecondaryIndexes")
    table = {name: described[name] for name in kept if name in described}
    made = {"AWS::DynamoDB::Table": table, **_MADE}
    resources = {
        f"R{number}": {"Properties": made.get(kind, {})} for number, kind in enumerate(_RESOURCES)
    }
    return {"TemplateBody": {"Resources": resources}}


def always(answer: Any) -> Callable[[object], Any]:
    return lambda _: answer


@pytest.fixture
def source(socket_enabled: None) -> Iterator[Service]:
    """The recommendation service of the stage."""
    with serving() as running:
        yield running


@pytest.fixture
def stage(cloud: Cloud, source: Service, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """A stage that is well; moto knows its tables and queues, and `cloud.answers` says the rest."""
    asking = {"GAZETTE_CONTENT_SOURCES": '["events", "recommendations"]'}
    rate = {"GAZETTE_EMAILS_PER_SECOND": "10"}
    deploy("generate", GenerateSettings.from_env().to_env() | rate | asking)
    url = {"GAZETTE_RECOMMENDATIONS_URL": source.url}
    deploy("content", ContentSettings.from_env().to_env() | asking | url)
    deploy("sweep", SweepSettings.from_env().to_env())
    for name in ("gazette-prod-generate", "gazette-prod-generate-dead"):
        boto3.client("sqs").create_queue(QueueName=name)
    with cloud.meter.acting("somebody else"):
        batches = DynamoBatches("control", retention=SLOT, clock=lambda: datetime.now(UTC))
        batches.save_checkpoint(0, slot_of(datetime.now(UTC)) - SLOT)
    answers: dict[str, Any] = {
        "GetAccount": ACCOUNT,
        "GetEmailIdentity": IDENTITY,
        "GetConfigurationSet": SET,
        "GetConfigurationSetEventDestinations": {"EventDestinations": [DESTINATION]},
        "GetAccountSettings": {"AccountLimit": {"ConcurrentExecutions": 1000}},
        "DescribeAlarms": {"MetricAlarms": []},
        "GetMetricStatistics": {"Datapoints": [{"Sum": 6.0}]},
        "ListSubscriptionsByTopic": {"Subscriptions": [{"SubscriptionArn": "arn:…"}]},
        "GetSchedule": {"State": "ENABLED"},
        "DescribeRule": {"State": "ENABLED"},
        "DescribeEventBus": {"Arn": "arn:aws:events:us-east-1:123456789012:event-bus/gazette"},
        "ListRuleNamesByTarget": {"RuleNames": []},
        "GetEventSourceMapping": {"State": "Enabled", **_MAPPED},
        "GetAlias": {"FunctionVersion": "2"},
        "ListVersionsByFunction": {"Versions": [{"Version": "$LATEST"}, {"Version": "2"}]},
    }
    cloud.answers |= {operation: always(answer) for operation, answer in answers.items()}
    cloud.answers |= {"ListStackResources": listed, "GetTemplate": template}
    with cloud.meter.acting("somebody else"):
        push_version()
    monkeypatch.setattr(command, "text_records", lambda _: ["v=DMARC1; p=none"])
    cloud.meter.clear()
    return cloud


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["doctor", *arguments])


def wrong(done: Result) -> list[dict[str, str]]:
    return [each for each in json.loads(done.stdout)["findings"] if each["level"] != "ok"]


def test_doctor_of_a_healthy_stage_exits_with_0_and_changes_no_data(stage: Cloud) -> None:
    done = run("--json")
    assert (done.exit_code, wrong(done)) == (0, [])
    checks = [each["check"] for each in json.loads(done.stdout)["findings"]]
    assert "version" in checks
    reads = ("Get", "List", "Describe", "Query")
    assert [
        call for call in stage.meter.calls if not call.partition(".")[2].startswith(reads)
    ] == []


def test_doctor_canary_email_adds_a_finding(stage: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """Feedback notes the event while the command waits. Every granted call is made."""

    def sleep(_: float) -> None:
        with stage.meter.acting("feedback"):
            DynamoEvidenceLog("control").record(datetime.now(UTC))

    monkeypatch.setattr(time, "sleep", sleep)
    with stage.meter.acting("doctor"):
        done = run("--send", "--json")
    assert (done.exit_code, wrong(done)) == (0, [])
    (sent,) = stage.sent()
    assert sent["Destination"] == {"ToAddresses": ["success@simulator.amazonses.com"]}
    assert sent["ConfigurationSetName"] == GenerateSettings.from_env().configuration_set
    assert json.loads(done.stdout)["findings"][-1]["check"] == "canary"
    assert outside("doctor", stage.meter.grants["doctor"]) == (set(), set())


def test_doctor_queries_the_content_source_once(stage: Cloud, source: Service) -> None:
    assert run("--json").exit_code == 0
    assert len(source.requests) == 1
    source.answers(Reply(status=500))
    done = run("--json")
    assert (done.exit_code, [each["check"] for each in wrong(done)]) == (1, ["content source"])


def test_doctor_problem_exits_with_1_and_is_listed_first(stage: Cloud) -> None:
    stage.answers["DescribeRule"] = lambda _: {"State": "DISABLED"}
    stage.answers["GetAccount"] = lambda _: {**ACCOUNT, "ProductionAccessEnabled": False}
    done = run("--json")
    assert done.exit_code == 1
    assert [(each["check"], each["level"]) for each in wrong(done)] == [
        ("rule R4", "problem"),
        ("ses sandbox", "warning"),
    ]
    document = json.loads(done.stdout)
    assert (document["problems"], document["warnings"], document["unseen"]) == (1, 1, 0)
    assert run().stdout.startswith("rule R4\tproblem\tDISABLED\tEnable the rule in EventBridge")


def test_doctor_names_changed_configuration_sets_and_queues(stage: Cloud) -> None:
    stage.answers["GetConfigurationSet"] = lambda _: {
        **SET,
        "DeliveryOptions": {"TlsPolicy": "REQUIRE"},
    }
    stage.answers["GetEventSourceMapping"] = lambda _: (
        {"State": "Enabled", **_MAPPED} | {"BatchSize": 7}
    )
    stage.answers["GetAccountSettings"] = lambda _: {"AccountLimit": {"ConcurrentExecutions": 500}}
    done = run("--json")
    assert done.exit_code == 0
    assert {(each["check"], each["level"]): each["seen"] for each in wrong(done)} == {
        ("configuration set gazette-prod-digest", "warning"): (
            "DeliveryOptions.TlsPolicy is REQUIRE, not OPTIONAL"
        ),
        ("mapping generate", "warning"): f"BatchSize is 7, not {_GENERATE.batch}",
        ("account concurrency", "warning"): (
            "the account's limit is 500, but `account_concurrency` is 1000: "
            "gazette-prod-concurrency-nearly-used-up fires too late or never"
        ),
    }


def test_doctor_compares_deployed_sizes_with_the_rate(
    stage: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {**_MAPPED, "ScalingConfig": {"MaximumConcurrency": 40}}
    made = _MADE["AWS::Lambda::EventSourceMapping"]
    monkeypatch.setitem(_MADE, "AWS::Lambda::EventSourceMapping", {**made, **many})
    stage.answers["GetEventSourceMapping"] = lambda _: {"State": "Enabled", **many}
    (finding,) = wrong(run("--json"))
    assert (finding["check"], finding["level"]) == ("size generate", "warning")
    assert finding["todo"].startswith("In the `concurrency` setting, set `generate` to ")


def findings_of_templates(done: Result) -> dict[str, tuple[str, str]]:
    found = json.loads(done.stdout)["findings"]
    return {
        each["check"]: (each["level"], each["seen"])
        for each in found
        if each["check"].startswith("templates")
    }


def test_rule_from_events_out_to_the_incoming_bus_is_a_warning(stage: Cloud) -> None:
    requests: list[Any] = []

    def rules(request: Any) -> dict[str, Any]:
        requests.append(request)
        return {"RuleNames": ["to-our-bus"]}

    stage.answers["ListRuleNamesByTarget"] = rules
    done = run("--json")
    assert done.exit_code == 0, done.output
    (finding,) = (each for each in wrong(done) if each["check"] == "events out")
    assert finding["level"] == "warning"
    assert "to-our-bus" in finding["seen"]
    ((target, bus),) = ((each["TargetArn"], each["EventBusName"]) for each in requests)
    assert target.endswith("event-bus/gazette")
    assert bus == "gazette-prod-out"


def test_deployment_after_a_template_push_is_a_warning(stage: Cloud) -> None:
    with stage.meter.acting("somebody else"):
        push_version(layer="another")
    done = run("--json")
    assert done.exit_code == 0
    assert findings_of_templates(done)["templates and deployment"][0] == "warning"
    (finding,) = wrong(done)
    assert "readers do not get the deployed templates" in finding["todo"]


def test_unreadable_template_row_is_a_doctor_problem(stage: Cloud) -> None:
    ControlRow("templates", "in_force").update(actions=[ControlRow.version.set(-1)])
    found = findings_of_templates(run("--json"))
    assert {check: level for check, (level, _) in found.items()} == {
        "templates in force": "problem"
    }


def test_doctor_warning_exits_with_0(stage: Cloud) -> None:
    stage.answers["GetAccount"] = lambda _: {**ACCOUNT, "ProductionAccessEnabled": False}
    assert run().exit_code == 0


def test_missing_doctor_permission_names_the_action_and_exits_with_2(
    stage: Cloud,
) -> None:
    def denied(_: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDeniedException"}}, "Any")

    for operation in ("GetAccount", "GetEmailIdentity", "GetSchedule", "DescribeAlarms"):
        stage.answers[operation] = denied
    done = run("--json")
    assert done.exit_code == 2
    assert {each["level"] for each in wrong(done)} == {"unseen"}
    assert {each["seen"] for each in wrong(done)} == {
        "needs ses:GetAccount",
        "needs ses:GetEmailIdentity",
        "needs scheduler:GetSchedule",
        "needs cloudwatch:DescribeAlarms",
    }


def test_doctor_of_a_missing_stage_exits_with_2(cloud: Cloud) -> None:
    assert run("--stage", "other").exit_code == 2
