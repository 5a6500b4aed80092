"""Lookups of the progress of fan-out, the invocations of the sweep, and the streams."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import boto3
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.pace import PaceReading
from gazette.domain.delivery.streams import Streams
from gazette.settings.delivery import GenerateSettings
from gazette.settings.sweep import SweepSettings

from gazette_cli.doctor.findings import Unseen
from gazette_cli.doctor.questions import asked
from gazette_support.bootstrap.sending import build_sending
from gazette_support.steps.sending import read_streams

SPAN = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFacts:
    """The recent activity of a stage."""

    stage: str
    shards: int

    # True if the schedules of the stage are enabled.
    ticks: bool

    now: datetime

    # The last slot that each shard has finished.
    checkpoints: Mapping[int, datetime] | Unseen | None

    # The invocations of the sweep in the last half hour.
    sweeps: int | Unseen | None

    streams: Streams[PaceReading] | Unseen | None


def work_facts(stage: str, settings: GenerateSettings, sweep: SweepSettings) -> WorkFacts:
    """Look up the recent activity of a stage, with one Query, two GetItem calls and one
    GetMetricStatistics call.
    """
    at = now()
    batches = DynamoBatches(sweep.control_table, retention=sweep.run_retention, clock=now)
    return WorkFacts(
        stage=stage,
        shards=sweep.shards,
        ticks=bool(sweep.ticks),
        now=at,
        checkpoints=asked("dynamodb:Query on the control table", batches.checkpoints),
        sweeps=asked(
            "cloudwatch:GetMetricStatistics", partial(_invocations, f"gazette-{stage}-sweep", at)
        ),
        streams=asked(
            "dynamodb:GetItem on the pace table",
            partial(read_streams, context=build_sending(settings)),
        ),
    )


def _invocations(function: str, until: datetime) -> int:
    """Return the invocations of all versions of a function in the last half hour.

    https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
    """
    client: Any = boto3.client("cloudwatch")
    answer = client.get_metric_statistics(
        Namespace="AWS/Lambda",
        MetricName="Invocations",
        Dimensions=[{"Name": "FunctionName", "Value": function}],
        StartTime=until - SPAN,
        EndTime=until,
        Period=int(SPAN.total_seconds()),
        Statistics=["Sum"],
    )
    return int(sum(each["Sum"] for each in answer["Datapoints"]))
