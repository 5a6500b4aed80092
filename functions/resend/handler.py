"""Process runs from the resend queue: retry what the provider refused for now."""

from typing import Any

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.parts.templates import renderer
from gazette.bootstrap.resend import build
from gazette.observability import TimeLeft, each_message, observed
from gazette.run_metrics import record_fragments, record_resend


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Process up to ten runs; each ends, or its message is hidden and comes again."""
    with observed(context):
        answer = each_message(event, context, _resend)
        record_fragments(renderer().take_count())
        return answer


def _resend(record: SQSRecord, time_left: TimeLeft) -> None:
    done = build()(record.body, record.receipt_handle, time_left)
    record_resend(done, record.message_id)
