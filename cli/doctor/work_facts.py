"""How a stage works: what fan-out has finished, what Lambda counts, which streams are stopped."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import boto3
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.sending import build_sending
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.streams import Streams
from gazette.settings.delivery import GenerateSettings
from gazette.settings.sweep import SweepSettings
from gazette.steps.support.sending import read_streams

from cli.doctor.findings import Unseen
from cli.doctor.questions import asked

_SPAN = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFacts:
    """`checkpoints`: the last slot that each shard has finished. `sweeps`: how often the sweep was
    invoked in half an hour. `ticks`: whether the clock is on at all."""

    stage: str
    shards: int
    ticks: bool
    now: datetime
    checkpoints: Mapping[int, datetime] | Unseen | None
    sweeps: int | Unseen | None
    streams: Streams[PaceReading] | Unseen | None


def work_facts(stage: str, settings: GenerateSettings, sweep: SweepSettings) -> WorkFacts:
    """One Query and two GetItem, and one question to CloudWatch."""
    at = now()
    batches = DynamoBatches(
        sweep.control_table, retention=timedelta(days=sweep.run_retention_days), clock=now
    )
    return WorkFacts(
        stage=stage,
        shards=sweep.shards,
        ticks=bool(sweep.ticks),
        now=at,
        checkpoints=asked("dynamodb:Query on the table control", batches.checkpoints),
        sweeps=asked(
            "cloudwatch:GetMetricStatistics", partial(_invocations, f"gazette-{stage}-sweep", at)
        ),
        streams=asked(
            "dynamodb:GetItem on the table pace",
            partial(read_streams, context=build_sending(settings)),
        ),
    )


def _invocations(function: str, until: datetime) -> int:
    """How often Lambda invoked a function in the last half hour, all its versions together.

    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
    """
    client: Any = boto3.client("cloudwatch")
    answer = client.get_metric_statistics(
        Namespace="AWS/Lambda",
        MetricName="Invocations",
        Dimensions=[{"Name": "FunctionName", "Value": function}],
        StartTime=until - _SPAN,
        EndTime=until,
        Period=int(_SPAN.total_seconds()),
        Statistics=["Sum"],
    )
    return int(sum(each["Sum"] for each in answer["Datapoints"]))
