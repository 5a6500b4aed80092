"""The api function, which answers requests of services that only read."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.api import build
from gazette.bootstrap.parts.init import during_init
from gazette.http import caller_of
from gazette.observability import logger, observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Return the response to a request from the HTTP API for services."""
    with observed(context):
        answer = build()(event, context)
        logger().info(
            "request answered",
            caller=caller_of(event),
            route=event.get("routeKey"),
            status=answer["statusCode"],
        )
        return answer


during_init(build)
