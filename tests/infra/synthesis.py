"""A synthesised stage, read the way CloudFormation reads it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aws_cdk import App, Stack
from gazette.settings.environment import LIVE

from gazette_cdk.app import context
from gazette_cdk.assembly import build

Properties = dict[str, Any]

_HASH = re.compile(r"(?:[0-9A-F]{8})+(?:[0-9a-f]{32})?\b")


def without_hash(text: str) -> str:
    """Names as a person wrote them: CDK puts a hash of the path behind them.

    Behind that of a version follows one of what the version is made of.
    """
    return _HASH.sub("", text)


@dataclass(frozen=True, kw_only=True)
class Grant:
    """One allowed action on one resource, and the condition that it stands under."""

    action: str
    resource: str
    condition: Properties


class Template:
    """`resources` by logical id, without the hash that CDK puts behind the name.

    References are written out: `{Name}` for Ref, `{Name.Arn}` for an attribute. What another
    stack exports reads as it does there.
    """

    def __init__(self, raw: Properties, *, imports: Mapping[str, str]) -> None:
        self._imports = imports
        self.raw = raw
        self.resources: dict[str, Properties] = {
            without_hash(name): self._plain(resource) for name, resource in raw["Resources"].items()
        }
        if len(self.resources) != len(raw["Resources"]):
            raise ValueError("two resources have one name when the hash is taken off")
        self.outputs: dict[str, str] = {
            without_hash(name): self._plain(output["Value"])
            for name, output in raw.get("Outputs", {}).items()
        }
        self.told: dict[str, str] = {
            without_hash(name): output["Description"]
            for name, output in raw.get("Outputs", {}).items()
            if "Description" in output
        }
        self.exports: dict[str, str] = {
            output["Export"]["Name"]: self._plain(output["Value"])
            for output in raw.get("Outputs", {}).values()
            if "Export" in output
        }

    def read_as(self, stack: str) -> dict[str, str]:
        """What other stacks may read of this one, `stack`: by export, and by `stack.output`."""
        return self.exports | {
            f"{stack}.{name}": self._plain(output["Value"])
            for name, output in self.raw.get("Outputs", {}).items()
        }

    def of_type(self, kind: str) -> dict[str, Properties]:
        """The properties of every resource of a type, such as `AWS::SQS::Queue`.

        Raises LookupError if there is none: what is said of each would hold.
        """
        found = {
            name: resource.get("Properties", {})
            for name, resource in self.resources.items()
            if resource["Type"] == kind
        }
        if not found:
            raise LookupError(f"there is no {kind}")
        return found

    def has(self, kind: str) -> bool:
        """Whether there is a resource of a type."""
        return any(resource["Type"] == kind for resource in self.resources.values())

    def grants(self, role: str) -> list[Grant]:
        """What the policies attached to a role allow, one action and one resource at a time.

        Raises LookupError if that is nothing: no right would be one too many.
        """
        found = [
            grant
            for policy in self.of_type("AWS::IAM::Policy").values()
            if f"{{{role}}}" in policy["Roles"]
            for statement in policy["PolicyDocument"]["Statement"]
            if statement["Effect"] == "Allow"
            for grant in _grants(statement)
        ]
        if not found:
            raise LookupError(f"nothing is granted to {role}")
        return found

    def _plain(self, value: Any) -> Any:
        match value:
            case {"Ref": str(name)}:
                return f"{{{without_hash(name)}}}"
            case {"Fn::GetAtt": [str(name), str(attribute)]}:
                return f"{{{without_hash(name)}.{attribute}}}"
            case {"Fn::Select": [number, {"Fn::Split": [str(separator), of]}]}:
                return f"{self._plain(of)} split by {separator}, part {number}"
            case {"Fn::ImportValue": str(name)}:
                return self._imports[name]
            case {"Fn::GetStackOutput": {"StackName": str(stack), "OutputName": str(name)}}:
                return self._imports[f"{stack}.{name}"]
            case {"Fn::Join": [str(separator), list(parts)]}:
                return separator.join(self._plain(part) for part in parts)
            case dict():
                return {key: self._plain(item) for key, item in value.items()}
            case list():
                return [self._plain(item) for item in value]
            case _:
                return value


def _grants(statement: Properties) -> Iterator[Grant]:
    for action in _listed(statement["Action"]):
        for resource in _listed(statement["Resource"]):
            yield Grant(action=action, resource=resource, condition=statement.get("Condition", {}))


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


@dataclass(frozen=True, kw_only=True)
class Synthesis:
    """Both stacks of a stage, and what CloudFront needs, if it is asked for.

    `protected`: names of stacks that refuse to be deleted.
    `tags`, `places` (as `aws://account/region`) and `after` (the stacks that are deployed before)
    by the name of the stack.
    """

    stage: str
    folder: Path
    data: Template
    service: Template
    front: Template | None
    protected: frozenset[str]
    tags: Mapping[str, Mapping[str, str]]
    places: Mapping[str, str]
    after: Mapping[str, frozenset[str]]

    def function(self, step: str) -> tuple[str, Properties]:
        """Logical id and properties of the function of a step."""
        return _named(
            self.service.of_type("AWS::Lambda::Function"),
            "FunctionName",
            f"gazette-{self.stage}-{step}",
        )

    def live(self, step: str) -> str:
        """Logical id of the alias by which the function of a step is called."""
        function, _ = self.function(step)
        return next(
            name
            for name, alias in self.service.of_type("AWS::Lambda::Alias").items()
            if alias["FunctionName"] == f"{{{function}}}" and alias["Name"] == LIVE
        )

    def mapped(self, step: str) -> str:
        """How an event source mapping names that alias."""
        return f"{{{self.live(step)}}} split by :, part 6:{LIVE}"

    def queue(self, name: str) -> tuple[str, Properties]:
        """Logical id and properties of a queue."""
        return _named(
            self.service.of_type("AWS::SQS::Queue"), "QueueName", f"gazette-{self.stage}-{name}"
        )

    def grants(self, step: str) -> list[Grant]:
        """What the function of a step may do."""
        _, function = self.function(step)
        return self.service.grants(function["Role"].removeprefix("{").removesuffix(".Arn}"))

    def layer(self, name: str) -> Path:
        """The folder that was bundled for a layer."""
        content = self.service.of_type("AWS::Lambda::LayerVersion")[name]["Content"]
        return self.folder / f"asset.{content['S3Key'].removesuffix('.zip')}"


def _named(
    resources: Mapping[str, Properties], attribute: str, value: str
) -> tuple[str, Properties]:
    return next(
        (name, properties)
        for name, properties in resources.items()
        if properties.get(attribute) == value
    )


def synthesise(stage: str, folder: Path, *, bundled: bool, **changed: object) -> Synthesis:
    """Synthesise a stage of cdk.json into `folder`, with or without building the layers.

    `changed`: settings of the stage that are not those of cdk.json. The CDK does not validate the
    templates, which takes longer than all else: `make synth` and cfn-lint do, both in `make seeds`.
    """
    bundling: Properties = {} if bundled else {"aws:cdk:bundling-stacks": []}
    given = context()
    stages = {**given["stages"], stage: {**given["stages"][stage], **changed}}
    app = App(
        context={**given, "stages": stages, "stage": stage, **bundling},
        outdir=str(folder),
        builtin_cloud_formation_validation=False,
    )
    build(app)
    app.synth()
    stacks = {each.stack_name: each for each in app.node.children if isinstance(each, Stack)}
    templates = {
        name: json.loads((folder / f"{name}.template.json").read_text()) for name in stacks
    }
    deployed = {
        name: artifact
        for name, artifact in json.loads((folder / "manifest.json").read_text())[
            "artifacts"
        ].items()
        if artifact["type"] == "aws:cloudformation:stack"
    }
    of_data, of_front = (f"Gazette{part}{stage.capitalize()}" for part in ("Data", "Front"))
    kept = Template(templates[of_data], imports={})
    front = Template(templates[of_front], imports={}) if of_front in templates else None
    exports = kept.read_as(of_data) | (front.read_as(of_front) if front else {})
    return Synthesis(
        stage=stage,
        folder=folder,
        data=kept,
        service=Template(templates[f"Gazette{stage.capitalize()}"], imports=exports),
        front=front,
        protected=frozenset(name for name, each in stacks.items() if each.termination_protection),
        tags={name: each["properties"].get("tags", {}) for name, each in deployed.items()},
        places={name: each["environment"] for name, each in deployed.items()},
        after={
            name: frozenset(each.get("dependencies", ())) & deployed.keys()
            for name, each in deployed.items()
        },
    )
