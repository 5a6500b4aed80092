"""The support page and the story of a stage: their widgets, and the grants of two functions."""

from collections.abc import Iterable, Mapping

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from gazette_cdk.stage import Stage

_WIDTH, _HEIGHT = 24, 30
"""The size of the widget, in units of the CloudWatch grid."""

_STORY = 9
"""The height of the story."""

_LOOK = (
    "sqs:GetQueueUrl",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
    "sqs:ChangeMessageVisibility",
)
"""The actions to count and read the messages of a queue, and to make them visible again."""


def may_look(function: lambda_.IFunction, watched: Iterable[sqs.IQueue]) -> None:
    """Let the function read queues that must be empty. It cannot remove a message."""
    for queue in watched:
        queue.grant(function, *_LOOK)


def may_redrive(
    function: lambda_.IFunction,
    *,
    watched: Iterable[sqs.IQueue],
    targets: Mapping[str, sqs.IQueue],
) -> None:
    """Let the function move messages from queues that must be empty to the queues of functions."""
    for queue in watched:
        queue.grant(function, *_LOOK, "sqs:DeleteMessage")
    for queue in targets.values():
        queue.grant(function, "sqs:GetQueueUrl", "sqs:SendMessage")


def story_widget(function: lambda_.IFunction) -> cloudwatch.CustomWidget:
    """Return the widget that tells the story of the stage, for the top of its dashboard.

    `view` is the parameter by which the function `support` selects the page.
    """
    return cloudwatch.CustomWidget(
        function_arn=function.function_arn,
        title="In words",
        update_on_refresh=True,
        update_on_resize=False,
        update_on_time_range_change=False,
        params={"view": "story"},
        width=_WIDTH,
        height=_STORY,
    )


class SupportDashboard(cloudwatch.Dashboard):
    """The dashboard that shows the support page.

    A refresh of the dashboard calls the function again. A change of the size or of the time range
    does not, because the page depends on neither.
    """

    def __init__(self, stack: Construct, *, stage: Stage, function: lambda_.IFunction) -> None:
        super().__init__(stack, "SupportPage", dashboard_name=f"gazette-{stage.name}-support")
        self.add_widgets(
            cloudwatch.CustomWidget(
                function_arn=function.function_arn,
                title=f"Support page of gazette-{stage.name}",
                update_on_refresh=True,
                update_on_resize=False,
                update_on_time_range_change=False,
                width=_WIDTH,
                height=_HEIGHT,
            )
        )
