"""Process fetches from the content queue: ask the recommendation service for one digest each."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.content import build
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.parts.redelivery import come_back
from gazette.observability import Message, TimeLeft, count, each_message, logger, observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Process up to ten fetches, one after the other: one request is in progress at a time."""
    with observed(context):
        return each_message(event, context, _fetch, come_back=come_back)


def _fetch(message: Message, time_left: TimeLeft) -> None:
    done = build()(message.body, time_left)
    count(f"fetch_{done.outcome}")
    if done.requests:
        count("source_requests", done.requests)
    if done.opened:
        count("source_breaker_opened")
    left_out = len({broken.place for broken in done.broken if broken.is_left_out})
    if left_out:
        count("items_left_out", left_out)
    if done.broken:
        first = done.broken[0]
        logger().warning(
            "items do not fit their schema",
            left_out=left_out,
            place=first.place,
            field=first.field,
            why=first.why,
            problems=len(done.broken),
        )
    logger().info(
        "source asked" if done.requests else "source not asked",
        outcome=done.outcome,
        user_id=done.fetch.user_id,
        schedule=done.fetch.schedule,
        due_at=done.fetch.due_at.isoformat(),
        items=done.items,
        requests=done.requests,
        tries=done.fetch.tries,
        why=done.why,
    )


during_init(build)
