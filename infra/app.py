"""The CDK app: `npx cdk synth`, or `python -m infra.app` without the command line."""

import json
import re
import sys
from typing import Any

from aws_cdk import App
from gazette.settings.environment import InvalidSetting

from infra.assets.inline import TemplateError
from infra.assets.layers import ROOT, BuildError
from infra.guards import not_ready
from infra.stacks.data import DataStack
from infra.stacks.front import REGION, FrontStack
from infra.stacks.placed import placed
from infra.stacks.service import ServiceStack
from infra.stage import Stage
from infra.stages import StageError, read_stage

_CALLBACK_RAISED = "@jsii/kernel.RuntimeError: "
"""The prefix under which jsii returns an exception raised while it bundled a layer."""


def build(app: App) -> tuple[DataStack, ServiceStack]:
    """Both stacks of the stage that the context names; before them what CloudFront needs, if it
    is asked for."""
    stage = _stage(app)
    suffix = stage.name.capitalize()
    data = DataStack(app, f"GazetteData{suffix}", stage=stage, **placed(stage, "data"))
    front = (
        FrontStack(
            app, f"GazetteFront{suffix}", stage=stage, **placed(stage, "front", region=REGION)
        )
        if stage.edge_rate_limit
        else None
    )
    service = ServiceStack(
        app,
        f"Gazette{suffix}",
        stage=stage,
        tables=data.tables,
        links_secret=data.links_secret,
        suppressions_secret=data.suppressions_secret,
        installation=data.installation,
        front=front,
        **placed(stage, "service"),
    )
    return data, service


def _stage(app: App) -> Stage:
    return read_stage(app.node.get_context("stage"), app.node.get_context("stages"))


def _demand_what_is_missing(stage: Stage) -> None:
    """Here, not where a stage is read: the command line looks at stages that are not ready."""
    if missing := list(not_ready(stage)):
        raise StageError(
            "\ngazette: ".join(f"Stage {stage.name!r} in cdk.json: {each}" for each in missing)
        )


def context() -> dict[str, Any]:
    """The context of cdk.json. The command line's `-c` takes precedence."""
    return dict(json.loads((ROOT / "cdk.json").read_text())["context"])


def main() -> None:
    """Synthesise, or exit with a line for each thing that is wrong."""
    try:
        app = App(context=context())
        build(app)
        _demand_what_is_missing(_stage(app))
        app.synth()
    except InvalidSetting as err:
        setting = re.sub(r"GAZETTE_([A-Z_]+)", lambda found: found[1].lower(), str(err))
        sys.exit(f"gazette: The stage in cdk.json: {setting}")
    except (StageError, TemplateError, BuildError) as err:
        sys.exit(f"gazette: {err}")
    except RuntimeError as err:
        _, raised_here, text = str(err).partition(_CALLBACK_RAISED)
        if not raised_here:
            raise
        sys.exit(f"gazette: {text}")


if __name__ == "__main__":
    main()
