"""Composition root of the `sweep` function, which connects the steps to their adapters."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache, partial

from gazette.adapters.aws.clients import client
from gazette.adapters.aws.evidence_backlog import SqsEvidenceBacklog
from gazette.adapters.aws.queues import (
    SqsQueue,
    SqsStreamQueues,
    decode_partition,
    decode_tick,
    encode_partition,
    encode_run,
    encode_shard,
    sqs_client,
)
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.control.evidence import DynamoEvidenceLog
from gazette.adapters.dynamodb.events import DynamoEventReader
from gazette.adapters.dynamodb.runs import PARTITIONS, DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.mail.canary import SesCanary
from gazette.adapters.mail.ses import ses_client
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.parts.rate_limiters import rate_limiters
from gazette.domain.delivery.signals import Policy
from gazette.domain.delivery.standing import Standing
from gazette.domain.errors import UnreadableRow
from gazette.domain.model import RunKey
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.ports.mail import Canary
from gazette.settings.sweep import SweepSettings
from gazette.steps.fanout.fanout import LOOKBACK
from gazette.steps.sweep.audit import AuditContext, Audited, audit
from gazette.steps.sweep.sweep import begin_sweep, standing, sweep
from gazette.steps.sweep.unknown import SweepContext, Swept

_TIMEOUT = timedelta(seconds=5)


@cache
def build_begin() -> Callable[[datetime], int]:
    """Return a function that begins a sweep at a tick and returns the number of late shards.

    Argument: the time of the tick.

    Built once per process.
    """
    settings = SweepSettings.from_env()
    sqs = sqs_client()
    shard_queue = SqsQueue(sqs, settings.shard_queue_url, encode_shard)
    batches = DynamoBatches(settings.control_table, retention=settings.run_retention, clock=now)

    def begin(at: datetime) -> int:
        encode = partial(encode_partition, tick=at)
        return begin_sweep(
            at,
            partitions=PARTITIONS,
            sweep_queue=SqsQueue(sqs, settings.sweep_queue_url, encode),
            batches=batches,
            shard_queue=shard_queue,
            shards=settings.shards if settings.ticks else 0,
            lookback=LOOKBACK,
        )

    return begin


@cache
def build_sweep() -> Callable[[str, TimeLeft], list[tuple[RunKey | UnreadableRow, Swept]]]:
    """Return a function that sweeps a partition, given the message's body and the remaining time.

    Built once per process.
    """
    settings = SweepSettings.from_env()
    sqs = sqs_client()
    context = SweepContext(
        runs=_runs(settings),
        generate_queue=SqsStreamQueues(
            sqs,
            digest_url=settings.generate_queue_url,
            immediate_url=settings.immediate_queue_url,
        ),
        resend_queue=SqsQueue(sqs, settings.resend_queue_url, encode_run),
        evidence_log=DynamoEvidenceLog(settings.control_table),
        backlog=SqsEvidenceBacklog(
            sqs,
            client("cloudwatch"),
            queue_url=settings.feedback_queue_url,
            failed_urls=(
                settings.feedback_dead_queue_url,
                settings.feedback_undelivered_queue_url,
            ),
            clock=now,
        ),
        canary=_canary(settings),
        policy=Policy(settings.unknown_policy),
        clock=now,
        random=random.random,
        limits=settings,
    )

    def run(body: str, time_left: TimeLeft) -> list[tuple[RunKey | UnreadableRow, Swept]]:
        return sweep(decode_partition(body), context=context, time_left=time_left)

    return run


@cache
def build_audit() -> Callable[[str, TimeLeft], Audited]:
    """Return a function that audits idle schedules, given the message's body and the remaining
    time.

    Built once per process.
    """
    settings = SweepSettings.from_env()
    context = AuditContext(
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        runs=_runs(settings),
        events=DynamoEventReader(settings.events_table, clock=now),
        clock=now,
    )

    def run(body: str, time_left: TimeLeft) -> Audited:
        return audit(
            decode_partition(body),
            partitions=PARTITIONS,
            tick=decode_tick(body),
            context=context,
            time_left=time_left,
        )

    return run


@cache
def build_standing() -> Callable[[str, TimeLeft], Standing]:
    """Return a function that reads the age of open runs, and how many of them wait for the next
    day.

    Arguments: the message's body and the remaining time.

    Built once per process.
    """
    settings = SweepSettings.from_env()
    runs, gauges = _runs(settings), rate_limiters(settings)

    def run(body: str, time_left: TimeLeft) -> Standing:
        partition = decode_partition(body)
        return standing(partition, runs=runs, gauges=gauges, clock=now, time_left=time_left)

    return run


def _runs(settings: SweepSettings) -> DynamoRuns:
    return DynamoRuns(settings.runs_table, retention=settings.run_retention)


def _canary(settings: SweepSettings) -> Canary | None:
    if settings.mail_provider != "ses":
        return None
    return SesCanary(
        ses_client(_TIMEOUT),
        sender=settings.sender,
        configuration_set=settings.configuration_set,
        installation=settings.installation,
    )
