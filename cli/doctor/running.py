"""How a stage runs: what fan-out has finished, what Lambda counts, which streams are stopped."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import boto3
from gazette.adapters.dynamodb.control.batches import DynamoBatches
from gazette.bootstrap.parts.clock import now
from gazette.bootstrap.support.sending import build_sending
from gazette.settings.delivery import GenerateSettings
from gazette.settings.sweep import SweepSettings
from gazette.steps.support.sending import read_streams

from cli.doctor.asking import asked
from cli.doctor.findings import Finding, Unseen
from cli.doctor.stage_checks import check_breakers, check_invoked, check_ticks

_SPAN = timedelta(minutes=30)


def check_running(
    stage: str, settings: GenerateSettings, sweep: SweepSettings
) -> Iterator[Finding]:
    """One Query and two GetItem, and one question to CloudWatch."""
    ticks = bool(sweep.ticks)
    batches = DynamoBatches(
        sweep.control_table, retention=timedelta(days=sweep.run_retention_days), clock=now
    )
    yield check_ticks(
        asked("dynamodb:Query on the table control", batches.checkpoints),
        shards=sweep.shards,
        ticks=ticks,
        now=now(),
    )
    invoked = asked(
        "cloudwatch:GetMetricStatistics", partial(_invocations, f"gazette-{stage}-sweep", now())
    )
    yield check_invoked("sweep", invoked, ticks=ticks)
    context = build_sending(settings)
    streams = asked("dynamodb:GetItem on the table pace", partial(read_streams, context=context))
    yield from check_breakers(streams, stage=stage)


def _invocations(function: str, until: datetime) -> int | Unseen:
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
