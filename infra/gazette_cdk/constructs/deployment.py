"""A deployment, which publishes one version of every function.

docs/decisions/0050-a-deployment-is-a-version-of-every-function.md
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Protocol

from aws_cdk import CfnResource, RemovalPolicy, Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct
from gazette.settings.environment import LIVE

from gazette_cdk.topology import Step

VERSION = lambda_.VersionOptions(removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
"""Options that retain a function version after the next version replaces it, so that a rollback can
restore the version.

CloudFormation deletes the versions of a failed deployment. Otherwise the next attempt would fail,
because Lambda does not publish a version with the same code and configuration as the last version.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-deletionpolicy.html
https://docs.aws.amazon.com/lambda/latest/api/API_PublishVersion.html
"""


class Deployed(Protocol):
    """A deployed step, with its function and the function's alias."""

    step: Step
    function: lambda_.Function
    live: lambda_.Alias

    # The settings that the function reads from its environment.
    variables: dict[str, str]


def live_alias(scope: Construct, function: lambda_.Function) -> lambda_.Alias:
    """Create the alias through which `function` is invoked.

    The alias points to the latest version.
    """
    return lambda_.Alias(
        scope,
        "Live",
        alias_name=LIVE,
        version=function.current_version,
        description="The live version. `gazette rollback` points it to an earlier deployment.",
    )


def name_deployment(
    stack: Stack,
    steps: Sequence[Deployed],
    layers: Sequence[lambda_.ILayerVersion],
    *,
    version: str,
    describe: Callable[[str], str],
    given: Sequence[str] = (),
) -> str:
    """Write the deployment's name into the description of every function. Return the name.

    `version` is the version of Gazette. `describe` returns the description for a name.

    The name is a hash of the version, of all code and settings, and of the `given` ids of the app's
    objects that versions of functions contain. Any change of these therefore publishes a version of
    every function. A deployment without a change publishes no version. Each version copies its
    function's description, from which `gazette rollback` identifies the versions of a deployment.
    """
    parts = [
        version,
        *(_content(layer) for layer in layers),
        *([step.step.name, _code(step.function), step.variables] for step in steps),
        *([step.step.timeout, step.step.memory] for step in steps),
        *given,
    ]
    content = json.dumps(stack.resolve(parts), sort_keys=True)
    name = hashlib.sha256(content.encode()).hexdigest()[:12]
    for step in steps:
        _resource(step.function).description = describe(name)
    _switch_together(steps)
    return name


def _switch_together(steps: Sequence[Deployed]) -> None:
    """Switch all aliases within seconds, after every version has been published."""
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
        raise TypeError(f"{function.node.path} is not a function of CloudFormation.")
    return resource
