"""The rules that send events of services to the functions: delivery reports to feedback, and all
other events to ingest."""

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as event_targets
from constructs import Construct
from gazette.settings.feedback import REPORTED

from gazette_cdk.stage import Stage


def archived_events(stage: Stage) -> events.EventPattern:
    """Return the pattern of the events that a replay may publish again.

    Delivery reports are left out, because a replayed bounce would suppress an address again that an
    operator has released.
    """
    if not stage.reporters:
        return events.EventPattern(source=events.Match.prefix(""))
    other = events.Match.anything_but(REPORTED)
    return events.EventPattern(source=events.Match.prefix(""), detail_type=other)


def route_events(
    scope: Construct,
    stage: Stage,
    bus: events.EventBus,
    *,
    ingest: event_targets.SqsQueue,
    feedback: event_targets.SqsQueue,
) -> None:
    """Send every event on the bus to ingest, so that unknown types reach the quarantine.

    If the stage accepts delivery reports, those of its sources go to feedback instead. A report of
    any other source still goes to ingest, which quarantines it. Together, the three patterns match
    each event exactly once. During a deployment that changes them, an event may match two.
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
    """
    any_source = events.Match.prefix("")
    if not stage.reporters:
        pattern = events.EventPattern(source=any_source)
        events.Rule(scope, "AllEvents", event_bus=bus, event_pattern=pattern, targets=[ingest])
        return
    reports = [REPORTED]
    patterns = {
        "AllEvents": events.EventPattern(
            source=any_source, detail_type=events.Match.anything_but(REPORTED)
        ),
        "OtherReports": events.EventPattern(
            source=events.Match.anything_but(*stage.reporters), detail_type=reports
        ),
    }
    first = events.Rule(
        scope,
        "DeliveryReports",
        event_bus=bus,
        event_pattern=events.EventPattern(source=list(stage.reporters), detail_type=reports),
        targets=[feedback],
    )
    # The others change only when reports can reach feedback, so that none is lost meanwhile.
    policy = feedback.queue.node.find_child("Policy")
    for name, pattern in patterns.items():
        rule = events.Rule(scope, name, event_bus=bus, event_pattern=pattern, targets=[ingest])
        rule.node.add_dependency(first, policy)
