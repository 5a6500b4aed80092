"""The templates of a stage, with every reference resolved as after a deployment.

Names that CloudFormation generates are made up by its rule: stack, logical id, and a random suffix.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resources-section-structure.html
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REGION = "eu-central-1"
ACCOUNT = "123456789012"
_DRAWN = "1A2B3C4D5E6F"
_HASH = re.compile(r"(?:[0-9A-F]{8})+$")

_NAMED_BY = {
    "AWS::SQS::Queue": "QueueName",
    "AWS::DynamoDB::Table": "TableName",
    "AWS::Lambda::Function": "FunctionName",
    "AWS::SNS::Topic": "TopicName",
    "AWS::Events::EventBus": "Name",
    "AWS::Events::Rule": "Name",
    "AWS::IAM::Role": "RoleName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::SES::ConfigurationSet": "Name",
    "AWS::SES::EmailIdentity": "EmailIdentity",
    "AWS::Scheduler::Schedule": "Name",
    "AWS::Scheduler::ScheduleGroup": "Name",
    "AWS::CloudWatch::Alarm": "AlarmName",
}
_ARN = {
    "AWS::S3::Bucket": "s3:::{name}",
    "AWS::SQS::Queue": "sqs:{place}:{name}",
    "AWS::DynamoDB::Table": "dynamodb:{place}:table/{name}",
    "AWS::Lambda::Function": "lambda:{place}:function:{name}",
    "AWS::SecretsManager::Secret": "secretsmanager:{place}:secret:{name}",
    "AWS::SNS::Topic": "sns:{place}:{name}",
    "AWS::Events::EventBus": "events:{place}:event-bus/{name}",
    "AWS::Events::Rule": "events:{place}:rule/{name}",
    "AWS::IAM::Role": "iam::{account}:role/{name}",
    "AWS::Logs::LogGroup": "logs:{place}:log-group:{name}:*",
    "AWS::SES::ConfigurationSet": "ses:{place}:configuration-set/{name}",
    "AWS::SES::EmailIdentity": "ses:{place}:identity/{name}",
    "AWS::Scheduler::Schedule": "scheduler:{place}:schedule/default/{name}",
    "AWS::Scheduler::ScheduleGroup": "scheduler:{place}:schedule-group/{name}",
    "AWS::CloudWatch::Alarm": "cloudwatch:{place}:alarm:{name}",
    "AWS::KMS::Key": "kms:{place}:key/{name}",
}
_REF_IS_ARN = {"AWS::SecretsManager::Secret", "AWS::SNS::Topic", "AWS::Lambda::LayerVersion"}


def in_account(rest: str) -> str:
    """Return an ARN of this account and Region."""
    place = f"{REGION}:{ACCOUNT}"
    return f"arn:aws:{rest.format(place=place, account=ACCOUNT)}"


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource. `label` is its logical id without the hash that the CDK appends."""

    label: str
    type: str
    properties: Mapping[str, Any]
    ref: str
    arn: str


