"""Runs from the generate queue: each becomes one email, or a reason why not."""

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
from gazette.bootstrap.generate import TimeLeft, build
from gazette.domain.identity import run_id
from gazette.observability import count, logger, observed, reported


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """One invocation of up to ten runs; each ends, or its message is delivered again."""
    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)

    def time_left() -> timedelta:
        return timedelta(milliseconds=context.get_remaining_time_in_millis())

    with observed(context):
        return dict(
            process_partial_response(
                event, reported(partial(_generate, time_left=time_left)), processor, context
            )
        )


def _generate(record: SQSRecord, *, time_left: TimeLeft) -> None:
    run = build()(record.body, time_left)
    if run is None:
        logger().warning("message names no run", message_id=record.message_id)
        return
    count(f"run_{run.status}")
    logger().info(
        "run ended",
        correlation_id=run_id(run.key),
        status=run.status,
        reason=run.reason,
        detail=run.detail,
        attempt=run.attempt,
    )
