"""Synthesises stages named `prod`: on stdin is JSON, a folder for each with its settings.

Also those that are not ready to be deployed, such as that of cdk.json as it stands. Without layers,
which take long to build and grant nothing.
"""

import json
import sys

from aws_cdk import App

from infra.app import context
from infra.assembly import build


def main() -> None:
    """Synthesise each into its folder."""
    for folder, settings in json.load(sys.stdin).items():
        of_stage = {"stage": "prod", "stages": {"prod": settings}, "aws:cdk:bundling-stacks": []}
        app = App(context={**context(), **of_stage}, outdir=folder)
        build(app)
        app.synth()


if __name__ == "__main__":
    main()
