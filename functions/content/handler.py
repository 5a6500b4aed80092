"""The content function, which fetches the recommendations for digests."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.content import build
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.parts.redelivery import come_back
from gazette.observability import Message, TimeLeft, count, each_message, logger, observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Process up to ten fetches one after the other, so that only one request is in progress at a
    time.
    """
    with observed(context):
        return each_message(event, context, _fetch, come_back=come_back)


def _fetch(message: Message, time_left: TimeLeft) -> None:
    result = build()(message.body, time_left)
    count(f"fetch_{result.outcome}")
    if result.requests:
        count("source_requests", result.requests)
    if result.opened:
        count("source_breaker_opened")
    left_out = len({broken.place for broken in result.broken if broken.is_left_out})
    if left_out:
        count("items_left_out", left_out)
    if result.broken:
        first = result.broken[0]
        logger().warning(
            "items do not match their schema",
            left_out=left_out,
            place=first.place,
            field=first.field,
            why=first.why,
            problems=len(result.broken),
        )
    logger().info(
        "source queried" if result.requests else "source not queried",
        outcome=result.outcome,
        user_id=result.fetch.user_id,
        schedule=result.fetch.schedule,
        due_at=result.fetch.due_at.isoformat(),
        items=result.items,
        requests=result.requests,
        tries=result.fetch.tries,
        why=result.why,
    )


during_init(build)
