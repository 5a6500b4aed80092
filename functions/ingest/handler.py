"""Messages from the bus, by way of the ingest queue, into the tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.ingest import build
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.parts.redelivery import come_back
from gazette.observability import Message, TimeLeft, all_messages, count, logger, observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """One invocation of up to ten messages; each succeeds or is delivered again by itself."""
    with observed(context):
        return all_messages(event, context, _ingest, come_back=come_back)


def _ingest(messages: Sequence[Message], time_left: TimeLeft) -> list[Exception | None]:
    done = build()([message.body for message in messages], time_left)
    alike: dict[tuple[str, ...], list[str]] = {}
    for message, each in zip(messages, done, strict=True):
        if not isinstance(each, Exception):
            alike.setdefault(tuple(sorted(each)), []).append(message.id)
    for outcomes, message_ids in alike.items():
        _record(Counter(outcomes), message_ids)
    return [each if isinstance(each, Exception) else None for each in done]


def _record(outcomes: Mapping[str, int], message_ids: Sequence[str]) -> None:
    """Count and log what became of these messages, of each the same: mostly one line for all."""
    for outcome, number in outcomes.items():
        count(f"ingest_{outcome}", number * len(message_ids))
    logger().info("messages ingested", outcomes=outcomes, message_ids=message_ids)


during_init(build)
