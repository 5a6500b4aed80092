"""A script that synthesises stages named `prod`, from JSON on stdin with a folder for each stage
and its settings.

It accepts stages that are not ready for a deployment, such as the one in cdk.json. It skips layers,
which take long to build and have no grants.
"""

import json
import sys

from aws_cdk import App

from gazette_cdk.app import context
from gazette_cdk.assembly import build


def main() -> None:
    """Synthesise each stage into its folder."""
    for folder, settings in json.load(sys.stdin).items():
        of_stage = {"stage": "prod", "stages": {"prod": settings}, "aws:cdk:bundling-stacks": []}
        app = App(context={**context(), **of_stage}, outdir=folder)
        build(app)
        app.synth()


if __name__ == "__main__":
    main()
