"""The delivery events of a stage's emails, from SES to the feedback queue."""

from collections.abc import Iterable, Mapping

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as event_targets
from aws_cdk import aws_ses as ses
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from gazette_cdk.constructs.configuration_set import build_configuration_set, name_of_set
from gazette_cdk.constructs.queues import QueueSubscription
from gazette_cdk.stage import Stage

_REPORTED = (
    ses.EmailSendingEvent.SEND,
    ses.EmailSendingEvent.DELIVERY_DELAY,
    ses.EmailSendingEvent.BOUNCE,
    ses.EmailSendingEvent.COMPLAINT,
    ses.EmailSendingEvent.REJECT,
)
"""The SES events that every stage needs. `SEND` is the first proof that SES accepted an email.

SES reports opens and clicks only if the stage tracks them. It then adds an image to each email and
routes each link through its own server.
https://docs.aws.amazon.com/ses/latest/dg/configure-custom-open-click-domains.html
https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_TrackingConfigurationOverrides.html
"""


def publish_delivery_events(
    scope: Construct, stage: Stage, *, queue: sqs.IQueue, undelivered: sqs.IQueue
) -> None:
    """Create a configuration set for each stream, and route its delivery events to the feedback
    queue.

    Delivery events are routed only if the provider is SES: through the default bus and, with
    `feedback_by_sns`, also through a topic. Events that cannot be delivered go to `undelivered`.
    """
    sets = {
        name_of_set(stage, stream): build_configuration_set(scope, stage, stream)
        for stream in stage.streams
    }
    if stage.mail_provider != "ses":
        return
    _publish_by_bus(scope, stage, sets, queue=queue, undelivered=undelivered)
    if stage.feedback_by_sns:
        _publish_by_sns(scope, stage, sets.values(), queue=queue, undelivered=undelivered)


def _publish_by_bus(
    scope: Construct,
    stage: Stage,
    sets: Mapping[str, ses.ConfigurationSet],
    *,
    queue: sqs.IQueue,
    undelivered: sqs.IQueue,
) -> None:
    """Route delivery events through the default bus, because SES cannot publish to other buses.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-ses-configurationseteventdestination-eventbridgedestination.html
    """
    default_bus = events.EventBus.from_event_bus_name(scope, "DefaultBus", "default")
    for configuration_set in sets.values():
        configuration_set.add_event_destination(
            "DeliveryEvents",
            destination=ses.EventDestination.event_bus(default_bus),
            events=_reported(stage),
        )
    events.Rule(
        scope,
        "DeliveryEventsByBus",
        event_bus=default_bus,
        event_pattern=events.EventPattern(
            source=["aws.ses"],
            detail_type=events.Match.prefix("Email "),
            detail={"mail": {"tags": {"ses:configuration-set": list(sets)}}},
        ),
        targets=[event_targets.SqsQueue(queue, dead_letter_queue=undelivered)],
    )


def _publish_by_sns(
    scope: Construct,
    stage: Stage,
    sets: Iterable[ses.ConfigurationSet],
    *,
    queue: sqs.IQueue,
    undelivered: sqs.IQueue,
) -> None:
    """Create a topic to which only SES may publish, and only for these configuration sets.

    The CDK writes that policy and creates the destination after it, because SES tests the topic
    immediately.
    https://docs.aws.amazon.com/ses/latest/dg/event-publishing-add-event-destination-sns.html
    Messages are raw, that is, SES's record without SNS's envelope.
    https://docs.aws.amazon.com/sns/latest/dg/sns-large-payload-raw-message-delivery.html Messages
    that SNS cannot deliver go to the subscription's dead-letter queue.
    https://docs.aws.amazon.com/sns/latest/dg/sns-dead-letter-queues.html

    The topic requires TLS. It has no KMS key unless the app passes one. SES cannot publish to a
    topic with the AWS managed key. A customer managed key costs money per month and request, and
    SNS stores messages only for seconds. SQS encrypts the queue, where delivery events wait.
    https://docs.aws.amazon.com/ses/latest/dg/receiving-email-action-sns.html
    https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-server-side-encryption.html
    """
    topic = sns.Topic(scope, "DeliveryEvents", enforce_ssl=True)
    topic.add_subscription(QueueSubscription(queue, dead=undelivered))
    for configuration_set in sets:
        configuration_set.add_event_destination(
            "DeliveryEventsBySns",
            destination=ses.EventDestination.sns_topic(topic),
            events=_reported(stage),
        )


def _reported(stage: Stage) -> list[ses.EmailSendingEvent]:
    optional = {
        ses.EmailSendingEvent.DELIVERY: stage.report_deliveries,
        ses.EmailSendingEvent.CLICK: stage.track_clicks,
        ses.EmailSendingEvent.OPEN: stage.track_opens,
    }
    return [*_REPORTED, *(event for event, is_on in optional.items() if is_on)]
