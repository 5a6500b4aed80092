"""The queues that trigger functions, and the queues that must stay empty, with their alarms."""

from typing import Any

import jsii
from aws_cdk import Duration, Names, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs
from constructs import Construct, IConstruct, RootConstruct

from gazette_cdk.constructs.alarms import announce
from gazette_cdk.constructs.grants import LeastQueue

_RETENTION = Duration.days(14)

_MOST_RECEIVES = 1000
"""The highest receive count that SQS allows. Viewing a message in the console also counts as a
receive. https://repost.aws/knowledge-center/sqs-dead-letter-queue
"""


class WatchedQueue(LeastQueue):
    """A queue that should be empty. An alarm fires while it has a message.

    `of` is the name of the queue whose dead letters this queue receives. SQS redrives only from a
    dead-letter queue, so `of` is empty only for a queue that is purged instead.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
    `behind` is the dead-letter queue of this queue. Messages practically never reach `behind`. It
    has this role only because SQS can redrive a dead-letter queue.
    docs/decisions/0095-every-queue-can-be-redriven-in-the-console.md
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        topic: sns.ITopic,
        meaning: str,
        of: str = "",
        behind: sqs.IQueue | None = None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            queue_name=name,
            retention_period=_RETENTION,
            enforce_ssl=True,
            dead_letter_queue=sqs.DeadLetterQueue(queue=behind, max_receive_count=_MOST_RECEIVES)
            if behind
            else None,
            redrive_allow_policy=_dead_letters_of(scope, f"Of{construct_id}", of),
        )
        alarm = self.metric_approximate_number_of_messages_visible(
            period=Duration.minutes(1), statistic=cloudwatch.Stats.MAXIMUM
        ).create_alarm(
            self,
            "NotEmpty",
            alarm_name=f"{name}-not-empty",
            alarm_description=meaning,
            threshold=0,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        announce(alarm, topic)


def way_back(queue: str, destination: str) -> str:
    """Return the sentence in an alarm's text that explains how to redrive a queue in the SQS
    console.

    The sentence contains the destination's ARN, because the console requires it. SQS does not know
    the source of messages that SQS did not move itself.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/troubleshooting-dlq-redrive.html
    """
    return (
        f'In the SQS console: open {queue}, choose "Start DLQ redrive", and redrive to a custom '
        f"destination, the ARN of {destination}."
    )


def id_in_stack(construct: IConstruct) -> str:
    """Return the id that the CDK derives from the path of a construct, as if its stack were at the
    top of the app.

    The CDK puts such an id into the logical ids of event source mappings and subscriptions. If
    these changed with the constructs around the stack, a deployment would create a second mapping
    of a queue, which Lambda rejects.
    """
    within: Construct = RootConstruct()
    for each in construct.node.scopes[construct.node.scopes.index(Stack.of(construct)) :]:
        within = Construct(within, each.node.id)
    return Names.node_unique_id(within.node)


def feed(function: lambda_.Alias, queue: sqs.IQueue, **options: Any) -> None:
    """Let Lambda invoke a function with the messages of a queue.

    `options` are the options of an event source mapping. `SqsEventSource` would do the same, but
    its logical id depends on the constructs around the stack.
    """
    function.add_event_source_mapping(
        f"SqsEventSource:{id_in_stack(queue)}", event_source_arn=queue.queue_arn, **options
    )
    queue.grant_consume_messages(function)


@jsii.implements(sns.ITopicSubscription)
class QueueSubscription:
    """A subscription of a queue to a topic. Its logical id depends only on the stack."""

    def __init__(self, queue: sqs.IQueue, *, dead: sqs.IQueue) -> None:
        self._subscription = subscriptions.SqsSubscription(
            queue, raw_message_delivery=True, dead_letter_queue=dead
        )

    def bind(self, topic: sns.ITopic) -> sns.TopicSubscriptionConfig:
        """Return the options of the subscription."""
        options = self._subscription.bind(topic)
        return sns.TopicSubscriptionConfig(
            endpoint=options.endpoint,
            protocol=options.protocol,
            raw_message_delivery=options.raw_message_delivery,
            dead_letter_queue=options.dead_letter_queue,
            subscriber_scope=options.subscriber_scope,
            subscription_dependency=options.subscription_dependency,
            subscriber_id=id_in_stack(topic),
        )


def step_queue(
    scope: Construct,
    construct_id: str,
    *,
    name: str,
    visibility: Duration,
    max_receives: int,
    dead: sqs.IQueue,
) -> sqs.Queue:
    """Create a queue that triggers a function and has its own dead-letter queue."""
    return LeastQueue(
        scope,
        construct_id,
        queue_name=name,
        visibility_timeout=visibility,
        retention_period=_RETENTION,
        enforce_ssl=True,
        dead_letter_queue=sqs.DeadLetterQueue(queue=dead, max_receive_count=max_receives),
        redrive_allow_policy=_dead_letters_of(scope, "Of", ""),
    )


def _dead_letters_of(scope: Construct, construct_id: str, name: str) -> sqs.RedriveAllowPolicy:
    """Return a policy that allows only one queue to use this queue for dead letters.

    Otherwise the owner of another queue could also use this queue for dead letters, and then move
    the messages in this queue to the other queue. The ARN is built from the name, because that
    queue already refers to this one. A move to a custom destination and `gazette dlq redrive` need
    other permissions than this policy.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
    """
    if not name:
        return sqs.RedriveAllowPolicy(redrive_permission=sqs.RedrivePermission.DENY_ALL)
    arn = Stack.of(scope).format_arn(service="sqs", resource=name)
    return sqs.RedriveAllowPolicy(
        redrive_permission=sqs.RedrivePermission.BY_QUEUE,
        source_queues=[sqs.Queue.from_queue_arn(scope, construct_id, arn)],
    )
