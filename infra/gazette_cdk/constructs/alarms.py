"""The alarm topic, helpers that create alarms, and references to the functions' own metrics."""

from dataclasses import dataclass
from enum import StrEnum

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from gazette_cdk.stage import NOTHING, Stage

_RUNBOOK = "docs/runbook"

_ABOVE = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD


class Urgency(StrEnum):
    """The urgency of an alarm. It is the first word of the alarm's text, so that pagers can filter
    alarms by urgency.

    docs/decisions/0054-one-topic-and-a-first-word.md
    """

    NOW = "NOW"
    """An alarm that needs action at once. Readers miss email or cannot unsubscribe, or the account
    is at risk.
    """

    MORNING = "MORNING"
    """An alarm that can wait until the morning. No email is lost in the meantime, or few readers
    are affected.
    """


class AlarmTopic(sns.Topic):
    """The topic of all alarms. The stage's `alarm_email`, if any, is subscribed to it.

    The topic's policy replaces the default policy, so it must also allow the account's alarms to
    publish. https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html
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


def describe(urgency: Urgency, meaning: str, *, stage: Stage) -> str:
    """Return the text of an alarm. Replace `{stage}` in `meaning` with the stage's name.

    The text ends with the path of the alarm's runbook page. If `runbook_url` is set, it ends with
    the page's URL without a period, so that mail programs make it a link.
    """
    text = f"{urgency}: {meaning.format(stage=stage.name)}"
    if not stage.runbook_url:
        return text
    return text.replace(f"{_RUNBOOK}/", f"{stage.runbook_url}/").removesuffix(".")


@dataclass(frozen=True, kw_only=True)
class AlarmText:
    """The name, urgency and text of an alarm."""

    name: str
    urgency: Urgency

    # The text, in which `{stage}` stands for the stage's name.
    meaning: str


def create_alarm(
    scope: Construct,
    text: AlarmText,
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
    """Create an alarm. By default, it fires when the metric is above the threshold.

    `bad` is the number of the last `periods` periods that must breach the threshold. None means all
    of these periods. `missing` is the treatment of periods without data, which by default do not
    breach the threshold.
    """
    alarm = cloudwatch.Alarm(
        scope,
        text.name.title().replace("-", ""),
        alarm_name=f"gazette-{stage.name}-{text.name}",
        alarm_description=describe(text.urgency, text.meaning, stage=stage),
        metric=metric,
        threshold=threshold,
        evaluation_periods=periods,
        datapoints_to_alarm=bad,
        comparison_operator=comparison,
        treat_missing_data=missing,
    )
    announce(alarm, topic)


def announce(alarm: cloudwatch.Alarm, topic: sns.ITopic) -> None:
    """Notify the topic when the alarm fires, and when it returns to OK."""
    action = actions.SnsAction(topic)
    alarm.add_alarm_action(action)
    alarm.add_ok_action(action)


def own_metric(name: str, stage: Stage, statistic: str, *, period: Duration) -> cloudwatch.Metric:
    """Return a metric that the stage's functions write. docs/metrics.md lists these metrics."""
    return cloudwatch.Metric(
        namespace="Gazette",
        metric_name=name,
        dimensions_map={"service": service_name(stage)},
        period=period,
        statistic=statistic,
    )


def service_name(stage: Stage) -> str:
    """Return the stage's service name, which identifies it in logs and in the `service` dimension
    of metrics.

    Functions read it from POWERTOOLS_SERVICE_NAME.
    https://docs.aws.amazon.com/powertools/python/latest/core/metrics/
    """
    return f"gazette-{stage.name}"
