"""Tests of the construct `Gazette` in the app of an adopter with tags, a permission boundary, a key
and a VPC."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_sns as sns
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from gazette_cdk import Gazette, Refused
from gazette_cdk.topology import CONTENT
from tests.infra.app import SETTINGS, Resources, new_app

REGION = "eu-central-1"
PAGE = (Path(__file__).parents[2] / "docs" / "customer-managed-key.md").read_text()
ASKS = {
    "content_sources": ["events", "recommendations"],
    "recommendations_url": "https://recommend.shop.dev:8443/v1/items",
}
COMPLETE = {
    **ASKS,
    "feedback_by_sns": True,
    "archive_days": 7,
    "events_out": ["subscriber.left", "email.sent", "email.delivered"],
    "services_api": {"requests_per_second": 20, "return": True},
}
"""Settings with which a stage has every kind of resource that stores data."""


class Adopter:
    """An app with tags, a permission boundary, and objects that it passes to Gazette.

    The CDK applies aspects and tags of an app only to stacks outside of CDK stages, so they are on
    the CDK stage.
    """

    def __init__(self) -> None:
        app = new_app()
        production = cdk.Stage(
            app, "Prod", env=cdk.Environment(account="123456789012", region=REGION)
        )
        self.shop = cdk.Stack(production, "Shop")
        cdk.Tags.of(production).add("cost-center", "4711")
        iam.PermissionsBoundary.of(production).apply(
            iam.ManagedPolicy.from_managed_policy_name(self.shop, "Limit", "limit")
        )
        shared = cdk.Stack(production, "Shared")
        topic = sns.Topic(shared, "Alarms")
        zone = route53.HostedZone(shared, "Zone", zone_name="shop.dev")
        self.mail = Gazette(
            production,
            "Mail",
            stage="prod",
            settings={
                **SETTINGS,
                **COMPLETE,
                "alarm_email": "",
                "links_domain": "links.shop.dev",
                "domain": "shop.dev",
            },
            stack_prefix="Acme",
            alarms=topic,
            hosted_zone=zone,
            key=kms.Key(shared, "Key"),
            vpc=ec2.Vpc(shared, "Vpc", max_azs=2, restrict_default_security_group=False),
        )
        comments = lambda_.Function(
            self.shop,
            "Comments",
            runtime=lambda_.Runtime.PYTHON_3_13,
            handler="index.handler",
            code=lambda_.Code.from_inline("def handler(*_): pass"),
        )
        self.mail.bus.grant_put_events_to(comments)
        app.synth()
        self.data, self.service, self.own, self.shared = (
            json.loads((Path(production.outdir) / stack.template_file).read_text())["Resources"]
            for stack in (self.mail.data, self.mail.service, self.shop, shared)
        )
        self.all: list[dict[str, Any]] = [*self.data.values(), *self.service.values()]


@pytest.fixture(scope="module")
def adopter() -> Adopter:
    return Adopter()


def of_type(resources: Resources, kind: str) -> list[dict[str, Any]]:
    return [each["Properties"] for each in resources.values() if each["Type"] == kind]


def schema(kind: str) -> dict[str, Any]:
    """AWS's schema of a type of resources, from cfn-lint."""
    found: dict[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema(REGION, kind).schema
    return found


def test_stacks_in_a_cdk_stage_have_the_prefix_and_the_place(adopter: Adopter) -> None:
    stacks = adopter.mail.data, adopter.mail.service
    assert [each.stack_name for each in stacks] == ["AcmeDataProd", "AcmeProd"]
    assert {(each.account, each.region) for each in stacks} == {("123456789012", REGION)}
    assert all(each.termination_protection for each in stacks)


def test_tag_of_the_app_reaches_every_resource_that_has_tags(adopter: Adopter) -> None:
    tagged = [
        each
        for each in adopter.all
        if "cost-center" in json.dumps(each.get("Properties", {}).get("Tags", ""))
    ]
    own = [each for each in adopter.all if "Tags" in each.get("Properties", {})]
    assert len(own) > 120
    assert tagged == own
    untagged = {each["Type"] for each in adopter.all} - {each["Type"] for each in own}
    assert untagged == {
        "AWS::ApiGatewayV2::ApiMapping",
        "AWS::ApiGatewayV2::Integration",
        "AWS::ApiGatewayV2::Route",
        "AWS::Events::Archive",
        "AWS::IAM::ManagedPolicy",
        "AWS::IAM::Policy",
        "AWS::Lambda::Alias",
        "AWS::Lambda::EventInvokeConfig",
        "AWS::Lambda::LayerVersion",
        "AWS::Lambda::Permission",
        "AWS::Lambda::Version",
        "AWS::Logs::MetricFilter",
        "AWS::Route53::RecordSet",
        "AWS::S3::BucketPolicy",
        "AWS::SES::ConfigurationSetEventDestination",
        "AWS::SNS::Subscription",
        "AWS::SNS::TopicPolicy",
        "AWS::SQS::QueuePolicy",
        "AWS::Scheduler::Schedule",
    }


def test_permission_boundary_of_the_app_reaches_every_role(adopter: Adopter) -> None:
    roles = of_type(adopter.service, "AWS::IAM::Role")
    assert len(roles) == 16
    assert all("limit" in json.dumps(role["PermissionsBoundary"]) for role in roles)
    assert not of_type(adopter.data, "AWS::IAM::Role")


ENCRYPTED = {
    "AWS::DynamoDB::Table": 12,
    "AWS::Events::Archive": 1,
    "AWS::Lambda::Function": 14,
    "AWS::Logs::LogGroup": 16,
    "AWS::S3::Bucket": 2,
    "AWS::SNS::Topic": 1,
    "AWS::SQS::Queue": 23,
    "AWS::SecretsManager::Secret": 2,
}

UNENCRYPTED = {
    "AWS::Events::EventBus",  # an event that cannot be encrypted would be lost
    "AWS::Lambda::EventSourceMapping",  # encrypts only its filter
    "AWS::Scheduler::Schedule",  # contains only the time of a tick
}


def test_key_of_the_app_reaches_every_resource_that_stores_data(adopter: Adopter) -> None:
    can_be: Counter[str] = Counter(
        each["Type"] for each in adopter.all if "kms" in json.dumps(schema(each["Type"])).lower()
    )
    has: Counter[str] = Counter(
        each["Type"]
        for each in adopter.all
        if "Shared:ExportsOutputFnGetAttKey" in json.dumps(each["Properties"])
    )
    assert has == {**ENCRYPTED, "AWS::IAM::Policy": 2}
    assert {kind: can_be[kind] for kind in ENCRYPTED} == ENCRYPTED
    assert can_be.keys() - ENCRYPTED.keys() == UNENCRYPTED


def changed(before: Resources, after: Resources) -> Iterator[tuple[str, str]]:
    """Yield the type and the name of each property that differs."""
    for name in before.keys() & after.keys():
        old, new = (each[name].get("Properties", {}) for each in (before, after))
        for each in old.keys() | new.keys():
            if old.get(each) != new.get(each):
                yield before[name]["Type"], each


def test_adding_a_key_replaces_only_versions_of_functions() -> None:
    """https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-dynamodb-table-ssespecification.html"""
    stacks: list[tuple[Resources, Resources]] = []
    for with_key in (False, True):
        app = new_app()
        key = kms.Key(cdk.Stack(app, "Shared"), "Key") if with_key else None
        mail = Gazette(app, "Mail", stage="prod", settings={**SETTINGS, **COMPLETE}, key=key)
        assembly = app.synth()
        data, service = (
            assembly.get_stack_by_name(each.stack_name).template["Resources"]
            for each in (mail.data, mail.service)
        )
        stacks.append((data, service))
    (data, service), (data_with_key, service_with_key) = stacks
    replaced = service.keys() - service_with_key.keys()
    assert {service[name]["Type"] for name in replaced} == {"AWS::Lambda::Version"}
    assert data.keys() == data_with_key.keys()
    deployments = [
        {each["Description"] for each in of_type(resources, "AWS::Lambda::Function")}
        for resources in (service, service_with_key)
    ]
    assert [len(each) for each in deployments] == [1, 1]
    assert deployments[0] != deployments[1], "`gazette rollback` would confuse both versions"
    differing = {*changed(data, data_with_key), *changed(service, service_with_key)}
    assert {kind for kind, _ in differing} == {*ENCRYPTED, "AWS::Lambda::Alias"}
    for kind, name in differing:
        assert f"/properties/{name}" not in schema(kind)["createOnlyProperties"]


def test_roles_may_use_the_key_before_a_queue_is_encrypted(adopter: Adopter) -> None:
    policies = {name for name in adopter.service if name.startswith("May")}
    assert len(policies) == 2
    queues = [each for each in adopter.service.values() if each["Type"] == "AWS::SQS::Queue"]
    for queue in queues:
        assert policies <= set(queue["DependsOn"])


def test_page_has_the_statements_of_the_key(adopter: Adopter) -> None:
    """An adopter with an imported key copies the statements."""
    (key,) = of_type(adopter.shared, "AWS::KMS::Key")
    _, *statements = plain(key["KeyPolicy"]["Statement"])
    documented = json.loads(PAGE.split("```json\n")[1].split("```")[0])
    own_topic = [each for each in documented if "cloudwatch" in each["Principal"]["Service"]]
    assert [each for each in documented if each not in own_topic] == statements
    assert len(own_topic) == 1


def plain(value: Any) -> Any:
    """Return a value with its joined texts written out."""
    match value:
        case {"Fn::Join": [str(separator), list(parts)]}:
            return separator.join(plain(each) for each in parts)
        case {"Ref": "AWS::Partition"}:
            return "aws"
        case dict():
            return {key: plain(each) for key, each in value.items()}
        case list():
            return [plain(each) for each in value]
    return value


def warnings_of(app: cdk.App, stack: cdk.Stack) -> list[str]:
    messages = app.synth().get_stack_by_name(stack.stack_name).messages
    return [str(each.entry.data) for each in messages if str(each.level).endswith("WARNING")]


def test_category_without_words_in_a_language_of_others_is_a_warning(tmp_path: Path) -> None:
    words = {"en": {"name": "x"}}
    texts = {"deploy": {**words, "de": {"name": "x"}}, "build_failed": words}
    (tmp_path / "categories.json").write_text(json.dumps(texts))
    app = new_app()
    mail = Gazette(app, "Mail", stage="prod", settings=SETTINGS, templates=tmp_path)
    (warning,) = (each for each in warnings_of(app, mail.service) if "no words" in each)
    assert "The category build_failed has no words in German (de), unlike deploy." in warning
    assert f"Add build_failed.de to {tmp_path / 'categories.json'}." in warning


def test_imported_key_is_used_and_its_policy_is_left_to_the_app() -> None:
    app = new_app()
    shared = cdk.Stack(app, "Shared")
    arn = f"arn:aws:kms:{REGION}:123456789012:key/11111111-2222-3333-4444-555555555555"
    key = kms.Key.from_key_arn(shared, "Key", arn)
    mail = Gazette(app, "Mail", stage="prod", settings=SETTINGS, key=key)
    (warning,) = (each for each in warnings_of(app, shared) if "imported key" in each)
    assert "docs/customer-managed-key.md" in warning
    template = app.synth().get_stack_by_name(mail.data.stack_name).template["Resources"]
    tables = of_type(template, "AWS::DynamoDB::Table")
    assert {each["SSESpecification"]["KMSMasterKeyId"] for each in tables} == {arn}


def test_only_the_content_function_is_in_the_vpc(adopter: Adopter) -> None:
    within = [
        each for each in of_type(adopter.service, "AWS::Lambda::Function") if "VpcConfig" in each
    ]
    assert [each["FunctionName"] for each in within] == [f"gazette-prod-{CONTENT.name}"]
    (network,) = (each["VpcConfig"] for each in within)
    assert len(network["SubnetIds"]) == 2
    assert all("PrivateSubnet" in json.dumps(each) for each in network["SubnetIds"])
    (group,) = of_type(adopter.service, "AWS::EC2::SecurityGroup")
    assert [each["FromPort"] for each in group["SecurityGroupEgress"]] == [443, 8443]
    assert "SecurityGroupIngress" not in group
    assert adopter.mail.security_group is adopter.mail.service.security_group


def test_subnets_of_the_app_are_those_of_the_content_function() -> None:
    app = new_app()
    vpc = ec2.Vpc(cdk.Stack(app, "Shared"), "Vpc", restrict_default_security_group=False)
    mail = Gazette(
        app,
        "Mail",
        stage="prod",
        settings={**SETTINGS, **ASKS},
        vpc=vpc,
        subnets=ec2.SubnetSelection(subnets=vpc.private_subnets[:1]),
    )
    template = app.synth().get_stack_by_name(mail.service.stack_name).template["Resources"]
    (network,) = (
        each["VpcConfig"]
        for each in of_type(template, "AWS::Lambda::Function")
        if "VpcConfig" in each
    )
    assert len(network["SubnetIds"]) == 1


@pytest.mark.parametrize(
    ("has_vpc", "settings", "words"),
    [
        (True, {}, "the app passes a vpc, but content_sources does not contain recommendations"),
        (False, ASKS, "the app passes subnets without a vpc"),
    ],
)
def test_network_without_a_use_is_refused(
    has_vpc: bool, settings: dict[str, object], words: str
) -> None:
    app = new_app()
    vpc = ec2.Vpc(cdk.Stack(app, "Shared"), "Vpc", restrict_default_security_group=False)
    given = {"vpc": vpc} if has_vpc else {"subnets": ec2.SubnetSelection()}
    with pytest.raises(Refused, match=words):
        Gazette(app, "Mail", stage="prod", settings={**SETTINGS, **settings}, **given)


def test_given_topic_receives_every_alarm(adopter: Adopter) -> None:
    (name,) = (name for name, each in adopter.service.items() if each["Type"] == "AWS::SNS::Topic")
    assert name.startswith("DeliveryEvents")
    alarms = of_type(adopter.service, "AWS::CloudWatch::Alarm")
    assert len(alarms) > 40
    for alarm in alarms:
        (action,) = alarm["AlarmActions"]
        assert "Shared:ExportsOutputRefAlarms" in json.dumps(action)
    assert adopter.mail.alarms is adopter.mail.service.alarms


def test_records_are_created_in_the_given_zone(adopter: Adopter) -> None:
    records = of_type(adopter.data, "AWS::Route53::RecordSet")
    records += of_type(adopter.service, "AWS::Route53::RecordSet")
    assert len(records) > 4
    assert all("Zone" in json.dumps(each["HostedZoneId"]) for each in records)


def test_function_of_the_app_may_publish_events(adopter: Adopter) -> None:
    (policy,) = of_type(adopter.own, "AWS::IAM::Policy")
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert statement["Action"] == "events:PutEvents"
    assert adopter.mail.preferences_url.startswith("https://")
