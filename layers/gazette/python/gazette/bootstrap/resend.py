"""Composition root of the `resend` function, which connects the step to its adapters."""

from collections.abc import Callable
from functools import partial

from gazette.adapters.aws.queues import (
    SqsBacklog,
    SqsQueue,
    SqsReceived,
    decode_run_key,
    encode_failed_run,
    encode_run,
    sqs_client,
    was_given_up,
)
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.adapters.cached import once
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.sending import decisions, delivery_context, suppressions, waiting_on
from gazette.domain.delivery.redrive import Redriven
from gazette.domain.delivery.run import Run
from gazette.domain.ports.clock import TimeLeft
from gazette.settings.delivery import ResendSettings
from gazette.steps.delivery.deliver import deliver
from gazette.steps.delivery.resend import resend
from gazette.steps.delivery.types import Delivery
from gazette.steps.occurrences.redrive import RedriveContext, redrive


@once
def build() -> Callable[[str, str, TimeLeft], Delivery | Redriven | None]:
    """Return a function that processes a message, given the body, receipt handle and remaining
    time.

    Built once per process.
    """
    settings = ResendSettings.from_env()
    sqs = sqs_client()
    schedules = DynamoSchedules(settings.schedules_table, shards=settings.shards)
    suppression_key = read_suppression_key(settings.suppressions_secret)
    context = delivery_context(
        settings,
        sqs,
        schedules=schedules,
        waiting=waiting_on(SqsBacklog(sqs, settings.resend_queue_url)),
        decided=decisions(settings.control_table),
        suppression_key=suppression_key,
    )
    batches = DynamoBatches(settings.control_table, retention=settings.run_retention, clock=now)
    resend_queue = SqsQueue(sqs, settings.resend_queue_url, encode_run)
    failed_runs = SqsQueue(sqs, settings.failed_queue_url, encode_failed_run)

    redriving = RedriveContext(
        runs=context.runs,
        schedules=schedules,
        subscribers=context.subscribers,
        suppressions=suppressions(settings, suppression_key),
        queue=resend_queue,
        clock=now,
        check_after=settings.check_after,
    )
    announced = once(partial(batches.announce, settings.shards))

    def start_next(failed: Run) -> Redriven:
        """Start the schedule's next run. Announce the shards first, because this writes the
        schedule.
        """
        announced()
        return redrive(failed, context=redriving)

    def run(body: str, receipt_handle: str, time_left: TimeLeft) -> Delivery | Redriven | None:
        received = SqsReceived(sqs, settings.resend_queue_url, receipt_handle)
        return resend(
            decode_run_key(body),
            was_given_up=was_given_up(body),
            hide=received.hide,
            deliver=partial(deliver, context=context, time_left=time_left),
            redrive=start_next,
            resend_queue=resend_queue,
            failed_runs=failed_runs,
            clock=now,
        )

    return run
