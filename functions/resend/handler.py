"""The resend function, which retries email that the provider temporarily rejected."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.parts.redelivery import come_back, run_of
from gazette.bootstrap.parts.sending import coalescer
from gazette.bootstrap.parts.templates import take_count
from gazette.bootstrap.resend import build
from gazette.observability import Message, TimeLeft, each_message, observed
from gazette.run_metrics import record_fragments, record_resend


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Process up to ten runs. A run ends, or its message is hidden until the next attempt."""
    with observed(context):
        answer = each_message(
            event,
            context,
            _resend,
            come_back=come_back,
            run_all=coalescer().side_by_side,
            run_of=run_of,
        )
        record_fragments(take_count())
        return answer


def _resend(message: Message, time_left: TimeLeft) -> None:
    result = build()(message.body, message.receipt_handle, time_left)
    record_resend(result, message.id)


during_init(build)
