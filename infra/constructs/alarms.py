"""Where alarms go."""

from aws_cdk import Annotations, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.stages import Stage


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
