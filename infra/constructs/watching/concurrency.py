"""An alarm on what is left of the concurrency that all functions of the account share."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct
from gazette.settings.concurrency import NEARLY_ALL

from infra.constructs.alarms import Told, Urgency, create_alarm
from infra.stage import Stage

NEARLY_USED_UP = Told(
    name="concurrency-nearly-used-up",
    urgency=Urgency.MORNING,
    meaning=(
        "More than 90 % of account_concurrency was taken, for a quarter of an hour, by all "
        "functions of this account and region together. Once it is used up, Lambda turns "
        "invocations away: queues wait, and readers cannot unsubscribe. What to do: see who takes "
        "it (`aws lambda get-account-settings`; the metric ConcurrentExecutions by function); ask "
        "for a higher quota and raise account_concurrency, or lower the setting concurrency. See "
        "docs/runbook/functions.md."
    ),
)


def watch_concurrency(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create it, from Lambda's metric of the account and region, which has no dimensions.

    ClaimedAccountConcurrency also counts what other functions reserve and do not use, as
    ConcurrentExecutions does not: nobody else can have that.
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
