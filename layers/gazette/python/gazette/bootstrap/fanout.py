"""Composition root of the `fanout` function, which connects the steps to their adapters."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING

from gazette.adapters.aws.queues import SqsQueue, decode_shard, encode_run, encode_shard, sqs_client
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.dynamodb.pacing.pace import ROWS, DynamoQuota
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.adapters.mail.ses import SesAccount, ses_client
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.pace import Quota
from gazette.domain.delivery.streams import Streams, divided
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.queues import Shard, ShardQueue
from gazette.settings.fanout import FanoutSettings
from gazette.settings.ranges import ASKED_SOURCE
from gazette.steps.fanout.fanout import LOOKBACK, FannedOut, fan_out, is_beat, tick
from gazette.steps.fanout.quota import learn_quota
from gazette.steps.occurrences.context import FanoutContext

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

    from gazette.steps.occurrences.asking import AskingContext


@cache
def build_tick() -> Callable[[datetime], int]:
    """Return a function that handles a tick, given the time of the tick. Built once per process."""
    settings = FanoutSettings.from_env()
    batches = _batches(settings)
    shard_queue = SqsQueue(sqs_client(), settings.shard_queue_url, encode_shard)
    return partial(
        tick,
        batches=batches,
        shard_queue=shard_queue,
        shards=settings.shards,
        lookback=LOOKBACK,
        looks_ahead=ASKED_SOURCE in settings.content_sources
        and bool(settings.recommendations_lead),
    )


@cache
def build_fan_out() -> Callable[[str, TimeLeft], FannedOut]:
    """Return a function that processes a message, given the body and the remaining time.

    Built once per process.

    Announces the shards first, because fan-out writes schedules to the shards of its `shards`
    setting.
    """
    settings = FanoutSettings.from_env()
    batches = _batches(settings)
    batches.announce(settings.shards)
    sqs = sqs_client()
    shard_queue = SqsQueue(sqs, settings.shard_queue_url, encode_shard)
    context = FanoutContext(
        subscribers=DynamoSubscribers(settings.subscribers_table),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        runs=DynamoRuns(settings.runs_table, retention=settings.run_retention),
        events=DynamoEventReader(settings.events_table, clock=now),
        batches=batches,
        generate_queue=SqsQueue(sqs, settings.generate_queue_url, encode_run),
        clock=now,
        random=random.random,
        limits=settings,
        sunset=settings.sunset,
        content=_asking(settings, sqs),
    )
    return partial(
        fan_out,
        decode=decode_shard,
        context=context,
        shard_queue=shard_queue,
        look_ahead=_look_ahead(context, shard_queue),
    )


def _asking(settings: FanoutSettings, sqs: "SQSClient") -> "AskingContext | None":
    """Return the dependencies for querying content sources.

    Only stages that query a source import its modules.
    """
    if ASKED_SOURCE not in settings.content_sources:
        return None
    from gazette.adapters.content.fetch_messages import encode_fetch
    from gazette.bootstrap.parts.content import content_plan
    from gazette.steps.occurrences.asking import AskingContext

    return AskingContext(
        plan=content_plan(
            settings.content_sources,
            lead=settings.recommendations_lead,
            fresh_for=settings.recommendations_fresh_for,
        ),
        fetch_queue=SqsQueue(sqs, settings.content_queue_url, encode_fetch),
        shards=settings.shards,
    )


def _look_ahead(
    context: FanoutContext, shard_queue: ShardQueue
) -> Callable[[Shard, TimeLeft], FannedOut] | None:
    if context.content is None:
        return None
    from gazette.steps.content.ahead import look_ahead

    return partial(
        look_ahead,
        schedules=context.schedules,
        content=context.content,
        shard_queue=shard_queue,
        clock=context.clock,
        random=context.random,
    )


@cache
def build_is_beat() -> Callable[[str], bool]:
    """Return a function that recognises the regular message of a shard in use. Built once per
    process.
    """
    shards = FanoutSettings.from_env().shards
    return partial(is_beat, decode=decode_shard, shards=shards, clock=now)


def _batches(settings: FanoutSettings) -> DynamoBatches:
    return DynamoBatches(settings.control_table, retention=settings.run_retention, clock=now)


_TIMEOUT = timedelta(seconds=5)


@cache
def build_learn_quota() -> Callable[[], Quota | None]:
    """Return a function that stores and returns the quota, or None if the provider is not SES.

    The function is called once per tick instead of by each worker, because SES allows one such
    request per second. Built once per process.
    """
    settings = FanoutSettings.from_env()
    if settings.mail_provider != "ses":
        return lambda: None
    return partial(
        learn_quota,
        account=SesAccount(ses_client(_TIMEOUT)),
        quota_stores=Streams(
            digest=DynamoQuota(settings.pace_table, name=ROWS.digest),
            immediate=DynamoQuota(settings.pace_table, name=ROWS.immediate),
        ),
        shares=divided(settings.immediate_share),
        clock=now,
    )
