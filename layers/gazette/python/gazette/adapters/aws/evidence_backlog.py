"""The backlog of delivery events in the feedback queue and its dead-letter queues."""

from datetime import timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from gazette.domain.errors import Unavailable
from gazette.domain.ports.clock import Clock

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_sqs import SQSClient

_MINUTE = timedelta(minutes=1)


class SqsEvidenceBacklog:
    """Implementation of the `EvidenceBacklog` port backed by the feedback queue and its dead-letter
    queues.
    """

    def __init__(
        self,
        sqs: "SQSClient",
        cloudwatch: "CloudWatchClient",
        *,
        queue_url: str,
        failed_urls: tuple[str, ...],
        clock: Clock,
    ) -> None:
        self._sqs = sqs
        self._cloudwatch = cloudwatch
        self._queue_url = queue_url
        self._failed_urls = failed_urls
        self._clock = clock

    def is_clear(self, grace: timedelta) -> bool:
        """Return True if no delivery event has waited longer than `grace` or has failed.

        Costs one GetQueueAttributes per queue, and one GetMetricData if the feedback queue is not
        empty.

        SQS counts messages only approximately, and publishes their age only to CloudWatch, every
        minute.
        https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
        """
        try:
            if any(map(self._has_messages, self._failed_urls)):
                return False
            return not self._has_messages(self._queue_url) or self._oldest() < grace
        except (BotoCoreError, ClientError) as err:
            raise Unavailable(f"The backlog of the feedback queue cannot be read: {err}") from err

    def _has_messages(self, queue_url: str) -> bool:
        counts = self._sqs.get_queue_attributes(
            QueueUrl=queue_url,
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )["Attributes"]
        return any(map(int, counts.values()))

    def _oldest(self) -> timedelta:
        """Return the age of the oldest message, or `timedelta.max` if CloudWatch has no value."""
        now = self._clock()
        answer = self._cloudwatch.get_metric_data(
            StartTime=now - 5 * _MINUTE,
            EndTime=now,
            MetricDataQueries=[
                {
                    "Id": "oldest",
                    "MetricStat": {
                        "Metric": {
                            "Namespace": "AWS/SQS",
                            "MetricName": "ApproximateAgeOfOldestMessage",
                            "Dimensions": [
                                {"Name": "QueueName", "Value": self._queue_url.rpartition("/")[2]}
                            ],
                        },
                        "Period": 60,
                        "Stat": "Maximum",
                    },
                }
            ],
        )
        seconds = [value for result in answer["MetricDataResults"] for value in result["Values"]]
        return timedelta(seconds=max(seconds)) if seconds else timedelta.max
