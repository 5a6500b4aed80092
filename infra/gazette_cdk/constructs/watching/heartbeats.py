"""Alarms that fire if a count that every clock tick produces is missing."""

from collections.abc import Callable
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from gazette_cdk.constructs.alarms import AlarmText, Urgency, create_alarm, own_metric
from gazette_cdk.stage import Stage

SWEPT = 16
"""The number of partitions of open runs. The sweep reads every partition."""


@dataclass(frozen=True, kw_only=True)
class Heartbeat(AlarmText):
    """An alarm on a count that must never stop. It fires after several low periods in a row.

    A period without data is breaching. CloudWatch looks for late data in more than `beats` periods,
    so after complete silence the alarm may fire up to two periods later.

    Each period ends at the minute of its evaluation. The counts of one tick may therefore be split
    between two periods or, if the clock is some seconds late, fall into the next period. `least`
    allows for this.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation-window.html
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
    """

    metric: str

    # The length of a period, in which the clock ticks once.
    minutes: int

    # The number of low periods in a row after which the alarm fires.
    beats: int

    # The complete count of one clock tick.
    each: Callable[[Stage], int]

    def least(self, stage: Stage) -> float:
        """Return the lowest count that a healthy period can have.

        Counts that are missing from one period are in a neighbouring period. Together, `beats`
        consecutive periods therefore lack at most the counts of one tick. At least one of these
        periods lacks no more than that count divided by `beats`.
        """
        return self.each(stage) * (self.beats - 1) / self.beats


HEARTBEATS = (
    Heartbeat(
        name="fanout-silent",
        urgency=Urgency.NOW,
        metric="shards_done",
        minutes=10,
        beats=2,
        each=lambda stage: stage.shards,
        meaning=(
            "For twenty minutes fan-out has finished fewer than half of the shards. Most or all "
            "digests do not start. What to do: if the metric ticks_done is missing too, the clock "
            "or the function has stopped. Check the schedules of EventBridge Scheduler and "
            "the log of gazette-{stage}-fanout. Otherwise check the queue shard and its dead "
            "letters (`gazette dlq list --stage {stage}`). Fan-out makes up for every missed slot. "
            "See docs/runbook/fanout-silent.md."
        ),
    ),
    Heartbeat(
        name="sweep-silent",
        urgency=Urgency.NOW,
        metric="partitions_swept",
        minutes=5,
        beats=3,
        each=lambda _: SWEPT,
        meaning=(
            "For a quarter of an hour the sweep has finished fewer than two thirds of the "
            "partitions. Immediate emails that collect events for up to an hour are not sent. Lost "
            "messages and dead workers are not recovered, and emails with unknown outcomes are not "
            "decided. The alarms that depend on the sweep cannot fire "
            "(shards-late, given-up, delivery-events-missing, digests-overdue). What to do: check "
            "the schedules of EventBridge Scheduler, the log of gazette-{stage}-sweep, and the "
            "queue sweep and its dead letters (`gazette dlq list --stage {stage}`). See "
            "docs/runbook/sweep-silent.md."
        ),
    ),
)


def watch_silence(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the heartbeat alarms, which fire if a regular count is missing."""
    for heartbeat in HEARTBEATS:
        period = Duration.minutes(heartbeat.minutes)
        create_alarm(
            scope,
            heartbeat,
            stage=stage,
            topic=topic,
            metric=own_metric(heartbeat.metric, stage, cloudwatch.Stats.SUM, period=period),
            threshold=heartbeat.least(stage),
            comparison=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            periods=heartbeat.beats,
            bad=heartbeat.beats,
            missing=cloudwatch.TreatMissingData.BREACHING,
        )
