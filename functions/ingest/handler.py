"""Messages from the bus, by way of the ingest queue, into the tables."""

from collections import Counter
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.ingest import build
from gazette.bootstrap.parts.init import during_init
from gazette.observability import Message, TimeLeft, count, each_message, logger, observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """One invocation of up to ten messages; each succeeds or is delivered again by itself."""
    with observed(context):
        return each_message(event, context, _ingest)


def _ingest(message: Message, time_left: TimeLeft) -> None:
    outcomes = Counter(build()(message.body, time_left))
    for outcome, number in outcomes.items():
        count(f"ingest_{outcome}", number)
    logger().info("message ingested", outcomes=outcomes, message_id=message.id)


during_init(build)
