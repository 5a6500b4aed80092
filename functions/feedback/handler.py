"""The feedback function, which processes delivery events of SES and of other mail providers."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.feedback import build
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.parts.redelivery import come_back_of_few
from gazette.domain.errors import InvalidKeys, Unavailable
from gazette.observability import Message, TimeLeft, all_messages, logger, observed
from gazette.run_metrics import FeedbackLog


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Process up to 25 delivery events. Each event succeeds or is retried separately."""
    with observed(context):
        log = FeedbackLog()
        process = partial(_process, log=log)
        answer = all_messages(event, context, process, come_back=come_back_of_few)
        log.write()
        _finish()
        return answer


def _finish() -> None:
    """Write the counts for the batch.

    If the function could not be built, there are no counts because every message has already
    failed.
    """
    try:
        if finish := build().finish:
            finish()
    except (Unavailable, InvalidKeys) as why:
        logger().warning("counts deferred to the next invocation", why=str(why))


def _process(
    messages: Sequence[Message], time_left: TimeLeft, *, log: FeedbackLog
) -> Sequence[Exception | None]:
    bodies = [message.body for message in messages]
    errors: list[Exception | None] = []
    for message, result in zip(messages, build().process(bodies, time_left), strict=True):
        if isinstance(result, Exception):
            errors.append(result)
        else:
            log.record(result, message.id)
            errors.append(None)
    return errors


during_init(build)
