"""The stacks of a stage, built from the context of an app."""

import sys
from collections.abc import Mapping
from typing import Any

from aws_cdk import App

from gazette_cdk.assets.layers import BuildError
from gazette_cdk.assets.templates.inline import TemplateError
from gazette_cdk.stacks.data import DataStack
from gazette_cdk.stacks.front import REGION, FrontStack
from gazette_cdk.stacks.placement import placement
from gazette_cdk.stacks.service import ServiceStack
from gazette_cdk.stage import Stage
from gazette_cdk.stages import read_stage

_CALLBACK_RAISED = "@jsii/kernel.RuntimeError: "
"""The prefix in the message of a jsii error that wraps an exception from the bundling of a layer.
"""


def build(app: App) -> tuple[DataStack, ServiceStack]:
    """Build the stacks of the stage that the app's context specifies.

    With `front_rate_limit`, add the stack with the resources that CloudFront needs in us-east-1.
    """
    stage = _stage(app)
    suffix = stage.name.capitalize()
    data = DataStack(app, f"GazetteData{suffix}", stage=stage, **placement(stage, "data"))
    front = (
        FrontStack(
            app, f"GazetteFront{suffix}", stage=stage, **placement(stage, "front", region=REGION)
        )
        if stage.front_rate_limit
        else None
    )
    if front:
        front.add_stack_dependency(data, reason="Both write the record that validates.")
    service = ServiceStack(
        app,
        f"Gazette{suffix}",
        stage=stage,
        tables=data.tables,
        templates=data.templates,
        links_secret=data.links_secret,
        suppressions_secret=data.suppressions_secret,
        installation=data.installation,
        links=data.links,
        front=front,
        events_out=data.events_out,
        **placement(stage, "service"),
    )
    return data, service


def synthesise(context: Mapping[str, Any]) -> None:
    """Write the assembly, or exit with a line that describes the problem."""
    try:
        app = App(context=dict(context))
        build(app)
        app.synth()
    except (TemplateError, BuildError) as err:
        sys.exit(f"gazette: {err}")
    except RuntimeError as err:
        _, raised_here, text = str(err).partition(_CALLBACK_RAISED)
        if not raised_here:
            raise
        sys.exit(f"gazette: {text}")


def _stage(app: App) -> Stage:
    return read_stage(app.node.get_context("stage"), app.node.get_context("stages"))
