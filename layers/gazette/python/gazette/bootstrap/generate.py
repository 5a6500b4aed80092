"""Composition root of the `generate` function, which connects the step to its adapters."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from gazette.adapters.aws.queues import (
    SqsBacklog,
    SqsQueue,
    SqsStreamQueues,
    decode_run_key,
    encode_run,
    sqs_client,
)
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.adapters.cached import once
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.sending import decisions, delivery_context, suppressions, waiting_on
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.templates.ports import CurrentDecisions
from gazette.settings.delivery import GenerateSettings
from gazette.settings.ranges import ASKED_SOURCE
from gazette.steps.delivery.deliver import deliver
from gazette.steps.delivery.generate import generate
from gazette.steps.delivery.pacing import postponed_until
from gazette.steps.delivery.types import Delivery, Postponed
from gazette.steps.subscribers.suppress import stop_if_suppressed

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from gazette.steps.delivery.content import ContentContext


@once
def build() -> Callable[[str, TimeLeft], Delivery | Postponed | None]:
    """Return a function that processes a message, given the body and the remaining time.

    Built once per process.
    """
    settings = GenerateSettings.from_env()
    sqs = sqs_client()
    decided = decisions(settings.control_table)
    schedules = DynamoSchedules(settings.schedules_table, shards=settings.shards)
    suppression_key = read_suppression_key(settings.suppressions_secret)
    asks = ASKED_SOURCE in settings.content_sources
    context = delivery_context(
        settings,
        sqs,
        schedules=schedules,
        waiting=waiting_on(SqsBacklog(sqs, settings.generate_queue_url)),
        decided=decided,
        suppression_key=suppression_key,
        content=_content(settings, schedules, sqs, decided) if asks else None,
    )
    generate_queues = SqsStreamQueues(
        sqs, digest_url=settings.generate_queue_url, immediate_url=settings.immediate_queue_url
    )
    resend_queue = SqsQueue(sqs, settings.resend_queue_url, encode_run)
    stop = partial(
        stop_if_suppressed,
        suppressions=suppressions(settings, suppression_key),
        subscribers=context.subscribers,
        schedules=schedules,
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


def _content(
    settings: GenerateSettings,
    schedules: DynamoSchedules,
    sqs: "SQSClient",
    decided: CurrentDecisions,
) -> "ContentContext":
    """Return the dependencies for checking content sources.

    Only stages that query a source import its modules.
    """
    from gazette.adapters.content.fetch_messages import encode_fetch
    from gazette.bootstrap.parts.versions import settings_for
    from gazette.domain.templates.settings import SourcePolicy
    from gazette.steps.delivery.content import ContentContext

    of_stage = SourcePolicy(settings.recommendations_policy)
    of_reader = settings_for(lambda: decided().in_force)
    return ContentContext(
        schedules=schedules,
        fetch_queue=SqsQueue(sqs, settings.content_queue_url, encode_fetch),
        policy_of=lambda user_id: of_reader(user_id).source_policy or of_stage,
        fresh_for=settings.recommendations_fresh_for,
        patience=settings.recommendations_patience,
    )
