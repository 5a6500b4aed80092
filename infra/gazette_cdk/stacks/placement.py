"""The name, account, Region, tags and deletion protection of the stacks of a stage."""

from typing import TypedDict

from aws_cdk import Environment

from gazette_cdk.stage import Stage


class Placement(TypedDict):
    """The arguments common to all stacks of a stage."""

    stack_name: str
    env: Environment
    termination_protection: bool
    tags: dict[str, str]


def placement(stage: Stage, part: str, *, name: str, region: str = "") -> Placement:
    """Return the arguments for the stack of one part of the stage, such as `data`.

    Without an account or Region in the settings, the stack has those of the CDK stage that contains
    it, or those of the credentials.

    CloudFormation copies the tags of a stack to all of its resources that can have tags.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-console-add-tags.html
    """
    return Placement(
        stack_name=name,
        env=Environment(account=stage.account or None, region=region or stage.region or None),
        termination_protection=stage.retain,
        tags={**stage.tags, "gazette:stage": stage.name, "gazette:part": part},
    )
