"""The generate function, which turns each run into one email or records why it sent none."""

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.generate import build
from gazette.bootstrap.parts.init import during_init
from gazette.bootstrap.parts.redelivery import come_back, run_of
from gazette.bootstrap.parts.sending import coalescer
from gazette.bootstrap.parts.templates import take_count
from gazette.observability import Message, TimeLeft, each_message, observed
from gazette.run_metrics import record_delivery, record_fragments


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Process up to ten runs. Each run ends, continues in another message, or is retried."""
    with observed(context):
        answer = each_message(
            event,
            context,
            _generate,
            come_back=come_back,
            run_all=coalescer().side_by_side,
            run_of=run_of,
        )
        record_fragments(take_count())
        return answer


def _generate(message: Message, time_left: TimeLeft) -> None:
    record_delivery(build()(message.body, time_left), message.id)


during_init(build)
