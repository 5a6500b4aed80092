"""Messages from the bus, by way of the ingest queue, into the tables."""

from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.ingest import TimeLeft, build
from gazette.observability import count, logger, observed, reported


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """One invocation of up to ten messages; each succeeds or is delivered again by itself."""
    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)

    def time_left() -> timedelta:
        return timedelta(milliseconds=context.get_remaining_time_in_millis())

    with observed(context):
        return dict(
            process_partial_response(
                event, reported(partial(_ingest, time_left=time_left)), processor, context
            )
        )


def _ingest(record: SQSRecord, *, time_left: TimeLeft) -> None:
    outcomes = Counter(build()(record.body, time_left))
    for outcome, number in outcomes.items():
        count(f"ingest_{outcome}", number)
    logger().info("message ingested", outcomes=outcomes, message_id=record.message_id)
