"""What the functions of a stage run: one version of each, published by one deployment.

docs/decisions/0050-a-deployment-is-a-version-of-every-function.md
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Protocol

from aws_cdk import CfnResource, RemovalPolicy, Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct
from gazette.settings.environment import LIVE

from infra.topology import Step

VERSION = lambda_.VersionOptions(removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
"""A version is kept when the next one takes its place, so that a rollback finds it.

One that a failed deployment published is deleted: Lambda publishes nothing where code and
configuration are those of the last version, and the next attempt would fail on that.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-deletionpolicy.html
https://docs.aws.amazon.com/lambda/latest/api/API_PublishVersion.html
"""


class Deployed(Protocol):
    """A step with its function and its alias. `variables`: the settings that the function reads."""

    step: Step
    function: lambda_.Function
    live: lambda_.Alias
    variables: dict[str, str]


def live_alias(scope: Construct, function: lambda_.Function) -> lambda_.Alias:
    """The alias by which everything calls `function`. It points to the version published last."""
    return lambda_.Alias(
        scope,
        "Live",
        alias_name=LIVE,
        version=function.current_version,
        description="What works. `gazette rollback` points it to an earlier deployment.",
    )


def name_deployment(
    stack: Stack, steps: Sequence[Deployed], layers: Sequence[lambda_.ILayerVersion]
) -> str:
    """Name the deployment in the description of every function; return the name.

    The name is a hash of all code and all settings, so a change of anything makes a version of
    every function, and a deployment that changes nothing makes none. A version takes over its
    function's description, by which `gazette rollback` knows what belongs together.
    """
    made_of = [
        *(_content(layer) for layer in layers),
        *([step.step.name, _code(step.function), step.variables] for step in steps),
        *([step.step.timeout, step.step.memory] for step in steps),
    ]
    told = json.dumps(stack.resolve(made_of), sort_keys=True)
    name = hashlib.sha256(told.encode()).hexdigest()[:12]
    for step in steps:
        _resource(step.function).description = f"deployment {name}"
    _switch_together(steps)
    return name


def _switch_together(steps: Sequence[Deployed]) -> None:
    """Switch no alias before every version is published: then all within seconds."""
    versions = [step.function.current_version.node.default_child for step in steps]
    for step in steps:
        alias = step.live.node.default_child
        for version in versions:
            if isinstance(alias, CfnResource) and isinstance(version, CfnResource):
                alias.add_resource_dependency(version)


def _content(layer: lambda_.ILayerVersion) -> object:
    resource = layer.node.default_child
    return resource.content if isinstance(resource, lambda_.CfnLayerVersion) else None


def _code(function: lambda_.Function) -> object:
    return _resource(function).code


def _resource(function: lambda_.Function) -> lambda_.CfnFunction:
    resource = function.node.default_child
    if not isinstance(resource, lambda_.CfnFunction):
        raise TypeError(f"{function.node.path} is no function of CloudFormation.")
    return resource
