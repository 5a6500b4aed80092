"""Activities on their way to the followers of an entity, page by page."""

from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.followers import build
from gazette.observability import count, logger, observed, reported


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """One invocation of a few pages; each succeeds or is delivered again by itself."""
    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
    with observed(context):
        return dict(process_partial_response(event, reported(_bring), processor, context))


def _bring(record: SQSRecord) -> None:
    followers = build()(record.body)
    count("followers", followers)
    logger().info("followers served", followers=followers, message_id=record.message_id)
