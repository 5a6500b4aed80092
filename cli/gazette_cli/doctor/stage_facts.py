"""Lookups of the deployed template of a stage and the current state of its resources."""

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import boto3
from gazette.domain.dead_letters import KNOWN

from gazette_cdk.stacks.names import PREFIX, data_stack, service_stack
from gazette_cli.doctor.findings import Unseen
from gazette_cli.doctor.questions import asked

Answer = Mapping[str, Any]
Looked = Answer | Unseen | None
"""The result of a lookup: the response of AWS, None for a missing resource, or Unseen if the lookup
failed.
"""

_HASH = re.compile(r"[0-9A-F]{8}$")
_AT_ONCE = 8
"""The number of parallel lookups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """A deployed resource of the stacks."""

    name: str

    # The CloudFormation type.
    kind: str

    # The physical id.
    physical: str

    # The properties in the deployed template.
    template: Answer

    # The current state.
    now: Looked = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFacts:
    """The resources, limits and raised alarms of a stage."""

    stage: str

    # The resources of both stacks that have a check.
    resources: list[Deployed] | Unseen

    # The limits of the account.
    limits: Looked = None

    # The raised alarms.
    alarms: Looked = None

    # The rules that route events out to the incoming bus. None for a stage without events out.
    loops: Looked = None

    def of(self, kind: str) -> list[Deployed]:
        """Return the resources of a type, or an empty result if the resources are unknown."""
        resources = [] if isinstance(self.resources, Unseen) else self.resources
        return [each for each in resources if each.kind == kind]

    def schedule_changed_at(self, name: str) -> datetime | None:
        """Return when a schedule was last created, enabled or otherwise changed, if it is known.

        https://docs.aws.amazon.com/scheduler/latest/APIReference/API_GetSchedule.html
        """
        for each in self.of(SCHEDULE):
            if each.name == name and isinstance(each.now, Mapping):
                at: datetime | None = each.now.get("LastModificationDate")
                return at
        return None


TABLE, QUEUE, TOPIC = "AWS::DynamoDB::Table", "AWS::SQS::Queue", "AWS::SNS::Topic"
SCHEDULE, RULE = "AWS::Scheduler::Schedule", "AWS::Events::Rule"
ALIAS, MAPPING = "AWS::Lambda::Alias", "AWS::Lambda::EventSourceMapping"
FUNCTION, SUBSCRIPTION = "AWS::Lambda::Function", "AWS::SNS::Subscription"
ALARM, CONFIGURATION_SET = "AWS::CloudWatch::Alarm", "AWS::SES::ConfigurationSet"
BUS = "AWS::Events::EventBus"
SWEEP_TICK = "SweepTick"
"""The name of the schedule that starts the sweep."""

_KNOWN = {TABLE, QUEUE, TOPIC, SCHEDULE, RULE, ALIAS, MAPPING, FUNCTION, SUBSCRIPTION, ALARM}
_KNOWN |= {CONFIGURATION_SET, BUS}


class Asker:
    """A client of the AWS services of one account and region."""

    def __init__(self) -> None:
        names = ("dynamodb", "sqs", "sns", "scheduler", "events", "lambda", "cloudwatch", "sesv2")
        self._of: dict[str, Any] = {name: boto3.client(name) for name in names}
        self._cloudformation = boto3.client("cloudformation")

    def stacks(self, stage: str, prefix: str) -> list[Deployed] | Unseen:
        """Return the resources of both stacks, whose names begin with `prefix`.

        AWS reports an unknown stack as a ValidationError.
        """
        resources: list[Deployed] = []
        for stack in (data_stack(stage, prefix), service_stack(stage, prefix)):
            listed = asked("cloudformation:ListStackResources", partial(self._listed, stack))
            template = asked("cloudformation:GetTemplate", partial(self._template, stack))
            for each in (listed, template):
                if isinstance(each, Unseen):
                    return each
            if listed is None or template is None:
                return Unseen(
                    f"stack {stack} does not exist; check --stage, --stack-prefix and the region"
                )
            resources.extend(_joined(listed, template, stage))  # type: ignore[arg-type]
        return resources

    def state(self, each: Deployed) -> Looked:
        """Return the current state of a resource."""
        match each.kind:
            case "AWS::DynamoDB::Table":
                return self._table(each.physical)
            case "AWS::SQS::Queue":
                return self.queue(each.physical)
            case "AWS::SNS::Topic":
                ask = partial(self._of["sns"].list_subscriptions_by_topic, TopicArn=each.physical)
                return asked("sns:ListSubscriptionsByTopic", ask)
            case "AWS::Scheduler::Schedule":
                ask = partial(self._of["scheduler"].get_schedule, Name=each.physical)
                return asked("scheduler:GetSchedule", ask)
            case "AWS::Events::Rule":
                bus = each.template.get("EventBusName", "default")
                name = each.physical.rpartition("|")[2]
                ask = partial(self._of["events"].describe_rule, Name=name, EventBusName=bus)
                return asked("events:DescribeRule", ask)
            case "AWS::Lambda::Alias":
                return self._alias(each.physical)
            case "AWS::Lambda::EventSourceMapping":
                ask = partial(self._of["lambda"].get_event_source_mapping, UUID=each.physical)
                return asked("lambda:GetEventSourceMapping", ask)
            case "AWS::SES::ConfigurationSet":
                ask = partial(
                    self._of["sesv2"].get_configuration_set, ConfigurationSetName=each.physical
                )
                return asked("ses:GetConfigurationSet", ask)
            case _:
                return None

    def loops(self, resources: list[Deployed]) -> Looked:
        """Return the rules of the bus for events out whose target is the incoming bus."""
        buses = {each.name: each.physical for each in resources if each.kind == BUS}
        if not {"Bus", "OutBus"} <= buses.keys():
            return None
        events = self._of["events"]
        ask = partial(events.describe_event_bus, Name=buses["Bus"])
        bus = asked("events:DescribeEventBus", ask)
        if not isinstance(bus, dict):
            return bus
        ask = partial(
            events.list_rule_names_by_target, TargetArn=bus["Arn"], EventBusName=buses["OutBus"]
        )
        return asked("events:ListRuleNamesByTarget", ask)

    def queue(self, url: str) -> Looked:
        """Return the attributes of a queue."""
        ask = partial(self._of["sqs"].get_queue_attributes, QueueUrl=url, AttributeNames=["All"])
        answer = asked("sqs:GetQueueAttributes", ask)
        return answer["Attributes"] if isinstance(answer, dict) else answer

    def limits(self) -> Looked:
        """Return the account's concurrency limit."""
        return asked("lambda:GetAccountSettings", self._of["lambda"].get_account_settings)

    def alarms(self, stage: str) -> Looked:
        """Return the stage's alarms in the state ALARM, with one DescribeAlarms call per hundred
        alarms.
        """
        return asked("cloudwatch:DescribeAlarms", partial(self._raised, stage))

    def _raised(self, stage: str) -> Answer:
        pages = self._of["cloudwatch"].get_paginator("describe_alarms")
        filters = {"AlarmNamePrefix": f"gazette-{stage}-", "StateValue": "ALARM"}
        alarms = [each for page in pages.paginate(**filters) for each in page["MetricAlarms"]]
        return {"MetricAlarms": alarms}

    def _listed(self, stack: str) -> list[Answer]:
        pages = self._cloudformation.get_paginator("list_stack_resources")
        return [
            each
            for page in pages.paginate(StackName=stack)
            for each in page["StackResourceSummaries"]
        ]

    def _template(self, stack: str) -> Answer:
        body: Any = self._cloudformation.get_template(StackName=stack)["TemplateBody"]
        return dict(body["Resources"])

    def _table(self, name: str) -> Looked:
        client = self._of["dynamodb"]
        answers = (
            asked("dynamodb:DescribeTable", partial(client.describe_table, TableName=name)),
            asked(
                "dynamodb:DescribeContinuousBackups",
                partial(client.describe_continuous_backups, TableName=name),
            ),
            asked(
                "dynamodb:DescribeTimeToLive", partial(client.describe_time_to_live, TableName=name)
            ),
        )
        known: dict[str, Any] = {}
        for each in answers:
            if each is None or isinstance(each, Unseen):
                return each
            known |= each
        return known

    def _alias(self, arn: str) -> Looked:
        function, _, name = arn.rpartition(":")
        ask = partial(self._of["lambda"].get_alias, FunctionName=function, Name=name)
        alias = asked("lambda:GetAlias", ask)
        if not isinstance(alias, dict):
            return alias
        versions = asked("lambda:ListVersionsByFunction", partial(self._versions, function))
        if not isinstance(versions, list):
            return versions
        return {"FunctionVersion": alias["FunctionVersion"], "Newest": max(versions, default=0)}

    def _versions(self, function: str) -> list[int]:
        pages = self._of["lambda"].get_paginator("list_versions_by_function")
        return [
            int(each["Version"])
            for page in pages.paginate(FunctionName=function)
            for each in page["Versions"]
            if each["Version"].isdigit()
        ]


