"""The function `resend`, joined."""

from collections.abc import Callable
from functools import cache, partial

import boto3

from gazette.adapters.queues import (
    SqsFailedRuns,
    SqsReceived,
    SqsRunQueue,
    decode_run_key,
    was_given_up,
)
from gazette.bootstrap.clock import now
from gazette.bootstrap.sending import delivering
from gazette.domain.ports import TimeLeft
from gazette.settings import ResendSettings
from gazette.steps.deliver import deliver
from gazette.steps.delivery import Delivery
from gazette.steps.resend import ResendMessage, resend


@cache
def build() -> Callable[[str, str, TimeLeft], Delivery | None]:
    """Takes body and receipt handle of a message, and what is left of the invocation.

    Built once per process.
    """
    settings = ResendSettings.from_env()
    by = delivering(settings)
    sqs = boto3.client("sqs")
    resend_queue = SqsRunQueue(sqs, settings.resend_queue_url)
    failed_runs = SqsFailedRuns(sqs, settings.failed_queue_url)

    def run(body: str, receipt_handle: str, time_left: TimeLeft) -> Delivery | None:
        received = SqsReceived(sqs, settings.resend_queue_url, receipt_handle)
        return resend(
            ResendMessage(decode_run_key(body), was_given_up(body), received.hide),
            deliver=partial(deliver, by=by, time_left=time_left),
            resend_queue=resend_queue,
            failed_runs=failed_runs,
            clock=now,
        )

    return run
