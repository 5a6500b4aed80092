"""Alarms on events out that are late or cannot be published."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from gazette_cdk.constructs.alarms import AlarmText, Urgency, create_alarm
from gazette_cdk.constructs.events_out import RETRIES
from gazette_cdk.stage import Stage

_TEN_MINUTES = 600_000
"""Ten minutes in milliseconds, the unit of IteratorAge."""

LATE = AlarmText(
    name="events-out-late",
    urgency=Urgency.MORNING,
    meaning=(
        "The last events about readers and emails were published more than ten minutes after the "
        "change. Consumers do not know yet who left. Email is not affected. Changes that are not "
        "published within 24 hours are lost. What to do: check that the event source mappings of "
        "gazette-{stage}-outbox are enabled, and find out whether the function fails or is "
        "throttled. See docs/runbook/events-out-late.md."
    ),
)
FAILED = AlarmText(
    name="events-out-failed",
    urgency=Urgency.MORNING,
    meaning=(
        f"The function gazette-{{stage}}-outbox failed at least {RETRIES} times in an hour, so "
        "some events about readers and emails may be in the bucket for unpublished batches. What "
        "to do: find the reason in the function's log, and fix the cause. Then run `gazette "
        "events-out republish --stage {stage}`, which is safe at any time. See "
        "docs/runbook/events-out-failed.md."
    ),
)


def watch_events_out(
    scope: Construct, function: lambda_.IFunction, stage: Stage, topic: sns.ITopic
) -> None:
    """Create an alarm on the age of the changes that the function gets, and on its errors.

    A batch goes to the bucket after RETRIES repetitions, which all count as errors.
    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
    """
    create_alarm(
        scope,
        LATE,
        stage=stage,
        topic=topic,
        metric=function.metric(
            "IteratorAge", period=Duration.minutes(5), statistic=cloudwatch.Stats.MAXIMUM
        ),
        threshold=_TEN_MINUTES,
        periods=2,
    )
    create_alarm(
        scope,
        FAILED,
        stage=stage,
        topic=topic,
        metric=function.metric_errors(period=Duration.hours(1)),
        threshold=RETRIES - 1,
    )
