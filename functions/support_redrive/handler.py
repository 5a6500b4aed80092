"""The support_redrive function, which redrives messages for the support page."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.console.redrive import build
from gazette.bootstrap.console.shared import answer_widget
from gazette.bootstrap.parts.init import during_init
from gazette.observability import observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> str:
    """Return the HTML of a plan or of an outcome. Only a signed order moves messages."""
    with observed(context):
        return answer_widget(build, event, context)


during_init(build)
