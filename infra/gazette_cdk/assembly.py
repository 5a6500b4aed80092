"""The stacks of a stage, built from the context of an app or by the construct `Gazette`."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from aws_cdk import App
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from gazette_cdk.assets.layers import BuildError
from gazette_cdk.assets.templates.faults import TemplateError
from gazette_cdk.refusal import Refused
from gazette_cdk.stacks.data import DataStack
from gazette_cdk.stacks.encryption import let_services_use
from gazette_cdk.stacks.front import REGION, FrontStack
from gazette_cdk.stacks.names import PREFIX, data_stack, front_stack, service_stack
from gazette_cdk.stacks.network import Network
from gazette_cdk.stacks.placement import placement
from gazette_cdk.stacks.service import ServiceStack
from gazette_cdk.stage import Stage
from gazette_cdk.stages import StageError, read_stage

_CALLBACK_RAISED = "@jsii/kernel.RuntimeError: "
"""The prefix in the message of a jsii error that wraps an exception from the bundling of a layer.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The objects and names that an app passes to the stacks of a stage."""

    # The beginning of the names of the stacks.
    prefix: str = PREFIX

    # The topic that receives the alarms. None: the service stack creates one.
    alarms: sns.ITopic | None = None

    # The key that encrypts everything that the stage stores. None: the keys of AWS.
    key: kms.IKey | None = None

    # The network of the content function. None: no VPC.
    network: Network | None = None


def build(app: App) -> tuple[DataStack, ServiceStack]:
    """Build the stacks of the stage that the app's context specifies."""
    stage = read_stage(app.node.get_context("stage"), app.node.get_context("stages"))
    return build_stacks(app, stage, Given())


def build_stacks(scope: Construct, stage: Stage, given: Given) -> tuple[DataStack, ServiceStack]:
    """Build the stacks of a stage.

    With `front_rate_limit`, add the stack with the resources that CloudFront needs in us-east-1.
    The names of the stacks do not depend on `scope`, because `gazette doctor` and the permissions
    of commands contain them.
    """
    data = DataStack(
        scope,
        data_stack(stage.name),
        stage=stage,
        key=given.key,
        **placement(stage, "data", name=data_stack(stage.name, given.prefix)),
    )
    front = (
        FrontStack(
            scope,
            front_stack(stage.name),
            stage=stage,
            **placement(stage, "front", name=front_stack(stage.name, given.prefix), region=REGION),
        )
        if stage.front_rate_limit
        else None
    )
    if front:
        front.add_stack_dependency(data, reason="Both write the record that validates.")
    service = ServiceStack(
        scope,
        service_stack(stage.name),
        stage=stage,
        tables=data.tables,
        templates=data.templates,
        links_secret=data.links_secret,
        suppressions_secret=data.suppressions_secret,
        installation=data.installation,
        links=data.links,
        front=front,
        events_out=data.events_out,
        alarms=given.alarms,
        key=given.key,
        network=given.network,
        **placement(stage, "service", name=service_stack(stage.name, given.prefix)),
    )
    if given.key:
        let_services_use(given.key, stage, has_topic=given.alarms is not None)
    return data, service


def synthesise(context: Mapping[str, Any]) -> None:
    """Write the assembly, or exit with a line that describes the problem."""
    with plain_lines():
        app = App(context=dict(context))
        build(app)
        app.synth()


@contextmanager
def plain_lines() -> Iterator[None]:
    """Raise Refused for an error in a stage's settings, templates or layers.

    jsii wraps an error in the bundling of a layer in a RuntimeError.
    """
    try:
        yield
    except (StageError, TemplateError, BuildError) as err:
        raise Refused(str(err)) from err
    except RuntimeError as err:
        _, raised_here, text = str(err).partition(_CALLBACK_RAISED)
        if not raised_here:
            raise
        raise Refused(text) from err
