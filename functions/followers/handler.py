"""The followers function, which delivers activities to an entity's followers, page by page."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.followers import build
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.parts.redelivery import come_back
from gazette.observability import Message, TimeLeft, count, each_message, logger, observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Process a few pages of followers. Each page succeeds or is retried separately."""
    with observed(context):
        return each_message(event, context, _bring, come_back=come_back)


def _bring(message: Message, time_left: TimeLeft) -> None:
    followers = build()(message.body, time_left)
    count("followers", followers)
    logger().info("followers served", followers=followers, message_id=message.id)


during_init(build)
