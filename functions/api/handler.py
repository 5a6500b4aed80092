"""The api function, which answers requests of services that only read."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.api import build
from gazette.bootstrap.parts.api import answer_request
from gazette.bootstrap.parts.init import during_init
from gazette.observability import observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Return the response to a request from the HTTP API for services."""
    with observed(context):
        return answer_request(build(), event, context)


during_init(build)
