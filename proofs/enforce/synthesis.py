"""A script that synthesises stages named `prod`, from JSON on stdin with a folder for each stage,
its settings, and whether the app passes objects.

It accepts stages that are not ready for a deployment, such as the one in cdk.json. It skips layers,
which take long to build and have no grants.
"""

import json
import sys

from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms

from gazette_cdk.app import context
from gazette_cdk.assembly import Given, build_stacks
from gazette_cdk.stacks.network import Network
from gazette_cdk.stages import read_stage


def main() -> None:
    """Synthesise each stage into its folder."""
    for folder, asked in json.load(sys.stdin).items():
        app = App(context={**context(), "aws:cdk:bundling-stacks": []}, outdir=folder)
        given = objects(app) if asked["objects"] else Given()
        build_stacks(app, read_stage("prod", {"prod": asked["settings"]}), given)
        app.synth()


def objects(app: App) -> Given:
    """Return a key and a VPC of the app."""
    shared = Stack(app, "Shared")
    vpc = ec2.Vpc.from_vpc_attributes(
        shared,
        "Vpc",
        vpc_id="vpc-0123456789abcdef0",
        availability_zones=["eu-central-1a", "eu-central-1b"],
        private_subnet_ids=["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
    )
    return Given(key=kms.Key(shared, "Key"), network=Network(vpc=vpc))


if __name__ == "__main__":
    main()
