"""The function `ingest`, joined."""

from collections.abc import Callable
from datetime import timedelta
from functools import cache, partial

import boto3

from gazette.adapters.contract import decode
from gazette.adapters.events import DynamoEventWriter
from gazette.adapters.queues import SqsQuarantine
from gazette.adapters.schedules import DynamoSchedules
from gazette.adapters.subscribers import DynamoSubscribers
from gazette.bootstrap.clock import now
from gazette.settings import EVENT_WRITE_TIMEOUT_MS, IngestSettings
from gazette.steps.ingest import Ingested, ingest


@cache
def build() -> Callable[[str], Ingested]:
    """Takes the body of one message. Built once per process."""
    settings = IngestSettings.from_env()
    return partial(
        ingest,
        decode=decode,
        subscribers=DynamoSubscribers(settings.subscribers_table),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        events=DynamoEventWriter(
            settings.events_table,
            retention=timedelta(days=settings.event_retention_days),
            timeout=EVENT_WRITE_TIMEOUT_MS / 1000,
            clock=now,
        ),
        quarantine=SqsQuarantine(boto3.client("sqs"), settings.quarantine_queue_url),
        clock=now,
    )
