"""Alarms on the oldest message and on the growth of each queue that triggers a function."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from gazette_cdk.constructs.alarms import AlarmText, Urgency, create_alarm
from gazette_cdk.constructs.watching.parts import name_in
from gazette_cdk.stage import Stage

_MARGIN = 300
"""The tolerance in seconds beyond the expected age of a message."""

_GROWN = 100
"""The growth of a queue, in messages, above which the alarm fires. Smaller growth may be chance."""


@dataclass(frozen=True, kw_only=True)
class Age:
    """The expected age of a queue's oldest message, and the alarm for an older message."""

    urgency: Urgency

    # The seconds for which a message may be delayed or hidden on purpose. A margin is added, and
    # the visibility time-out, for which a crashed worker leaves a message hidden.
    hidden: int = 0

    # The effect on readers while messages wait.
    effect: str


AGES: Mapping[str, Age] = MappingProxyType(
    {
        "ingest": Age(
            urgency=Urgency.NOW,
            effect="Events are not stored, so readers are not notified of them.",
        ),
        "followers": Age(
            urgency=Urgency.MORNING, effect="Followers are not notified of activities yet."
        ),
        "shard": Age(urgency=Urgency.NOW, effect="Digests of some readers do not start."),
        "generate": Age(
            urgency=Urgency.NOW, hidden=900, effect="Digests are due but are not sent."
        ),
        "immediate": Age(
            urgency=Urgency.NOW, hidden=900, effect="Immediate emails wait and are not sent."
        ),
        "resend": Age(
            urgency=Urgency.MORNING,
            hidden=13 * 3600,
            effect="Rejected emails are not retried.",
        ),
        "feedback": Age(
            urgency=Urgency.NOW,
            effect="Addresses that bounced or complained are not suppressed, and unknown outcomes "
            "remain unknown.",
        ),
        "content": Age(
            urgency=Urgency.MORNING,
            hidden=900,
            effect="Recommendations are not fetched. Digests wait, or go out without them.",
        ),
        "sweep": Age(
            urgency=Urgency.NOW,
            effect="Immediate emails that collect events for up to an hour are not sent, and lost "
            "messages are not recovered.",
        ),
    }
)
"""The expected age of the oldest message in each queue.

A waiting run gets a new message, delayed by up to fifteen minutes, whose age starts at zero. The
metric `oldest_due_age` measures the actual delay for readers. `resend` hides a message until its
next attempt, for thirteen hours in total. The metric excludes messages that were received three
times and not deleted, so the age may never be that high. The threshold is safe in both cases.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
"""


def watch_ages(
    scope: Construct, queues: Sequence[sqs.Queue], stage: Stage, topic: sns.ITopic
) -> None:
    """Create an alarm on each queue's oldest message.

    An empty queue reports no age. Raise KeyError for a queue that is not in AGES.
    """
    for queue in queues:
        name, visibility = name_in(stage, queue), _plain(queue).visibility_timeout or 30
        age = AGES[name]
        create_alarm(
            scope,
            AlarmText(
                name=f"{name}-old",
                urgency=age.urgency,
                meaning=(
                    f"{age.effect} A message has been on the queue {name} for longer than "
                    "expected. What to do: check that the event source mapping of the queue is "
                    "enabled, and whether its function fails or is throttled. See its log and "
                    "`gazette dlq list --stage {stage}`. See docs/runbook/queues.md."
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
    """Create an alarm that fires if a queue has grown since the previous half-hour."""
    metrics = {
        name_in(stage, queue): queue.metric_approximate_number_of_messages_visible(
            statistic=cloudwatch.Stats.MINIMUM
        )
        for queue in queues
    }
    grown = ", ".join(f"FILL(DIFF({name}), 0)" for name in metrics)
    create_alarm(
        scope,
        AlarmText(
            name="queues-growing",
            urgency=Urgency.MORNING,
            meaning=(
                f"A queue was not drained for half an hour, and has over {_GROWN} messages more "
                "than in the half-hour before. More messages arrive than are processed. What to "
                "do: find the queue on the dashboard (Waiting messages). Raise the concurrency of "
                "its function, or find out why it is slow. See docs/runbook/queues.md."
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
