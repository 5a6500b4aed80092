"""docs/data-protection.md lists each place in the templates that holds data, and its retention."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gazette.adapters.dynamodb import tables as models
from gazette.adapters.dynamodb.client import Row

from gazette_cdk.topology import TABLES
from tests.infra.synthesis import Properties, Synthesis, Template

_PAGE = Path(__file__).parents[2] / "docs" / "data-protection.md"
_DAY = 24 * 60 * 60

_TABLES, _QUEUES, _LOGS, _OTHERS = "Tables", "Queues", "Logs, metrics and traces", "Buses, buckets"

_SECTIONS = {
    "AWS::DynamoDB::Table": _TABLES,
    "AWS::SQS::Queue": _QUEUES,
    "AWS::Logs::LogGroup": _LOGS,
    "AWS::Events::Archive": _OTHERS,
    "AWS::Events::EventBus": _OTHERS,
    "AWS::S3::Bucket": _OTHERS,
    "AWS::SNS::Topic": _OTHERS,
    "AWS::SecretsManager::Secret": _OTHERS,
}
"""The section of the page that lists the resources of a type."""

_WITHOUT_DATA = frozenset(
    {
        "AWS::ApiGatewayV2::Api",
        "AWS::ApiGatewayV2::ApiMapping",
        "AWS::ApiGatewayV2::DomainName",
        "AWS::ApiGatewayV2::Integration",
        "AWS::ApiGatewayV2::Route",
        "AWS::ApiGatewayV2::Stage",
        "AWS::CertificateManager::Certificate",
        "AWS::CloudFront::Distribution",
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::Dashboard",
        "AWS::Events::Rule",
        "AWS::IAM::ManagedPolicy",
        "AWS::IAM::Policy",
        "AWS::IAM::Role",
        "AWS::Lambda::Alias",
        "AWS::Lambda::EventInvokeConfig",
        "AWS::Lambda::EventSourceMapping",
        "AWS::Lambda::Function",
        "AWS::Lambda::LayerVersion",
        "AWS::Lambda::Permission",
        "AWS::Lambda::Version",
        "AWS::Logs::MetricFilter",
        "AWS::Route53::RecordSet",
        "AWS::S3::BucketPolicy",
        "AWS::SES::ConfigurationSet",
        "AWS::SES::ConfigurationSetEventDestination",
        "AWS::SES::EmailIdentity",
        "AWS::SNS::Subscription",
        "AWS::SNS::TopicPolicy",
        "AWS::SSM::Parameter",
        "AWS::SQS::QueuePolicy",
        "AWS::Scheduler::Schedule",
        "AWS::WAFv2::WebACL",
    }
)
"""Types of resources that store no data of readers."""

_TECHNICAL = {
    "subscribers": {"routed_for", "routes_since", "revision"},
    "schedules": {"sequence", "revision", "changed_at", "state", "due", "sources", "fetched_at"}
    | {"fetched_for"},
    "follows": {"expires_at"},
    "activities": {"retracted", "walked", "expires_at"},
    "events": {"lasts_until", "expires_at"},
    "runs": {"check_at", "open", "batch", "attempt", "refusals", "epoch", "uncertain", "resent"}
    | {"overtaken", "retry_at", "since", "until", "deadline", "nonce", "detail", "sources"}
    | {"asked_at", "without", "templates", "templates_gone", "expires_at"}
    | {"head", "head_sent_until", "step", "removed"},
    "engagement": {"slot", "due_in", "templates", "expires_at"},
    "suppressions": set(),
    "bounces": {"expires_at"},
    "control": {"kind", "id", "slot", "since", "until", "started_at", "cancelled_at", "name"}
    | {"weights", "by_hand", "version", "checksum", "settings", "bytes", "candidate", "percent"}
    | {"candidate_checksum", "candidate_settings", "release", "layer", "revision", "expires_at"},
    "pace": {"name", "quota", "quota_at", "used_up_at", "daily", "left", "next_at", "set_back_at"}
    | {"stretch_at", "stretch_taken", "last_taken", "day", "taken", "breaker_since"}
    | {"breaker_until", "breaker_step", "breaker_by_hand", "breaker_is_probed"},
    "category_stats": {"category", "hour", "sent", "bounced", "complained", "expires_at"},
}
"""Attributes of each table that describe no person, so that the page does not name them."""


@pytest.fixture(scope="session")
def templates(
    prod: Synthesis,
    tracking: Synthesis,
    asking: Synthesis,
    guarded: Synthesis,
    fronted: Synthesis,
    publishing: Synthesis,
    serving: Synthesis,
) -> list[Template]:
    """The templates of stages that together have every feature."""
    built = (prod, tracking, asking, guarded, fronted, publishing, serving)
    return [part for each in built for part in (each.data, each.service, each.front) if part]


def _rows(section: str) -> Iterator[list[str]]:
    """Yield the cells of each row of the table in a section of the page."""
    text = _PAGE.read_text().partition(f"\n## {section}")[2].partition("\n## ")[0]
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    for row in rows[2:]:
        yield [cell.strip() for cell in row.strip("|").split(" | ")]


def _by_name(section: str) -> dict[str, list[str]]:
    """Return the other cells of each name in code in the first cell of a row."""
    return {name: cells for name, *cells in _named(section)}


def _named(section: str) -> Iterator[list[str]]:
    for first, *cells in _rows(section):
        yield from ([name, *cells] for name in re.findall(r"`([^`]+)`", first))


def _resources(templates: list[Template], kind: str) -> dict[str, Properties]:
    """Return the properties of the resources of a type, by the names on the page."""
    return {
        _name(kind, logical_id, properties): properties
        for template in templates
        if template.has(kind)
        for logical_id, properties in template.of_type(kind).items()
    }


def _name(kind: str, logical_id: str, properties: Properties) -> str:
    match kind:
        case "AWS::DynamoDB::Table":
            by_id = {each.name.title().replace("_", ""): each.name for each in TABLES}
            return by_id[logical_id]
        case "AWS::SQS::Queue":
            return str(properties["QueueName"]).removeprefix("gazette-prod-")
        case "AWS::Logs::LogGroup":
            return str(properties["LogGroupName"]).replace("gazette-prod-", "gazette-<stage>-")
    return logical_id


def _unlisted(resources: dict[str, Properties], section: str) -> set[str]:
    return resources.keys() - _by_name(section).keys()


@pytest.mark.parametrize("kind", _SECTIONS)
def test_every_place_with_data_is_documented(templates: list[Template], kind: str) -> None:
    resources = _resources(templates, kind)
    assert resources
    assert _unlisted(resources, _SECTIONS[kind]) == set()


def test_undocumented_place_with_data_is_detected() -> None:
    assert _unlisted({"ingest": {}, "another": {}}, _QUEUES) == {"another"}


def test_every_resource_type_is_classified(templates: list[Template]) -> None:
    kinds = {resource["Type"] for each in templates for resource in each.resources.values()}
    assert kinds - _WITHOUT_DATA - _SECTIONS.keys() == set(), "does it hold data of readers?"


def test_page_lists_only_existing_places(templates: list[Template]) -> None:
    for kind in ("AWS::DynamoDB::Table", "AWS::SQS::Queue"):
        assert _by_name(_SECTIONS[kind]).keys() == _resources(templates, kind).keys()


def test_queues_and_logs_have_the_documented_retention(templates: list[Template]) -> None:
    queues = _resources(templates, "AWS::SQS::Queue")
    logs = _resources(templates, "AWS::Logs::LogGroup")
    seconds = {name: each["MessageRetentionPeriod"] for name, each in queues.items()}
    days = {name: value // _DAY for name, value in seconds.items()}
    days |= {name: each["RetentionInDays"] for name, each in logs.items()}
    on_page = {name: cells[-1] for name, cells in (_by_name(_QUEUES) | _by_name(_LOGS)).items()}
    assert {name: on_page[name] for name in days} == {
        name: f"{value} days" for name, value in days.items()
    }


def test_tables_have_the_documented_expiry_and_backups(prod: Synthesis) -> None:
    for name, table in _resources([prod.data], "AWS::DynamoDB::Table").items():
        _, expiry, backups, _ = _by_name(_TABLES)[name]
        recovery = table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"]
        assert backups == ("yes" if recovery else "no"), name
        assert (expiry == "none") == ("TimeToLiveSpecification" not in table), name


@pytest.mark.parametrize("table", [table.name for table in TABLES])
def test_every_table_attribute_is_classified_as_personal_or_technical(table: str) -> None:
    """A new attribute belongs on the page, or to `_TECHNICAL`."""
    on_page = set(re.findall(r"`(\w+)`", _by_name(_TABLES)[table][0]))
    assert on_page & _TECHNICAL[table] == set()
    attributes = set(_model(table).get_attributes())
    assert attributes - on_page == _TECHNICAL[table]
    assert on_page - attributes <= {"user_id"}, "engagement has the user id within the run id"


def _model(table: str) -> type[Row]:
    (model,) = (
        each
        for each in vars(models).values()
        if isinstance(each, type)
        and issubclass(each, Row)
        and (each.__doc__ or "").startswith(f"The `{table}` table")
    )
    return model


def test_resources_copy_data_only_to_documented_places(
    templates: list[Template],
) -> None:
    tables = _resources(templates, "AWS::DynamoDB::Table")
    (sentence,) = re.findall(r"The tables ([^.]*?) have a\n\[stream\]", _PAGE.read_text())
    streamed = {name for name, table in tables.items() if "StreamSpecification" in table}
    assert streamed == {*re.findall(r"`(\w+)`", sentence)}
    for table in tables.values():
        assert table.keys() & {"KinesisStreamSpecification", "Replicas"} == set()
    for distribution in _resources(templates, "AWS::CloudFront::Distribution").values():
        assert "Logging" not in distribution["DistributionConfig"]
    for function in _resources(templates, "AWS::Lambda::Function").values():
        assert "TracingConfig" not in function
    for rules in _resources(templates, "AWS::WAFv2::WebACL").values():
        assert not rules["VisibilityConfig"]["SampledRequestsEnabled"]
    for bucket in _resources(templates, "AWS::S3::Bucket").values():
        assert bucket.keys() & {"LoggingConfiguration", "ReplicationConfiguration"} == set()


def test_events_are_routed_only_to_queues_of_the_stage(templates: list[Template]) -> None:
    for rule in _resources(templates, "AWS::Events::Rule").values():
        assert [_is_queue(target["Arn"]) for target in rule["Targets"]] == [True]
    for subscription in _resources(templates, "AWS::SNS::Subscription").values():
        assert subscription["Protocol"] in {"sqs", "email"}
    for each in _resources(templates, "AWS::SES::ConfigurationSetEventDestination").values():
        destination: dict[str, Any] = each["EventDestination"]
        places = {name for name in destination if name.endswith("Destination")}
        assert places <= {"EventBridgeDestination", "SnsDestination"}


def _is_queue(arn: str) -> bool:
    return re.fullmatch(r"\{\w+Queue\.Arn\}", arn) is not None
