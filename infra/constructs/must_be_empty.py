"""The queues of a stage that feed no function and must be empty, and what their alarms say.

Dead letters of a function are with the function, in `infra.constructs.step`.
"""

from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.alarms import Urgency, described
from infra.constructs.queues import WatchedQueue, way_back
from infra.stage import Stage
from infra.topology import FEEDBACK, INGEST, RESEND, Step

UNDELIVERED = "undelivered"


def failed_runs(scope: Construct, stage: Stage, topic: sns.ITopic) -> WatchedQueue:
    """Runs whose email the provider refused for good, so that they can be redriven."""
    return _watched(
        scope,
        "failed",
        "The provider refused some emails six times. Nothing is lost: their events wait. What "
        f"to do: `gazette dlq show failed --stage {stage.name}` says why, and what a redrive "
        "would do. Once the provider accepts email again, run "
        f"`gazette dlq redrive failed --stage {stage.name}`: the next run of each schedule "
        "starts now, and sends nothing that a later digest has sent. "
        f"{_way_back(stage, 'failed', str(RESEND.queue))} "
        "See docs/runbook/failed-not-empty.md.",
        stage=stage,
        topic=topic,
        of=f"{RESEND.queue}-dead",
    )


def quarantine(scope: Construct, stage: Stage, topic: sns.ITopic) -> WatchedQueue:
    """Events that do not fit their schema, and delivery events of unknown emails.

    It has messages for two functions. Each of them puts those of the other one back here.
    """
    return _watched(
        scope,
        "quarantine",
        "Some events do not fit their schema, or SES sent delivery events of emails that these "
        "tables do not know. Nothing is dropped. What to do: "
        f"`gazette quarantine list --stage {stage.name}` has the reasons. Fix the cause; then "
        f"run `gazette quarantine redrive --stage {stage.name}`. "
        f"{_way_back(stage, 'quarantine', str(INGEST.queue))} Delivery events come back: redrive "
        f"those to gazette-{stage.name}-{FEEDBACK.queue}. "
        "See docs/runbook/quarantine-not-empty.md.",
        stage=stage,
        topic=topic,
        of=UNDELIVERED,
    )


def undelivered_events(
    scope: Construct, stage: Stage, topic: sns.ITopic, *, behind: sqs.IQueue
) -> WatchedQueue:
    """Events that EventBridge could not put on the ingest queue."""
    return _undelivered(
        scope,
        UNDELIVERED,
        INGEST,
        "EventBridge could not put events on the ingest queue.",
        stage=stage,
        topic=topic,
        behind=behind,
    )


def undelivered_feedback(scope: Construct, stage: Stage, topic: sns.ITopic) -> WatchedQueue:
    """Delivery events that EventBridge or SNS could not put on the feedback queue."""
    return _undelivered(
        scope,
        "feedback-undelivered",
        FEEDBACK,
        "EventBridge could not put delivery events of SES on the feedback queue.",
        stage=stage,
        topic=topic,
    )


def ticks_undelivered(scope: Construct, stage: Stage, topic: sns.ITopic) -> WatchedQueue:
    """Ticks that reached no function, or that it could not process. They are purged."""
    name = "ticks-undelivered"
    return _watched(
        scope,
        name,
        "The functions fanout or sweep could not process some ticks of the clock. What to do: "
        "check the logs of both functions; then purge the queue: the next tick makes up for "
        f'them. In the SQS console: open gazette-{stage.name}-{name} and choose "Purge". '
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
        f"{what_happened} What to do: check the queue's policy and the function's log; then "
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
        meaning=described(urgency, meaning, stage=stage),
        of=f"gazette-{stage.name}-{of}" if of else "",
        behind=behind,
    )
