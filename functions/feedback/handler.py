"""The feedback function, which processes delivery events of SES and of other mail providers."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.feedback import build
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.parts.redelivery import come_back_of_few
from gazette.domain.errors import InvalidKeys, Unavailable
from gazette.domain.identity import run_id
from gazette.observability import Message, TimeLeft, count, each_message, logger, observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Process up to ten delivery events. Each event succeeds or is retried separately."""
    with observed(context):
        answer = each_message(event, context, _process, come_back=come_back_of_few)
        _finish()
        return answer


def _finish() -> None:
    """Write the counts for the batch.

    If the function could not be built, there are no counts because every message has already
    failed.
    """
    try:
        build().finish()
    except (Unavailable, InvalidKeys) as why:
        logger().warning("counts deferred to the next invocation", why=str(why))


def _process(message: Message, _: TimeLeft) -> None:
    result = build().process(message.body)
    if result is None:
        logger().info("not an event of one of our emails", message_id=message.id)
        return
    if isinstance(result, str):
        logger().warning("delivery event quarantined", message_id=message.id, why=result)
        return
    event, run = result.event, result.recorded.run
    correlation_id = run_id(event.run) if event.run else ""
    count(f"mail_{event.type}")
    if result.recorded.is_of_unknown_attempt:
        count("unknown_attempt_events")
        logger().warning("delivery event of an unknown attempt", correlation_id=correlation_id)
    if event.is_by_policy:
        count("mail_refused_by_policy")
    if result.suppressed:
        count(f"suppressed_{result.suppressed}")
    logger().info(
        "delivery event processed",
        correlation_id=correlation_id,
        type=event.type,
        attempt=event.attempt,
        status=run.status if run else "",
        reason=run.reason if run else "",
        fault=event.fault or "",
        cause=event.cause,
        by_policy=event.is_by_policy,
        suppressed=result.suppressed or "",
    )


during_init(build)