def stage_facts(stage: str, prefix: str = PREFIX) -> StageFacts:
    """Look up the resources, the limits and the alarms of a stage in parallel.

    `prefix` begins the names of the stacks.
    """
    ask = Asker()
    deployed = ask.stacks(stage, prefix)
    if isinstance(deployed, Unseen):
        return StageFacts(
            stage=stage, resources=deployed, limits=ask.limits(), alarms=ask.alarms(stage)
        )
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        now = list(threads.map(ask.state, deployed))
    return StageFacts(
        stage=stage,
        resources=[
            Deployed(name=e.name, kind=e.kind, physical=e.physical, template=e.template, now=state)
            for e, state in zip(deployed, now, strict=True)
        ],
        limits=ask.limits(),
        alarms=ask.alarms(stage),
        loops=ask.loops(deployed),
    )


DEAD = frozenset({*(dead.name for dead in KNOWN), "quarantine"})
"""The queues whose messages an operator must handle."""


def queue_name(url: str, stage: str) -> str:
    """Return the name of a queue within its stage, such as `generate-dead`."""
    return url.rpartition("/")[2].removeprefix(f"gazette-{stage}-")


def _joined(listed: list[Answer], template: Answer, stage: str) -> Iterator[Deployed]:
    """Yield resources with their properties. Resource names do not include the hash that the CDK
    adds.

    Event source mappings are named after their queues, because a function may have several
    mappings.
    """
    physical = {each["LogicalResourceId"]: each.get("PhysicalResourceId", "") for each in listed}
    for each in listed:
        if (kind := each["ResourceType"]) in _KNOWN:
            logical = each["LogicalResourceId"]
            properties = template.get(logical, {}).get("Properties", {})
            resolved = {name: _resolved(value, physical) for name, value in properties.items()}
            queue = f"{resolved.get('EventSourceArn', '')}" if kind == MAPPING else ""
            yield Deployed(
                name=queue_name(queue, stage) or _HASH.sub("", logical),
                kind=kind,
                physical=physical[logical],
                template=resolved,
            )


def _resolved(value: object, physical: Mapping[str, str]) -> object:
    """Replace a reference to a resource or its attribute with the physical id of the resource."""
    match value:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), *_]}:
            return physical.get(name, name)
        case _:
            return value
