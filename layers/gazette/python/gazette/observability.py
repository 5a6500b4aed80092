"""Logs and metrics, as AWS Lambda Powertools writes them. Only handlers use this.

A log line is a constant message and fields; never an address, never the content of an email.
Metrics are in EMF and have no dimension per user. Each has one, `service`: the stage, as the stack
says in POWERTOOLS_SERVICE_NAME, so that one stage does not set off the alarms of another.
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
    """Add to a counter of this invocation."""
    metrics().add_metric(name=name, unit=MetricUnit.Count, value=number)


def measure_seconds(name: str, took: timedelta) -> None:
    """Add a length of time to those of this invocation; each is kept, for percentiles."""
    value = round(took.total_seconds(), 3)
    metrics().add_metric(name=name, unit=MetricUnit.Seconds, value=value)


def measure_milliseconds(name: str, took: timedelta) -> None:
    """The same of what is shorter."""
    value = round(took.total_seconds() * 1000, 3)
    metrics().add_metric(name=name, unit=MetricUnit.Milliseconds, value=value)


TimeLeft = Callable[[], timedelta]
"""What remains of this invocation."""


def each_message(
    event: dict[str, Any], context: LambdaContext, handle: Callable[[SQSRecord, TimeLeft], None]
) -> dict[str, Any]:
    """Let `handle` take each message of an SQS event; returns which are to be delivered again.

    With a line in the log for each of those: the batch processor counts them and says nothing.
    """

    def time_left() -> timedelta:
        return timedelta(milliseconds=context.get_remaining_time_in_millis())

    def handle_and_report(record: SQSRecord) -> None:
        try:
            handle(record, time_left)
        except NotYet as why:
            count("kept_for_later")
            logger().warning("message kept for later", why=str(why), message_id=record.message_id)
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
    """One invocation: its id on every line, its metrics written at the end, also on errors."""
    logger().append_keys(function_request_id=context.aws_request_id)
    try:
        yield
    finally:
        if metrics().metric_set:
            metrics().flush_metrics()
