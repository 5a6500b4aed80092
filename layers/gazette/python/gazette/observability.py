"""Logs and metrics, as AWS Lambda Powertools writes them. Only handlers use this.

A log line is a constant message and fields; never an address, never the content of an email.
Metrics are in EMF and have no dimension per user.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from gazette.domain.errors import NotYet


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


def reported(handle: Callable[[SQSRecord], None]) -> Callable[[SQSRecord], None]:
    """`handle`, with a line in the log for each message that it sends back.

    The batch processor counts such a message and says nothing.
    """

    def handle_and_report(record: SQSRecord) -> None:
        try:
            handle(record)
        except NotYet as why:
            count("kept_for_later")
            logger().warning("message kept for later", why=str(why), message_id=record.message_id)
            raise
        except Exception:
            count("failed")
            logger().exception("message failed", message_id=record.message_id)
            raise

    return handle_and_report


@contextmanager
def observed(context: LambdaContext) -> Iterator[None]:
    """One invocation: its id on every line, its metrics written at the end, also on errors."""
    logger().append_keys(function_request_id=context.aws_request_id)
    try:
        yield
    finally:
        if metrics().metric_set:
            metrics().flush_metrics()
