"""Alarms on silence: they fire when a count that comes with each beat of the clock stays away."""

from collections.abc import Callable
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.constructs.alarms import Told, Urgency, create_alarm, own_metric
from infra.stage import Stage

SWEPT = 16
"""Partitions of the open runs, each of which the sweep looks at."""


@dataclass(frozen=True, kw_only=True)
class Heartbeat(Told):
    """An alarm on a count that never stops: too little of `metric` in `beats` periods in a row.

    `minutes`: the length of a period, in which the clock strikes once. `each`: what a beat counts
    when all is well. A period without data is a bad one. CloudWatch looks further back than `beats`
    periods for data that may be late, so that complete silence raises the alarm after up to two
    periods more.

    The periods slide: they end at the minute of the evaluation, so that a beat may lie across
    their bounds or, if the clock is late by some seconds, move to the next. See `least`.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation-window.html
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
    """

    metric: str
    minutes: int
    beats: int
    each: Callable[[Stage], int]

    def least(self, stage: Stage) -> float:
        """The least that a good period counts: a beat, less one of `beats` parts of it.

        What one period lacks of its own beat lies before its begin, and what the last lacks behind
        its end. So `beats` periods in a row lack at most one beat together, wherever their bounds
        are: they cannot each lack more than their part of it.
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
            "For twenty minutes fan-out has finished fewer than half of the shards: most or all "
            "digests do not start. What to do: if the metric ticks_done is missing too, the clock "
            "or the function has stopped: look at the schedules of EventBridge Scheduler and at "
            "the log of gazette-{stage}-fanout. If not, look at the queue shard and at its dead "
            "letters (`gazette dlq list --stage {stage}`). Fan-out makes up for every slot that it "
            "missed. See docs/runbook/fanout-silent.md."
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
            "partitions: lost messages "
            "and dead workers are not made up for, emails of unknown outcome are not decided, and "
            "the alarms that rest on the sweep are blind (shards-late, given-up, "
            "delivery-events-missing, digests-overdue). What to do: look at the schedules of "
            "EventBridge Scheduler, at the log of gazette-{stage}-sweep, and at the queue sweep "
            "and its dead letters (`gazette dlq list --stage {stage}`). See "
            "docs/runbook/sweep-silent.md."
        ),
    ),
)


def watch_silence(scope: Construct, stage: Stage, topic: sns.ITopic) -> None:
    """Create the alarms on silence."""
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
