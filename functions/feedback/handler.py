"""What SES reports of each email, by way of the feedback queue."""

from typing import Any

from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from gazette.bootstrap.feedback import build
from gazette.domain.identity import run_id
from gazette.observability import TimeLeft, count, each_message, logger, observed


def lambda_handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """One invocation of up to ten reports; each is taken note of, or delivered again by itself."""
    with observed(context):
        return each_message(event, context, _take_note)


def _take_note(record: SQSRecord, _: TimeLeft) -> None:
    taken = build()(record.body)
    if taken is None:
        logger().info("not a report of an email", message_id=record.message_id)
        return
    report, run = taken.report, taken.run
    count(f"mail_{report.kind}")
    if taken.is_of_unknown_attempt:
        count("unknown_attempt_events")
        logger().warning(
            "report of an attempt that nobody claimed",
            correlation_id=run_id(report.run) if report.run else "",
        )
    if report.is_by_policy:
        count("mail_refused_by_policy")
    if taken.suppressed:
        count(f"suppressed_{taken.suppressed}")
    logger().info(
        "report taken",
        correlation_id=run_id(report.run) if report.run else "",
        kind=report.kind,
        attempt=report.attempt,
        status=run.status if run else "",
        reason=run.reason if run else "",
        fault=report.fault or "",
        cause=report.cause,
        by_policy=report.is_by_policy,
        suppressed=taken.suppressed or "",
    )
