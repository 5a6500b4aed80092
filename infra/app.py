"""The CDK app: `npx cdk synth`, or `python -m infra.app` without the command line."""

import json
import sys
from typing import Any

from aws_cdk import App

from infra.assets.inline import TemplateError
from infra.assets.layers import ROOT, BuildError
from infra.stacks.data import DataStack
from infra.stacks.service import ServiceStack
from infra.stages import StageError, read_stage


def build(app: App) -> tuple[DataStack, ServiceStack]:
    """Both stacks of the stage that the context names."""
    stage = read_stage(app.node.get_context("stage"), app.node.get_context("stages"))
    suffix = stage.name.capitalize()
    data = DataStack(app, f"GazetteData{suffix}", stage=stage)
    service = ServiceStack(app, f"Gazette{suffix}", stage=stage, tables=data.tables)
    return data, service


def context() -> dict[str, Any]:
    """What cdk.json says. What the command line says goes before it."""
    return dict(json.loads((ROOT / "cdk.json").read_text())["context"])


def main() -> None:
    """Synthesise, or say in one line why not."""
    try:
        app = App(context=context())
        build(app)
        app.synth()
    except (StageError, TemplateError, BuildError) as err:
        sys.exit(f"gazette: {err}")


if __name__ == "__main__":
    main()
