"""Messages from the bus, by way of the ingest queue, into the tables."""

from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.ingest import build
from gazette.observability import count, logger, observed, reported


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """One invocation of up to ten messages; each succeeds or is delivered again by itself."""
    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
    with observed(context):
        return dict(process_partial_response(event, reported(_ingest), processor, context))


def _ingest(record: SQSRecord) -> None:
    outcome = build()(record.body)
    count(f"ingest_{outcome}")
    logger().info("message ingested", outcome=outcome, message_id=record.message_id)
