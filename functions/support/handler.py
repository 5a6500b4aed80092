"""The support function, which shows the support page of the CloudWatch console."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.console.page import build
from gazette.bootstrap.console.shared import answer_widget
from gazette.bootstrap.parts.init import during_init
from gazette.observability import observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> str:
    """Return the HTML of the page. Do not change any data."""
    with observed(context):
        return answer_widget(build, event, context)


during_init(build)
