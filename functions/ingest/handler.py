"""The ingest function, which stores events from the bus in the tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.ingest import build
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.parts.redelivery import come_back
from gazette.observability import Message, TimeLeft, all_messages, count, logger, observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Process up to ten messages. Each message succeeds or is retried separately."""
    with observed(context):
        return all_messages(event, context, _ingest, come_back=come_back)


def _ingest(messages: Sequence[Message], time_left: TimeLeft) -> list[Exception | None]:
    results = build()([message.body for message in messages], time_left)
    alike: dict[tuple[str, ...], list[str]] = {}
    for message, each in zip(messages, results, strict=True):
        if not isinstance(each, Exception):
            alike.setdefault(tuple(sorted(each)), []).append(message.id)
    for outcomes, message_ids in alike.items():
        _record(Counter(outcomes), message_ids)
    return [each if isinstance(each, Exception) else None for each in results]


def _record(outcomes: Mapping[str, int], message_ids: Sequence[str]) -> None:
    """Count and log messages by outcome, so that most batches need only one log line."""
    for outcome, number in outcomes.items():
        count(f"ingest_{outcome}", number * len(message_ids))
    logger().info("messages ingested", outcomes=outcomes, message_ids=message_ids)


during_init(build)
