"""An alarm on the concurrency that all functions of the account share."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from gazette_cdk.concurrency import NEARLY_ALL
from gazette_cdk.constructs.alarms import AlarmText, Urgency, create_alarm
from gazette_cdk.stage import Stage

NEARLY_USED_UP = AlarmText(
    name="concurrency-nearly-used-up",
    urgency=Urgency.MORNING,
    meaning=(
        "All functions of this account and Region together used more than 90 % of "
        "account_concurrency for a quarter of an hour. Once it is used up, Lambda throttles "
        "invocations: queues wait, and readers cannot unsubscribe. What to do: find the functions "
        "that use it (`aws lambda get-account-settings`; the metric ConcurrentExecutions by "
        "function). Request a higher quota and raise account_concurrency, or lower the setting "
        "concurrency. See docs/runbook/functions.md."
    ),
)


def watch_concurrency(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarm on the claimed concurrency of the account in the Region. The Lambda metric
    has no dimensions.

    Unlike ConcurrentExecutions, ClaimedAccountConcurrency also counts unused reserved concurrency,
    which is unavailable to other functions.
    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-concurrency.html
    """
    create_alarm(
        scope,
        NEARLY_USED_UP,
        stage=stage,
        topic=topic,
        metric=cloudwatch.Metric(
            namespace="AWS/Lambda",
            metric_name="ClaimedAccountConcurrency",
            period=Duration.minutes(5),
            statistic=cloudwatch.Stats.MAXIMUM,
        ),
        threshold=NEARLY_ALL * stage.account_concurrency,
        periods=3,
    )
