"""The feedback queue, on which the API puts the delivery events that services report."""

from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from gazette.domain.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_SERVER_ERROR = 500


class SqsIntake:
    """Implementation of the `Intake` port backed by SQS."""

    def __init__(self, client: "SQSClient", queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def put(self, body: str) -> bool:
        """Queue a message with one SendMessage.

        SQS stores a message redundantly before it answers.
        https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/welcome.html
        """
        try:
            self._client.send_message(QueueUrl=self._queue_url, MessageBody=body)
        except ClientError as err:
            if _is_certain(err):
                return False
            raise Unavailable(f"SQS may not have accepted a message: {err}") from err
        except BotoCoreError as err:
            raise Unavailable(f"SQS did not answer: {err}") from err
        return True


def _is_certain(err: ClientError) -> bool:
    """Return True if SQS rejected the only attempt, so the message is certainly not queued.

    After a repetition, an earlier attempt may have been accepted although its answer was lost.
    """
    about = err.response.get("ResponseMetadata", {})
    status = about.get("HTTPStatusCode", _SERVER_ERROR)
    return status < _SERVER_ERROR and not about.get("RetryAttempts", 0)
