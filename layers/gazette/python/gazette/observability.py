"""Logs and metrics, as AWS Lambda Powertools writes them. Only handlers use this.

A log line is a constant message and fields; never an address, never the content of an email.
Metrics are in EMF and have no dimension per user.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext


@cache
def logger() -> Logger:
    """The structured logger of this function."""
    return Logger(service="gazette")


@cache
def metrics() -> Metrics:
    """The metrics of this function, written when the invocation ends."""
    return Metrics(namespace="Gazette", service="gazette")


def count(name: str, number: int = 1) -> None:
    """Add to a counter of this invocation."""
    metrics().add_metric(name=name, unit=MetricUnit.Count, value=number)


@contextmanager
def observed(context: LambdaContext) -> Iterator[None]:
    """One invocation: its id on every line, its metrics written at the end, also on errors."""
    logger().append_keys(function_request_id=context.aws_request_id)
    try:
        yield
    finally:
        if metrics().metric_set:
            metrics().flush_metrics()
