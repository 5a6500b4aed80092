"""The queues, functions and APIs of a stack, and their names."""

from collections.abc import Iterable
from typing import TypeVar, cast

from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct, IConstruct

from gazette_cdk.stage import Stage

_Kind = TypeVar("_Kind", bound=Construct)


def parts_of(stack: Construct, kind: type[_Kind]) -> list[_Kind]:
    """Return the constructs of a kind that the stack already contains."""
    return of_kind(stack.node.find_all(), kind)


def of_kind(parts: Iterable[IConstruct], kind: type[_Kind]) -> list[_Kind]:
    """Return the constructs of a kind. To search a stack more than once, list its parts once."""
    return [each for each in parts if isinstance(each, kind)]


def name_in(stage: Stage, part: sqs.Queue | lambda_.Function) -> str:
    """Return the name of a queue or function without the stage's prefix."""
    return full_name(part).removeprefix(f"gazette-{stage.name}-")


def full_name(part: sqs.Queue | lambda_.Function) -> str:
    """Return the name of a queue or function."""
    plain = part.node.default_child
    name = (
        cast("sqs.CfnQueue", plain).queue_name
        if isinstance(part, sqs.Queue)
        else cast("lambda_.CfnFunction", plain).function_name
    )
    return str(name)
