"""The queues of a stage that feed no function and must be empty, and what their alarms say.

Dead letters of a function are with the function, in `infra.constructs.step`.
"""

from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.constructs.alarms import Urgency, described
from infra.constructs.queues import WatchedQueue
from infra.stage import Stage
from infra.topology import RESEND


def failed_runs(scope: Construct, stage: Stage, topic: sns.ITopic) -> WatchedQueue:
    """Runs whose email the provider refused for good, so that they can be redriven."""
    return _watched(
        scope,
        "failed",
        "The provider refused some emails six times. Nothing is lost: their events wait. What "
        f"to do: `gazette dlq show failed --stage {stage.name}` says why, and what a redrive "
        "would do. Once the provider accepts email again, run "
        f"`gazette dlq redrive failed --stage {stage.name}`: the next run of each schedule "
        "starts now, and sends nothing that a later digest has sent. In the SQS console, "
        "redrive to the custom destination "
        f"gazette-{stage.name}-resend, not to the source. "
        "See docs/runbook/failed-not-empty.md.",
        stage=stage,
        topic=topic,
        of=f"gazette-{stage.name}-{RESEND.queue}-dead",
    )


def quarantine(scope: Construct, stage: Stage, topic: sns.ITopic) -> WatchedQueue:
    """What services put and nobody can read, and delivery events of nobody's emails."""
    return _watched(
        scope,
        "quarantine",
        "Some events do not fit their schema, or SES sent delivery events of emails that these "
        "tables do not know. Nothing is dropped. What to do: "
        f"`gazette quarantine list --stage {stage.name}` has the reasons. Fix the cause; then "
        f"run `gazette quarantine redrive --stage {stage.name}`. "
        "See docs/runbook/quarantine-not-empty.md.",
        stage=stage,
        topic=topic,
    )


def undelivered(
    scope: Construct, stage: Stage, topic: sns.ITopic, *, name: str, what_happened: str
) -> WatchedQueue:
    """What EventBridge could not put on a queue of the stage."""
    return _watched(
        scope,
        name,
        f"{what_happened} What to do: check the queue's policy and the function's log; then "
        f"run `gazette dlq redrive {name} --stage {stage.name}`. "
        "See docs/runbook/undelivered.md.",
        stage=stage,
        topic=topic,
        urgency=Urgency.NOW,
    )


def ticks_undelivered(scope: Construct, stage: Stage, topic: sns.ITopic) -> WatchedQueue:
    """Ticks that reached no function, or that it could not process."""
    return _watched(
        scope,
        "ticks-undelivered",
        "The functions fanout or sweep could not process some ticks of the clock. What to do: "
        "check the logs of both functions; then empty the queue: the next tick makes up for "
        "them. See docs/runbook/undelivered.md.",
        stage=stage,
        topic=topic,
    )


def _watched(
    scope: Construct,
    name: str,
    meaning: str,
    *,
    stage: Stage,
    topic: sns.ITopic,
    of: str = "",
    urgency: Urgency = Urgency.MORNING,
) -> WatchedQueue:
    return WatchedQueue(
        scope,
        name.title().replace("-", ""),
        name=f"gazette-{stage.name}-{name}",
        topic=topic,
        meaning=described(urgency, meaning, stage=stage),
        of=of,
    )
