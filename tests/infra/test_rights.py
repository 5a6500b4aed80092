"""The policies of docs/rights-to-deploy.md suffice for the resources of every stage."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from tests.deployment_rights import BOUNDARY, PLACES, TYPES
from tests.infra.synthesis import Properties, Synthesis, Template
from tests.infra.test_adopter import Adopter, adopter

__all__ = ["adopter"]

_BY_STACKS = {
    "AWS::CloudWatch::Alarm": ("cloudwatch", "alarm", "AlarmName", "alarm:"),
    "AWS::CloudWatch::Dashboard": ("cloudwatch", "dashboard", "DashboardName", "dashboard/"),
    "AWS::Events::Archive": ("events", "archive", "ArchiveName", "archive/"),
    "AWS::Events::EventBus": ("events", "event-bus", "Name", "event-bus/"),
    "AWS::IAM::ManagedPolicy": ("iam", "policy", "ManagedPolicyName", "policy/"),
    "AWS::Lambda::Function": ("lambda", "function", "FunctionName", "function:"),
    "AWS::Logs::LogGroup": ("logs", "log-group", "LogGroupName", "log-group:"),
    "AWS::SES::ConfigurationSet": ("ses", "configuration-set", "Name", "configuration-set/"),
    "AWS::SQS::Queue": ("sqs", "queue", "QueueName", ""),
    "AWS::SSM::Parameter": ("ssm", "parameter", "Name", "parameter"),
}
"""Types whose resources have a name of Gazette: the service, its type of resource, the property,
and the beginning of the last part of the ARN."""


def templates(*stages: Synthesis) -> Iterator[Template]:
    for stage in stages:
        yield stage.data
        yield stage.service
        if stage.front:
            yield stage.front


def test_policies_cover_the_types_of_all_stages(
    prod: Synthesis,
    tracking: Synthesis,
    guarded: Synthesis,
    fronted: Synthesis,
    complete: Synthesis,
    adopter: Adopter,
) -> None:
    every = (prod, tracking, guarded, fronted, complete)
    types = {each["Type"] for one in templates(*every) for each in one.resources.values()}
    types |= {each["Type"] for each in adopter.all}
    assert types == {kind for kinds in TYPES.values() for kind in kinds}


def test_names_of_resources_match_the_policies(complete: Synthesis, guarded: Synthesis) -> None:
    found = 0
    for template in templates(complete, guarded):
        for kind, (service, of, attribute, begin) in _BY_STACKS.items():
            for given in template.of_type(kind).values() if template.has(kind) else ():
                patterns = [each.split(":", 3)[-1] for each in PLACES[service, of]]
                name = f"{begin}{given[attribute]}"
                assert any(fnmatchcase(name, each) for each in patterns), (name, patterns)
                found += 1
    assert found > 100


def test_resources_without_a_name_begin_with_their_stack(complete: Synthesis) -> None:
    """CloudFormation chooses their names."""
    for template in templates(complete):
        for kind, name in (
            ("AWS::DynamoDB::Table", "TableName"),
            ("AWS::Events::Rule", "Name"),
            ("AWS::IAM::Role", "RoleName"),
            ("AWS::S3::Bucket", "BucketName"),
            ("AWS::SNS::Topic", "TopicName"),
            ("AWS::Scheduler::Schedule", "Name"),
        ):
            for given in template.of_type(kind).values() if template.has(kind) else ():
                assert name not in given


def granted(policy: Properties) -> Iterator[str]:
    for statement in policy["PolicyDocument"]["Statement"]:
        action: Any = statement["Action"]
        if statement["Effect"] == "Allow":
            yield from [action] if isinstance(action, str) else action


def test_boundary_allows_what_the_roles_may_do(
    adopter: Adopter, tracking: Synthesis, complete: Synthesis
) -> None:
    policies = [
        *(each["Properties"] for each in adopter.all if each["Type"] == "AWS::IAM::Policy"),
        *tracking.service.of_type("AWS::IAM::Policy").values(),
        *complete.service.of_type("AWS::IAM::Policy").values(),
    ]
    assert {action for policy in policies for action in granted(policy)} == set(BOUNDARY)
