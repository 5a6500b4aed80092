"""The results of a slot, read from the tables, queues and logs of the deployed stage."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime

import boto3
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.run import Reason, Status
from gazette.settings.fanout import FanoutSettings

from benchmarks.reckoning import Stored
from demo.service import Service
from gazette_support.steps.batches import BatchView, view_batch

_DEAD = (
    "ingest-dead",
    "followers-dead",
    "shard-dead",
    "generate-dead",
    "immediate-dead",
    "quarantine",
)


def look(service: Service, slot: datetime) -> tuple[list[Stored], BatchView]:
    """Return all stored runs, and the batch of this slot."""
    settings = FanoutSettings.from_env(service.settings("fanout"))
    retention = settings.run_retention
    view = view_batch(
        DynamoBatches(settings.control_table, retention=retention, clock=now).get(slot),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        runs=DynamoRuns(settings.runs_table, retention=retention),
        shards=range(settings.shards),
        clock=now,
    )
    pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=settings.runs_table)
    items = [item for page in pages for item in page["Items"]]
    return [Stored(item["user_id"]["S"], item["status"]["S"]) for item in items], view


def due_by_invocation() -> Iterator[int]:
    """Yield the number of due schedules for each invocation of fan-out, from fan-out's metric.

    There are more invocations than shards if some invocations ran out of time and queued the rest.
    """
    pages = boto3.client("logs").get_paginator("filter_log_events")
    for page in pages.paginate(logGroupName="/aws/lambda/gazette-local-fanout"):
        for event in page["events"]:
            if event["message"].startswith('{"_aws"'):
                yield int(sum(json.loads(event["message"]).get("due", [])))


def batch_problems(view: BatchView, readers: int) -> list[str]:
    """Return the problems with the batch of the slot."""
    expected: Mapping[tuple[Status, Reason], int] = {(Status.SENT, Reason.ACCEPTED): readers}
    if view.not_started or view.counts != expected:
        counts = {f"{status} ({why})": number for (status, why), number in view.counts.items()}
        return [f"the batch counts {counts}, and {view.not_started} that were not started"]
    return []


def queue_problems(service: Service) -> list[str]:
    """Return the queues that should be empty but are not."""
    counted = {queue: service.messages_in(queue) for queue in _DEAD}
    return [f"{number} messages are in {queue}" for queue, number in counted.items() if number]
