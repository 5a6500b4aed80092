"""Logs and metrics through AWS Lambda Powertools. Only handlers use this module.

A log line is a constant message with fields. It never contains an address or the content of an
email. Metrics are written in EMF with one dimension, `service`, which names the stage, so that one
stage does not set off the alarms of another. The stack sets it as POWERTOOLS_SERVICE_NAME.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from gazette.domain.errors import NotYet, UnreadableRow


@cache
def logger() -> Logger:
    """The structured logger of this function."""
    return Logger(service=_service())


@cache
def metrics() -> Metrics:
    """The metrics of this function, written when the invocation ends."""
    return Metrics(namespace="Gazette", service=_service())


def _service() -> str:
    return os.environ.get("POWERTOOLS_SERVICE_NAME", "gazette")


def count(name: str, number: int = 1) -> None:
    """Add `number` to a count metric of this invocation."""
    metrics().add_metric(name=name, unit=MetricUnit.Count, value=number)


def measure_seconds(name: str, took: timedelta) -> None:
    """Add a duration in seconds. Each value is stored, so that percentiles are exact."""
    value = round(took.total_seconds(), 3)
    metrics().add_metric(name=name, unit=MetricUnit.Seconds, value=value)


def measure_milliseconds(name: str, took: timedelta) -> None:
    """Add a duration in milliseconds, as `measure_seconds` does."""
    value = round(took.total_seconds() * 1000, 3)
    metrics().add_metric(name=name, unit=MetricUnit.Milliseconds, value=value)


TimeLeft = Callable[[], timedelta]
"""Returns the time that is left of this invocation."""


def each_message(
    event: dict[str, Any], context: LambdaContext, handle: Callable[[SQSRecord, TimeLeft], None]
) -> dict[str, Any]:
    """Call `handle` for each message of an SQS event; return which ones SQS delivers again.

    Log each of those: the batch processor counts failures but does not log them.
    """

    def time_left() -> timedelta:
        return timedelta(milliseconds=context.get_remaining_time_in_millis())

    def handle_and_report(record: SQSRecord) -> None:
        try:
            handle(record, time_left)
        except NotYet as why:
            count("returned_to_queue")
            logger().warning("returned to queue", why=str(why), message_id=record.message_id)
            raise
        except Exception as err:
            count("failed")
            if isinstance(err, UnreadableRow):
                count("unreadable_rows")
            logger().exception("message failed", message_id=record.message_id)
            raise

    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
    return dict(process_partial_response(event, handle_and_report, processor, context))


@contextmanager
def observed(context: LambdaContext) -> Iterator[None]:
    """Put the invocation's id on every log line; write its metrics at the end, even on errors."""
    logger().append_keys(function_request_id=context.aws_request_id)
    try:
        yield
    finally:
        if metrics().metric_set:
            metrics().flush_metrics()
