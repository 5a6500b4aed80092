"""The feedback function, which processes delivery events of SES and of other mail providers."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.feedback import build
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.parts.redelivery import come_back_of_few
from gazette.domain.errors import InvalidKeys, Unavailable
from gazette.observability import Message, TimeLeft, each_message, logger, observed
from gazette.run_metrics import record_feedback


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
        if finish := build().finish:
            finish()
    except (Unavailable, InvalidKeys) as why:
        logger().warning("counts deferred to the next invocation", why=str(why))


def _process(message: Message, _: TimeLeft) -> None:
    record_feedback(build().process(message.body), message.id)


during_init(build)
