"""Alarms on the age of the oldest message of each queue that feeds a function, and on growth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.alarms import Told, Urgency, create_alarm
from infra.constructs.watching.parts import name_in
from infra.stage import Stage

_MARGIN = 300
"""Seconds beyond what a message may rightly take."""

_GROWN = 100
"""Messages. Fewer may be chance."""


@dataclass(frozen=True, kw_only=True)
class Age:
    """What the age of a queue's oldest message means.

    `hidden`: seconds for which a message is delayed, or hidden, on purpose. To these come the
    visibility time-out, for which a worker that dies leaves a message hidden, and a margin.
    """

    urgency: Urgency
    hidden: int = 0
    stands: str


AGES: Mapping[str, Age] = MappingProxyType(
    {
        "ingest": Age(
            urgency=Urgency.NOW,
            stands="Events are not stored: readers hear nothing of them, least of all at once.",
        ),
        "followers": Age(
            urgency=Urgency.MORNING, stands="Followers do not hear of activities yet."
        ),
        "shard": Age(urgency=Urgency.NOW, stands="Digests of some readers do not start."),
        "generate": Age(
            urgency=Urgency.NOW, hidden=900, stands="Digests are due and nobody sends them."
        ),
        "immediate": Age(
            urgency=Urgency.NOW, hidden=300, stands="Immediate emails wait and nobody sends them."
        ),
        "resend": Age(
            urgency=Urgency.MORNING,
            hidden=13 * 3600,
            stands="Emails that were refused are not tried again.",
        ),
        "feedback": Age(
            urgency=Urgency.NOW,
            stands="Bounces and complaints suppress nobody, and unknown outcomes stay unknown.",
        ),
        "content": Age(
            urgency=Urgency.MORNING,
            hidden=900,
            stands="Nobody asks for recommendations: digests wait for them, or go without.",
        ),
        "sweep": Age(urgency=Urgency.MORNING, stands="Nothing recovers by itself."),
    }
)
"""By queue. A waiting run gets a new message, delayed by fifteen minutes at most, whose age begins
anew: how long readers wait is `oldest_due_age`. `resend` hides a message until its next attempt,
for thirteen hours in all. SQS leaves out of the metric what was received three times and not
deleted, so it may never be that old; the threshold holds either way.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
"""


def watch_ages(
    scope: Construct, queues: Sequence[sqs.Queue], stage: Stage, topic: sns.ITopic
) -> None:
    """Create an alarm on each queue's age. An empty queue has none. Raises KeyError if AGES does
    not know a queue.
    """
    for queue in queues:
        name, visibility = name_in(stage, queue), _plain(queue).visibility_timeout or 30
        age = AGES[name]
        create_alarm(
            scope,
            Told(
                name=f"{name}-old",
                urgency=age.urgency,
                meaning=(
                    f"{age.stands} A message has been on the queue {name} for longer than a "
                    "message may rightly be. What to do: is the event source mapping of the queue "
                    "enabled? Does its function fail, or is it throttled? Its log and `gazette "
                    "dlq list --stage {stage}` say more. See docs/runbook/queues.md."
                ),
            ),
            stage=stage,
            topic=topic,
            metric=queue.metric_approximate_age_of_oldest_message(
                period=Duration.minutes(5), statistic=cloudwatch.Stats.MAXIMUM
            ),
            threshold=visibility + age.hidden + _MARGIN,
            periods=2,
        )


def watch_growth(
    scope: Construct, queues: Sequence[sqs.Queue], stage: Stage, topic: sns.ITopic
) -> None:
    """Create an alarm on queues that are never drained and grow from one half-hour to the next."""
    metrics = {
        name_in(stage, queue): queue.metric_approximate_number_of_messages_visible(
            statistic=cloudwatch.Stats.MINIMUM
        )
        for queue in queues
    }
    grown = ", ".join(f"FILL(DIFF({name}), 0)" for name in metrics)
    create_alarm(
        scope,
        Told(
            name="queues-growing",
            urgency=Urgency.MORNING,
            meaning=(
                f"A queue was not drained for half an hour, and has over {_GROWN} messages more "
                "than in the half-hour before: less is done than comes in. What to do: the "
                "dashboard (Messages that wait) says which queue; raise the concurrency of its "
                "function, or find out what makes it slow. See docs/runbook/queues.md."
            ),
        ),
        stage=stage,
        topic=topic,
        metric=cloudwatch.MathExpression(
            expression=f"MAX([{grown}])",
            label="growth",
            period=Duration.minutes(30),
            using_metrics=dict(metrics),
        ),
        threshold=_GROWN,
    )


def _plain(queue: sqs.Queue) -> sqs.CfnQueue:
    return cast("sqs.CfnQueue", queue.node.default_child)
