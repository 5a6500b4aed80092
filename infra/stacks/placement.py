"""Where the stacks of a stage are, what tags they have, and whether they can be deleted."""

from typing import TypedDict

from aws_cdk import Environment

from infra.stage import Stage


class Placement(TypedDict):
    """What every stack of a stage is created with."""

    env: Environment
    termination_protection: bool
    tags: dict[str, str]


def placement(stage: Stage, part: str, *, region: str = "") -> Placement:
    """Return that for the stack of a part of the stage, such as `data`; in `region`, if given.

    The tags are those of the stack: CloudFormation hands them on to all of its resources that can
    have tags.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-console-add-tags.html
    """
    return Placement(
        env=Environment(account=stage.account or None, region=region or stage.region or None),
        termination_protection=stage.retain,
        tags={**stage.tags, "gazette:stage": stage.name, "gazette:part": part},
    )