@dataclass(slots=True)
class Templates:
    """The stacks of a stage, in the order of their imports."""

    stacks: Mapping[str, Mapping[str, Any]]
    resources: list[Resource] = field(default_factory=list)
    _exports: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> "Templates":
        """Read the templates that were synthesised into `folder`."""
        raw = {
            path.name.removesuffix(".template.json"): json.loads(path.read_text())
            for path in folder.glob("*.template.json")
        }
        return cls.read(raw)

    @classmethod
    def read(cls, stacks: Mapping[str, Mapping[str, Any]]) -> "Templates":
        """Read templates that are already parsed."""
        made = cls(stacks)
        for stack, template in stacks.items():
            for output in template.get("Outputs", {}).values():
                if "Export" in output:
                    name = made._plain(stack, output["Export"]["Name"])
                    made._exports[name] = (stack, output["Value"])
        made.resources = list(made._all())
        return made

    def of_type(self, *kinds: str) -> list[Resource]:
        """Return the resources of these types."""
        return [each for each in self.resources if each.type in kinds]

    def _all(self) -> Iterator[Resource]:
        for stack, template in self.stacks.items():
            for logical, resource in template["Resources"].items():
                kind = resource["Type"]
                yield Resource(
                    label=_HASH.sub("", logical),
                    type=kind,
                    properties=self._plain(stack, resource.get("Properties", {})),
                    ref=self._ref(stack, logical),
                    arn=self._arn(stack, logical),
                )

    def _plain(self, stack: str, value: Any) -> Any:
        match value:
            case {"Ref": str(name)} if len(value) == 1:
                return self._ref(stack, name)
            case {"Fn::GetAtt": [str(name), str(attribute)]}:
                return self._attribute(stack, name, attribute)
            case {"Fn::ImportValue": name}:
                return self._plain(*self._exports[self._plain(stack, name)])
            case {"Fn::GetStackOutput": {"StackName": str(of), "OutputName": str(name)}}:
                return self._plain(of, self.stacks[of]["Outputs"][name]["Value"])
            case {"Fn::Join": [str(separator), parts]}:
                return separator.join(str(each) for each in self._plain(stack, parts))
            case {"Fn::Split": [str(separator), text]}:
                return self._plain(stack, text).split(separator)
            case {"Fn::Select": [number, parts]}:
                return self._plain(stack, parts)[int(number)]
            case {"Fn::Sub": str(text)}:
                return re.sub(r"\$\{([\w:]+)\}", lambda found: self._ref(stack, found[1]), text)
            case dict() if any(key.startswith("Fn::") for key in value):
                raise ValueError(f"no way is known to write out {value}")
            case dict():
                return {key: self._plain(stack, each) for key, each in value.items()}
            case list():
                return [self._plain(stack, each) for each in value]
        return value

    def _resource(self, stack: str, logical: str) -> tuple[str, Mapping[str, Any]]:
        resource = self.stacks[stack]["Resources"][logical]
        return resource["Type"], resource.get("Properties", {})

    def _ref(self, stack: str, name: str) -> str:
        given = _pseudo(stack)
        if name in given:
            return given[name]
        if name in self.stacks[stack].get("Parameters", {}):
            return str(self.stacks[stack]["Parameters"][name].get("Default", name))
        kind, properties = self._resource(stack, name)
        physical = self._name(stack, name)
        match kind:
            case "AWS::SQS::Queue":
                return f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{physical}"
            case "AWS::Lambda::Alias":
                function = self._function_arn(self._plain(stack, properties["FunctionName"]))
                return f"{function}:{properties['Name']}"
            case "AWS::Lambda::Version":
                return f"{self._function_arn(self._plain(stack, properties['FunctionName']))}:1"
            case _ if kind in _REF_IS_ARN:
                return self._arn(stack, name)
        return physical

    def _attribute(self, stack: str, name: str, attribute: str) -> str:
        kind, _ = self._resource(stack, name)
        if attribute in {"Arn", "TopicArn", "EventBusArn"}:
            return self._arn(stack, name)
        if attribute == "StreamArn":
            return f"{self._arn(stack, name)}/stream/2026-11-22T00:00:00.000"
        if kind == "AWS::Lambda::Version" and attribute == "Version":
            return "1"
        if attribute in {"AliasArn", "FunctionArn"}:
            return self._ref(stack, name)
        if attribute in {"QueueName", "TopicName", "Name"}:
            return self._name(stack, name)
        return f"{self._name(stack, name)}.{attribute}"

    def _arn(self, stack: str, name: str) -> str:
        kind, properties = self._resource(stack, name)
        physical = self._name(stack, name)
        if kind == "AWS::Events::Rule" and "EventBusName" in properties:
            physical = f"{self._plain(stack, properties['EventBusName'])}/{physical}"
        if kind in {"AWS::Lambda::Alias", "AWS::Lambda::Version"}:
            return self._ref(stack, name)
        shape = _ARN.get(kind, f"{kind.split('::')[1].lower()}:{{place}}:{{name}}")
        return in_account(shape.replace("{name}", physical))

    def _name(self, stack: str, name: str) -> str:
        kind, properties = self._resource(stack, name)
        given = properties.get(_NAMED_BY.get(kind, ""))
        if given is not None:
            return str(self._plain(stack, given))
        if kind == "AWS::SecretsManager::Secret":
            return f"{name}-{_DRAWN}-Abc123"
        if kind == "AWS::S3::Bucket":  # whose names have no capitals
            return f"{stack}-{name}-{_DRAWN}".lower()
        return f"{stack}-{name}-{_DRAWN}"

    @staticmethod
    def _function_arn(named: str) -> str:
        return (
            named if named.startswith("arn:") else in_account(f"lambda:{{place}}:function:{named}")
        )


def _pseudo(stack: str) -> dict[str, str]:
    return {
        "AWS::Partition": "aws",
        "AWS::Region": REGION,
        "AWS::AccountId": ACCOUNT,
        "AWS::URLSuffix": "amazonaws.com",
        "AWS::StackName": stack,
        "AWS::StackId": in_account(f"cloudformation:{{place}}:stack/{stack}/1a2b3c4d"),
        "AWS::NoValue": "",
    }


def function_of(arn: str) -> str:
    """Return the name of the function in an ARN, with or without a version or an alias."""
    return arn.split(":function:")[1].split(":")[0]


def queues_behind(resource: Resource) -> Sequence[str]:
    """Return the ARN of the dead-letter queue of a target or a subscription, if it has one."""
    policy = resource.properties.get("RedrivePolicy", {})
    return [policy["deadLetterTargetArn"]] if "deadLetterTargetArn" in policy else []
