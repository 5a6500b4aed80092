"""What SES reports of a stage's emails, and how it comes to the feedback queue."""

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as event_targets
from aws_cdk import aws_ses as ses
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.stages import Stage, Stream

_REPORTED = (
    ses.EmailSendingEvent.SEND,
    ses.EmailSendingEvent.DELIVERY,
    ses.EmailSendingEvent.DELIVERY_DELAY,
    ses.EmailSendingEvent.BOUNCE,
    ses.EmailSendingEvent.COMPLAINT,
    ses.EmailSendingEvent.REJECT,
)
"""Neither opens nor clicks, unless the stage wants them: who asks for those lets SES put a picture
into each email and lead each link by a server of its own.
https://docs.aws.amazon.com/ses/latest/dg/configure-custom-open-click-domains.html
https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_TrackingConfigurationOverrides.html"""


def report_emails(
    scope: Construct, stage: Stage, *, queue: sqs.IQueue, undelivered: sqs.IQueue
) -> None:
    """A configuration set for each stream; where SES sends, what it reports of both on `queue`.

    By way of the default bus, the only one that it takes.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-ses-configurationseteventdestination-eventbridgedestination.html
    """
    default_bus = events.EventBus.from_event_bus_name(scope, "DefaultBus", "default")
    for stream in stage.streams:
        built = _configuration_set(scope, stage, stream)
        if stage.mail_provider == "ses":
            built.add_event_destination(
                "Reports",
                destination=ses.EventDestination.event_bus(default_bus),
                events=_reported(stage),
            )
    if stage.mail_provider != "ses":
        return
    names = [name_of_set(stage, stream) for stream in stage.streams]
    events.Rule(
        scope,
        "ReportsOfEmails",
        event_bus=default_bus,
        event_pattern=events.EventPattern(
            source=["aws.ses"],
            detail_type=events.Match.prefix("Email "),
            detail={"mail": {"tags": {"ses:configuration-set": names}}},
        ),
        targets=[event_targets.SqsQueue(queue, dead_letter_queue=undelivered)],
    )


def name_of_set(stage: Stage, stream: Stream) -> str:
    """The configuration set of a stream: SES counts by it what becomes of emails."""
    return f"gazette-{stage.name}-{stream.name}"


def _configuration_set(scope: Construct, stage: Stage, stream: Stream) -> ses.ConfigurationSet:
    name = stream.name.capitalize()
    pool = (
        ses.DedicatedIpPool.from_dedicated_ip_pool_name(scope, f"{name}Pool", stream.pool)
        if stream.pool
        else None
    )
    return ses.ConfigurationSet(
        scope,
        name,
        configuration_set_name=name_of_set(stage, stream),
        dedicated_ip_pool=pool,
    )


def _reported(stage: Stage) -> list[ses.EmailSendingEvent]:
    tracked = {
        ses.EmailSendingEvent.CLICK: stage.track_clicks,
        ses.EmailSendingEvent.OPEN: stage.track_opens,
    }
    return [*_REPORTED, *(event for event, is_tracked in tracked.items() if is_tracked)]
