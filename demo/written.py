"""The metrics that a deployed stage's functions write to their logs on the embedded engine.

On AWS, CloudWatch reads them from the logs.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from demo.service import Service


@dataclass(frozen=True, slots=True, order=True)
class Value:
    """The value of a metric at a time on the function's clock."""

    at: datetime
    step: str
    name: str
    value: float


def written(service: Service, *steps: str) -> Iterator[Value]:
    """Yield all values that the functions of these steps have written so far, unordered."""
    for step in steps:
        with suppress(service.logs.exceptions.ResourceNotFoundException):
            pages = service.logs.get_paginator("filter_log_events").paginate(
                logGroupName=f"/aws/lambda/{service.prefix}-{step}"
            )
            for page in pages:
                for event in page["events"]:
                    for line in event["message"].splitlines():
                        yield from _in_line(step, line)


def _in_line(step: str, line: str) -> Iterator[Value]:
    if '"_aws"' not in line:
        return
    entry = json.loads(line[line.index("{") :])
    at = datetime.fromtimestamp(entry["_aws"]["Timestamp"] / 1000, UTC)
    for metrics in entry["_aws"]["CloudWatchMetrics"]:
        for metric in metrics["Metrics"]:
            for value in entry[metric["Name"]]:
                yield Value(at, step, metric["Name"], value)
