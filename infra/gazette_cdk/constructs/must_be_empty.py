"""Queues that do not trigger functions and should stay empty, with the texts of their alarms.

The dead-letter queues of functions are in `gazette_cdk.constructs.step`.
"""

from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from gazette_cdk.constructs.alarms import Urgency, describe
from gazette_cdk.constructs.queues import WatchedQueue, way_back
from gazette_cdk.stage import Stage
from gazette_cdk.topology import FEEDBACK, INGEST, RESEND, Step

UNDELIVERED = "undelivered"


def failed_runs(scope: Construct, stage: Stage, topic: sns.ITopic) -> WatchedQueue:
    """Create the queue of runs whose email the provider rejected. Operators can redrive them."""
    return _watched(
        scope,
        "failed",
        "The provider rejected some emails six times. Their events are not lost. What to do: "
        f"`gazette dlq show failed --stage {stage.name}` shows the reasons, and the effect of a "
        "redrive. Once the provider accepts email again, run "
        f"`gazette dlq redrive failed --stage {stage.name}`. The next run of each schedule "
        "then starts, without events that a later digest has sent. "
        f"{_way_back(stage, 'failed', str(RESEND.queue))} "
        "See docs/runbook/failed-not-empty.md.",
        stage=stage,
        topic=topic,
        of=f"{RESEND.queue}-dead",
    )


def quarantine(scope: Construct, stage: Stage, topic: sns.ITopic) -> WatchedQueue:
    """Create the queue for invalid events, and for delivery events of unknown emails.

    After a redrive, ingest returns delivery events to this queue, and feedback returns events.
    """
    return _watched(
        scope,
        "quarantine",
        "Some events do not match their schema, or delivery events belong to no email in these "
        "tables. Every event is in the queue. What to do: "
        f"`gazette quarantine list --stage {stage.name}` shows the reasons. Fix the cause. Then "
        f"run `gazette quarantine redrive --stage {stage.name}`. "
        f"{_way_back(stage, 'quarantine', str(INGEST.queue))} Delivery events return; redrive "
        f"them to gazette-{stage.name}-{FEEDBACK.queue}. "
        "See docs/runbook/quarantine-not-empty.md.",
        stage=stage,
        topic=topic,
        of=UNDELIVERED,
    )


def undelivered_events(
    scope: Construct, stage: Stage, topic: sns.ITopic, *, behind: sqs.IQueue
) -> WatchedQueue:
    """Create the queue of events that EventBridge could not send to the ingest queue."""
    return _undelivered(
        scope,
        UNDELIVERED,
        INGEST,
        "EventBridge could not send events to the ingest queue.",
        stage=stage,
        topic=topic,
        behind=behind,
    )


def undelivered_feedback(scope: Construct, stage: Stage, topic: sns.ITopic) -> WatchedQueue:
    """Create the queue of delivery events that could not reach the feedback queue."""
    return _undelivered(
        scope,
        "feedback-undelivered",
        FEEDBACK,
        "EventBridge could not send delivery events of SES to the feedback queue.",
        stage=stage,
        topic=topic,
    )


def ticks_undelivered(scope: Construct, stage: Stage, topic: sns.ITopic) -> WatchedQueue:
    """Create the queue of ticks that a function did not receive or could not process.

    An operator purges this queue instead of redriving it.
    """
    name = "ticks-undelivered"
    return _watched(
        scope,
        name,
        "The functions fanout or sweep could not process some ticks of the clock. What to do: "
        "check the logs of both functions. Then purge the queue, because the next tick makes up "
        f'for them. In the SQS console: open gazette-{stage.name}-{name} and choose "Purge". '
        "See docs/runbook/undelivered.md.",
        stage=stage,
        topic=topic,
    )


def _undelivered(
    scope: Construct,
    name: str,
    step: Step,
    what_happened: str,
    *,
    stage: Stage,
    topic: sns.ITopic,
    behind: sqs.IQueue | None = None,
) -> WatchedQueue:
    return _watched(
        scope,
        name,
        f"{what_happened} What to do: check the queue's policy and the function's log. Then "
        f"run `gazette dlq redrive {name} --stage {stage.name}`. "
        f"{_way_back(stage, name, str(step.queue))} "
        "See docs/runbook/undelivered.md.",
        stage=stage,
        topic=topic,
        of=f"{step.queue}-dead",
        behind=behind,
        urgency=Urgency.NOW,
    )


def _way_back(stage: Stage, name: str, destination: str) -> str:
    return way_back(f"gazette-{stage.name}-{name}", f"gazette-{stage.name}-{destination}")


def _watched(
    scope: Construct,
    name: str,
    meaning: str,
    *,
    stage: Stage,
    topic: sns.ITopic,
    of: str = "",
    behind: sqs.IQueue | None = None,
    urgency: Urgency = Urgency.MORNING,
) -> WatchedQueue:
    return WatchedQueue(
        scope,
        name.title().replace("-", ""),
        name=f"gazette-{stage.name}-{name}",
        topic=topic,
        meaning=describe(urgency, meaning, stage=stage),
        of=f"gazette-{stage.name}-{of}" if of else "",
        behind=behind,
    )
