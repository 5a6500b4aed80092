"""Messages from the bus, by way of the ingest queue, into the tables."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.ingest import build
from gazette.bootstrap.parts.init import during_init
from gazette.observability import Message, TimeLeft, all_messages, count, logger, observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """One invocation of up to ten messages; each succeeds or is delivered again by itself."""
    with observed(context):
        return all_messages(event, context, _ingest)


def _ingest(messages: Sequence[Message], time_left: TimeLeft) -> list[Exception | None]:
    done = build()([message.body for message in messages], time_left)
    return [_failure(message, each) for message, each in zip(messages, done, strict=True)]


def _failure(message: Message, done: Sequence[str] | Exception) -> Exception | None:
    """Report what became of a message; or return why it must be delivered again."""
    if isinstance(done, Exception):
        return done
    outcomes = Counter(done)
    for outcome, number in outcomes.items():
        count(f"ingest_{outcome}", number)
    logger().info("message ingested", outcomes=outcomes, message_id=message.id)
    return None


during_init(build)
