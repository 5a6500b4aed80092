"""The function `fanout`, joined."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache

import boto3

from gazette.adapters.events import DynamoEventReader
from gazette.adapters.queues import SqsGenerateQueue, SqsShardQueue, decode_shard
from gazette.adapters.runs import DynamoRuns
from gazette.adapters.schedules import DynamoSchedules
from gazette.bootstrap.clock import now
from gazette.settings import FanoutSettings
from gazette.steps.fanout import FannedOut, FanoutLimits, fan_out, tick


@cache
def build_tick() -> Callable[[datetime], int]:
    """Takes the time of a tick. Built once per process."""
    settings = FanoutSettings.from_env()
    queue = SqsShardQueue(boto3.client("sqs"), settings.shard_queue_url)
    limits = _limits(settings)

    def run(time: datetime) -> int:
        return tick(time, shard_queue=queue, limits=limits)

    return run


@cache
def build_fan_out() -> Callable[[str], FannedOut]:
    """Takes the body of a message of the shard queue. Built once per process."""
    settings = FanoutSettings.from_env()
    schedules = DynamoSchedules(settings.schedules_table, shards=settings.shards)
    runs = DynamoRuns(settings.runs_table, retention=timedelta(days=settings.run_retention_days))
    events = DynamoEventReader(settings.events_table, clock=now)
    generate_queue = SqsGenerateQueue(boto3.client("sqs"), settings.generate_queue_url)
    limits = _limits(settings)

    def run(body: str) -> FannedOut:
        return fan_out(
            decode_shard(body),
            schedules=schedules,
            runs=runs,
            events=events,
            generate_queue=generate_queue,
            clock=now,
            random=random.random,
            limits=limits,
        )

    return run


def _limits(settings: FanoutSettings) -> FanoutLimits:
    return FanoutLimits(
        shards=settings.shards,
        lookback=settings.lookback_slots,
        settle_lag=timedelta(seconds=settings.settle_lag),
        max_lateness=timedelta(seconds=settings.max_lateness),
        spread=timedelta(seconds=settings.spread),
        check_after=timedelta(seconds=settings.check_after),
    )
