"""The function `feedback`, joined."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

import boto3

from gazette.adapters.aws.bus import EventBridgeBus, events_client
from gazette.adapters.aws.queues import SqsQuarantine
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.control.evidence import DynamoEvidenceLog
from gazette.adapters.dynamodb.feedback.bounces import DynamoBounces
from gazette.adapters.dynamodb.feedback.category_stats import DynamoCategoryStats
from gazette.adapters.dynamodb.feedback.engagement import DynamoEngagements
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.bootstrap.parts.clock import now
from gazette.domain.delivery.run import Run
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.subscribers.suppression import Cause, SoftLimit
from gazette.run_metrics import record_category_held
from gazette.settings import FeedbackSettings
from gazette.steps.feedback.bounces import SuppressionContext, heed
from gazette.steps.feedback.category_stats import CategoryStatsContext, watch
from gazette.steps.feedback.feedback import record_event


@dataclass(frozen=True, slots=True)
class Taken:
    """A report, the run that it is of, and why its address is suppressed now, if it is for it.

    `is_of_unknown_attempt`: as in Recorded.
    """

    report: DeliveryEvent
    run: Run | None
    suppressed: Cause | None
    is_of_unknown_attempt: bool


@cache
def build() -> Callable[[str], Taken | None]:
    """Takes the body of a message; None where it reports of no email of ours.

    Built once per process.
    """
    settings = FeedbackSettings.from_env()
    retention = timedelta(days=settings.run_retention_days)
    runs = DynamoRuns(settings.runs_table, retention=retention)
    engagements = DynamoEngagements(settings.engagement_table, retention=retention)
    evidence_log = DynamoEvidenceLog(settings.control_table)
    quarantine = SqsQuarantine(boto3.client("sqs"), settings.quarantine_queue_url)
    said_on = EventBridgeBus(events_client(), settings.bus, source="gazette.feedback")
    signs = {
        DeliveryEventType.CLICKED: settings.track_clicks,
        DeliveryEventType.OPENED: settings.opens_are_life,
    }
    signs_of_life = frozenset(kind for kind, is_one in signs.items() if is_one)
    by = _suppressing(settings, runs)
    watching = _watching(settings)

    def run(body: str) -> Taken | None:
        report = decode_delivery_event(body, installation=settings.installation)
        if report is None:
            return None
        recorded = record_event(
            report,
            body,
            quarantine=quarantine,
            runs=runs,
            evidence_log=evidence_log,
            engagements=engagements,
            bus=said_on,
            signs_of_life=signs_of_life,
        )
        if watching:
            watch(report, recorded, by=watching)
        return Taken(report, recorded.run, heed(report, by=by), recorded.is_of_unknown_attempt)

    return run


def _watching(settings: FeedbackSettings) -> CategoryStatsContext | None:
    if not settings.category_hold:
        return None
    return CategoryStatsContext(
        category_stats=DynamoCategoryStats(settings.category_stats_table),
        holds=DynamoCategoryHolds(settings.control_table),
        tell=record_category_held,
        clock=now,
    )


def _suppressing(settings: FeedbackSettings, runs: DynamoRuns) -> SuppressionContext:
    span = timedelta(days=settings.soft_bounce_days)
    return SuppressionContext(
        suppressions=DynamoSuppressions(settings.suppressions_table, clock=now),
        bounces=DynamoBounces(settings.bounces_table, retention=2 * span, clock=now),
        subscribers=DynamoSubscribers(settings.subscribers_table),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        runs=runs,
        soft_limit=SoftLimit(bounces=settings.soft_bounces, span=span),
    )
