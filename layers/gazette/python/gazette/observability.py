"""Logs and metrics through AWS Lambda Powertools. Only handlers use this module.

A log line is a constant message with fields. It never contains an address or the content of an
email. Metrics are written in EMF with one dimension, `service`, which names the stage, so that
stages do not trigger each other's alarms. The stack sets it as POWERTOOLS_SERVICE_NAME.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from threading import Lock
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from gazette.domain.errors import Hidden, NotYet, UnreadableRow


@cache
def logger() -> Logger:
    """Return the structured logger of this function.

    Its lines do not name their place in the code. The message is constant, and errors have a
    traceback.
    """
    return Logger(service=_service(), location=None)


@cache
def metrics() -> Metrics:
    """Return this function's metrics, which are written at the end of each invocation."""
    return Metrics(namespace="Gazette", service=_service())


def _service() -> str:
    return os.environ.get("POWERTOOLS_SERVICE_NAME", "gazette")


_ADDING = Lock()
"""A lock that a thread holds while it adds a metric.

Powertools writes and clears a full set of metrics, even while another thread adds a metric to the
set.
"""


def count(name: str, number: int = 1) -> None:
    """Add `number` to a count metric of this invocation. A count of 0 is not written.

    CloudWatch charges for each hour in which a metric has a value. Alarms and sums treat a missing
    count like 0. https://aws.amazon.com/cloudwatch/pricing/, "All custom metrics charges are
    prorated by the hour and metered only when you send metrics to CloudWatch"
    """
    if number:
        _add(name, MetricUnit.Count, number)


def measure_seconds(name: str, took: timedelta) -> None:
    """Record a duration in seconds. Each value is stored, so that percentiles are exact."""
    _add(name, MetricUnit.Seconds, round(took.total_seconds(), 3))


def measure_milliseconds(name: str, took: timedelta) -> None:
    """Record a duration in milliseconds. Each value is stored, so that percentiles are exact."""
    _add(name, MetricUnit.Milliseconds, round(took.total_seconds() * 1000, 3))


def _add(name: str, unit: MetricUnit, value: float) -> None:
    with _ADDING:
        metrics().add_metric(name=name, unit=unit, value=value)


TimeLeft = Callable[[], timedelta]
"""A function that returns the remaining time of this invocation."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of an SQS event.

    https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
    """

    id: str
    body: str
    receipt_handle: str
    queue: str
    """The ARN of the message's queue."""

    receives: int
    """The number of times that the message was received, including this time."""


def messages_in(event: dict[str, Any]) -> Sequence[Message]:
    """Return the messages of an SQS event, in the order of its records."""
    return [
        Message(
            record["messageId"],
            record["body"],
            record["receiptHandle"],
            record["eventSourceARN"],
            int(record["attributes"]["ApproximateReceiveCount"]),
        )
        for record in event["Records"]
    ]


RunAll = Callable[[Callable[[int], object], Sequence[int]], None]
"""A function that calls a given function for each number, and returns after all calls have
ended."""


ComeBack = Callable[[Sequence[Message], TimeLeft], None]
"""A function that makes failed messages of one queue visible again soon. Never raises."""

RunOf = Callable[[Message], str]
"""A function that returns the id of the run that a message names, or "". Never raises."""


def _no_run(_: Message) -> str:
    return ""


def _in_turn(work: Callable[[int], object], numbers: Sequence[int]) -> None:
    for number in numbers:
        work(number)


def each_message(
    event: dict[str, Any],
    context: LambdaContext,
    handle: Callable[[Message, TimeLeft], None],
    *,
    come_back: ComeBack,
    run_all: RunAll = _in_turn,
    run_of: RunOf = _no_run,
) -> dict[str, Any]:
    """Call `handle` for each message of an SQS event. Return the messages that SQS must redeliver.

    Log each failed message, with the run that `run_of` returns. `run_all` decides whether the calls
    run one after another or concurrently. A message counts as failed until `handle` returns.
    `come_back` is called at most once, with all failed messages that `handle` did not hide
    (`Hidden`).

    https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html, "Implementing
    partial batch responses"
    """
    messages = messages_in(event)
    handled = [False] * len(messages)
    hidden: set[Message] = set()

    def handle_and_report(number: int) -> None:
        message = messages[number]
        try:
            handle(message, time_left_of(context))
        except Exception as err:  # noqa: BLE001 -- whatever the error, the other messages are handled
            _report(message, err, run_of(message))
            if isinstance(err, Hidden):
                hidden.add(message)
        else:
            handled[number] = True

    run_all(handle_and_report, range(len(messages)))
    failed = [each for each, was in zip(messages, handled, strict=True) if not was]
    if soon := [message for message in failed if message not in hidden]:
        come_back(soon, time_left_of(context))
    return _answer(failed)


def all_messages(
    event: dict[str, Any],
    context: LambdaContext,
    handle: Callable[[Sequence[Message], TimeLeft], Sequence[Exception | None]],
    *,
    come_back: ComeBack,
) -> dict[str, Any]:
    """Call `handle` once for all messages of an SQS event. Return the failed messages.

    A message fails if `handle` returns an error at its index. All messages fail if `handle` raises
    an error. Log each failed message. `come_back` is called once with the failed messages, if any.
    """
    messages = messages_in(event)
    errors: Sequence[Exception | None]
    try:
        errors = handle(messages, time_left_of(context))
    except Exception as err:  # noqa: BLE001 -- reported, and SQS delivers all messages again
        errors = [err] * len(messages)
    failed = []
    for message, error in zip(messages, errors, strict=True):
        if error:
            _report(message, error)
            failed.append(message)
    if failed:
        come_back(failed, time_left_of(context))
    return _answer(failed)


def time_left_of(context: LambdaContext) -> TimeLeft:
    """Create a function that returns the remaining time of this invocation."""
    return lambda: timedelta(milliseconds=context.get_remaining_time_in_millis())


def _report(message: Message, err: Exception, run: str = "") -> None:
    """Count and log a failed message that SQS will redeliver. `run` is the id of its run, if any.

    Other lines about a run have its id in `correlation_id` too, so one search finds them. Only the
    line of feedback about confirmed emails has the provider's ids of the emails instead.
    """
    fields = {"message_id": message.id} | ({"correlation_id": run} if run else {})
    if isinstance(err, NotYet):
        count("returned_to_queue")
        logger().warning("returned to queue", why=str(err), extra=fields)
        return
    count("failed")
    if isinstance(err, UnreadableRow):
        count("unreadable_rows")
    logger().exception("message failed", exc_info=err, extra=fields)


def _answer(failed: Sequence[Message]) -> dict[str, Any]:
    return {"batchItemFailures": [{"itemIdentifier": each.id} for each in failed]}


@contextmanager
def observed(context: LambdaContext) -> Iterator[None]:
    """Add the invocation's id to every log line, and write the metrics at the end, even after an
    error."""
    logger().append_keys(function_request_id=context.aws_request_id)
    try:
        yield
    finally:
        if metrics().metric_set:
            metrics().flush_metrics()
