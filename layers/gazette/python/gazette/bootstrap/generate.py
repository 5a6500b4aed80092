"""The function `generate`: its step with its adapters."""

from collections.abc import Callable
from functools import partial

from gazette.adapters.aws.queues import (
    SqsBacklog,
    SqsQueue,
    SqsStreamQueues,
    decode_run_key,
    encode_run,
    sqs_client,
)
from gazette.adapters.cached import once
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.sending import delivery_context, waiting_on
from gazette.domain.ports.clock import TimeLeft
from gazette.settings.delivery import GenerateSettings
from gazette.steps.delivery.deliver import deliver
from gazette.steps.delivery.generate import generate
from gazette.steps.delivery.pacing import postponed_until
from gazette.steps.delivery.types import Delivery, Postponed
from gazette.steps.subscribers.suppress import stop_if_suppressed


@once
def build() -> Callable[[str, TimeLeft], Delivery | Postponed | None]:
    """Return a function of a message's body and the time left. Built once per process."""
    settings = GenerateSettings.from_env()
    sqs = sqs_client()
    context = delivery_context(
        settings, waiting=waiting_on(SqsBacklog(sqs, settings.generate_queue_url))
    )
    generate_queues = SqsStreamQueues(
        sqs, digest_url=settings.generate_queue_url, immediate_url=settings.immediate_queue_url
    )
    resend_queue = SqsQueue(sqs, settings.resend_queue_url, encode_run)
    stop = partial(
        stop_if_suppressed,
        suppressions=context.suppressions,
        subscribers=context.subscribers,
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        runs=context.runs,
    )
    return partial(
        generate,
        decode=decode_run_key,
        postponed_until=partial(postponed_until, pacing=context.pacing),
        deliver=partial(deliver, context=context),
        stop_suppressed=lambda user_id: stop(context.subscribers.get(user_id)),
        generate_queue=generate_queues,
        resend_queue=resend_queue,
        clock=now,
    )
