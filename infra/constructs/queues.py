"""The queues: those that feed functions, and those that must stay empty, with an alarm."""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

_KEPT = Duration.days(14)

_MOST_RECEIVES = 1000
"""The maximum of SQS. Looking at a message in the console also counts as a receive.
https://repost.aws/knowledge-center/sqs-dead-letter-queue"""


class WatchedQueue(sqs.Queue):
    """A queue that should be empty. An alarm fires while it has a message.

    `behind`: the dead-letter queue of this queue, in effect never used. SQS redrives only from
    dead-letter queues, so `behind` must be one.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        topic: sns.ITopic,
        meaning: str,
        behind: sqs.IQueue | None = None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            queue_name=name,
            retention_period=_KEPT,
            enforce_ssl=True,
            dead_letter_queue=sqs.DeadLetterQueue(queue=behind, max_receive_count=_MOST_RECEIVES)
            if behind
            else None,
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
        alarm.add_alarm_action(actions.SnsAction(topic))


def step_queue(
    scope: Construct, *, name: str, visibility: Duration, max_receives: int, dead: sqs.IQueue
) -> sqs.Queue:
    """A queue that feeds a function, with its own dead-letter queue."""
    return sqs.Queue(
        scope,
        "Queue",
        queue_name=name,
        visibility_timeout=visibility,
        retention_period=_KEPT,
        enforce_ssl=True,
        dead_letter_queue=sqs.DeadLetterQueue(queue=dead, max_receive_count=max_receives),
    )
