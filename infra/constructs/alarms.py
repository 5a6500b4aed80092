"""Where alarms go, and those that watch no queue."""

from aws_cdk import Annotations, Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.stages import Stage

_BRAKE_WATCHED = 60
"""Minutes: the brake tries again after up to thirty, and who tries comes up to fifteen later."""


class AlarmTopic(sns.Topic):
    """A topic that CloudWatch may publish to and, if the stage says so, a person reads.

    A policy of its own takes the place of the default one, which let the account's alarms in.
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
        if stage.alarm_email:
            self.add_subscription(subscriptions.EmailSubscription(stage.alarm_email))
        elif stage.retain:
            Annotations.of(self).add_warning_v2(
                "gazette:no-alarm-email",
                f"Stage {stage.name!r} has no alarm_email in cdk.json: alarms reach nobody.",
            )


class BrakeAlarm(cloudwatch.Alarm):
    """Fires when the provider refuses the whole account, until an hour has passed without that.

    One minute of the hour is enough; those in which nothing was counted are good ones.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, stage: Stage, topic: sns.ITopic
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            alarm_name=f"gazette-{stage.name}-brake-pulled",
            alarm_description=(
                "The mail provider refuses every email of this account, so nothing is sent. "
                f"`gazette brake --stage {stage.name}` says why; mend that in the account. One "
                "email at a time tries again, at least every half hour, and all go out once it is "
                f"accepted; `gazette brake release --stage {stage.name}` lets them go at once. No "
                "attempt is used up, but a digest that waits longer than max_lateness goes with "
                "the next one."
            ),
            metric=cloudwatch.Metric(
                namespace="Gazette",
                metric_name="brake_pulled",
                dimensions_map={"service": service_name(stage)},
                period=Duration.minutes(1),
                statistic=cloudwatch.Stats.SUM,
            ),
            threshold=0,
            evaluation_periods=_BRAKE_WATCHED,
            datapoints_to_alarm=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        self.add_alarm_action(actions.SnsAction(topic))


def service_name(stage: Stage) -> str:
    """What a stage calls itself in logs and metrics: the dimension `service` of each metric.

    The functions read it as POWERTOOLS_SERVICE_NAME.
    https://docs.aws.amazon.com/powertools/python/latest/core/metrics/
    """
    return f"gazette-{stage.name}"
