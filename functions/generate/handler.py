"""Runs from the generate queue: each becomes one email, or a reason why not."""

from typing import Any

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.generate import build
from gazette.domain.identity import run_id
from gazette.observability import TimeLeft, count, each_message, logger, observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """One invocation of up to ten runs; each ends, or its message is delivered again."""
    with observed(context):
        return each_message(event, context, _generate)


def _generate(record: SQSRecord, time_left: TimeLeft) -> None:
    run = build()(record.body, time_left)
    if run is None:
        logger().warning("message names no run", message_id=record.message_id)
        return
    count(f"run_{run.status}" if run.status.is_final else "run_put_off")
    logger().info(
        "run ended" if run.status.is_final else "run put off",
        correlation_id=run_id(run.key),
        status=run.status,
        reason=run.reason,
        detail=run.detail,
        attempt=run.attempt,
    )
