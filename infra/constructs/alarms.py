"""The alarm topic, what every alarm says and does, and the metrics that functions write."""

from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.stage import NOTHING, Stage

_RUNBOOK = "docs/runbook"

_ABOVE = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD


class Urgency(StrEnum):
    """How long an alarm can wait; the first word of its text, by which a pager can choose.

    docs/decisions/0054-one-topic-and-a-first-word.md
    """

    NOW = "NOW"
    """Readers miss email, cannot unsubscribe, or the account is at risk: it wakes somebody."""

    MORNING = "MORNING"
    """Nothing is lost meanwhile, or it concerns few."""


class AlarmTopic(sns.Topic):
    """The topic of all alarms. The stage's `alarm_email`, if any, is subscribed to it.

    Its policy replaces the default one, which allows the account's alarms, so it allows them again.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage) -> None:
        super().__init__(scope, construct_id, enforce_ssl=True)
        self.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[self.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            )
        )
        if stage.alarm_email not in {"", NOTHING}:
            self.add_subscription(subscriptions.EmailSubscription(stage.alarm_email))


def described(urgency: Urgency, meaning: str, *, stage: Stage) -> str:
    """The text of an alarm. `{stage}` in `meaning` becomes the stage's name.

    It ends with its page of the runbook: where the stage says where that is read, with its address
    and nothing behind it, so that mail programs make a link of it.
    """
    text = f"{urgency}: {meaning.format(stage=stage.name)}"
    if not stage.runbook_url:
        return text
    return text.replace(f"{_RUNBOOK}/", f"{stage.runbook_url}/").removesuffix(".")


@dataclass(frozen=True, kw_only=True)
class Told:
    """What an alarm is called, and what it says: `{stage}` in `meaning` is the stage's name."""

    name: str
    urgency: Urgency
    meaning: str


def create_alarm(
    scope: Construct,
    told: Told,
    *,
    stage: Stage,
    topic: sns.ITopic,
    metric: cloudwatch.IMetric,
    threshold: float,
    comparison: cloudwatch.ComparisonOperator = _ABOVE,
    periods: int = 1,
    bad: int | None = None,
    missing: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
) -> None:
    """Create an alarm that fires when the metric is above the threshold, or as `comparison` says.

    `bad`: in how many of so many periods in a row; None: in all. `missing`: what a period without
    data is, by default a good one.
    """
    alarm = cloudwatch.Alarm(
        scope,
        told.name.title().replace("-", ""),
        alarm_name=f"gazette-{stage.name}-{told.name}",
        alarm_description=described(told.urgency, told.meaning, stage=stage),
        metric=metric,
        threshold=threshold,
        evaluation_periods=periods,
        datapoints_to_alarm=bad,
        comparison_operator=comparison,
        treat_missing_data=missing,
    )
    announce(alarm, topic)


def announce(alarm: cloudwatch.Alarm, topic: sns.ITopic) -> None:
    """Tell the topic when the alarm begins, and when it has ended."""
    action = actions.SnsAction(topic)
    alarm.add_alarm_action(action)
    alarm.add_ok_action(action)


def own_metric(name: str, stage: Stage, statistic: str, *, period: Duration) -> cloudwatch.Metric:
    """A metric of docs/metrics.md, as the functions of the stage write it."""
    return cloudwatch.Metric(
        namespace="Gazette",
        metric_name=name,
        dimensions_map={"service": service_name(stage)},
        period=period,
        statistic=statistic,
    )


def service_name(stage: Stage) -> str:
    """The name of a stage in logs and metrics: the value of each metric's dimension `service`.

    The functions read it as POWERTOOLS_SERVICE_NAME.
    https://docs.aws.amazon.com/powertools/python/latest/core/metrics/
    """
    return f"gazette-{stage.name}"
