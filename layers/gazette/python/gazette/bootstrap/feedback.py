"""Composition root of the `feedback` function, which connects the step to its adapters."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from gazette.adapters.aws.bus import EventBridgeBus, events_client
from gazette.adapters.aws.queues import SqsQuarantine, sqs_client
from gazette.adapters.aws.suppression_key import read_suppression_key
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.adapters.dynamodb.control.evidence import DynamoEvidenceLog
from gazette.adapters.dynamodb.feedback.bounces import DynamoBounces
from gazette.adapters.dynamodb.feedback.statistics import DynamoCategoryStats, DynamoEngagements
from gazette.adapters.dynamodb.feedback.suppressions import DynamoSuppressions
from gazette.adapters.dynamodb.runs import DynamoRuns
from gazette.adapters.dynamodb.schedules import DynamoSchedules
from gazette.adapters.dynamodb.subscribers import DynamoSubscribers
from gazette.adapters.mail.reported_events import decode_either
from gazette.adapters.mail.ses_events import decode_delivery_event
from gazette.bootstrap.parts.clock import now
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.feedback.reports import DeliveryReport, Prover
from gazette.domain.ports.clock import TimeLeft
from gazette.domain.sources import DELIVERY_REPORTED, FEEDBACK, Sources
from gazette.run_metrics import record_category_held
from gazette.settings.feedback import FeedbackSettings
from gazette.steps.feedback.bounces import SuppressionContext
from gazette.steps.feedback.feedback import (
    CategoryStatsContext,
    FeedbackContext,
    Result,
    process_delivery_events,
)


@dataclass(frozen=True, slots=True)
class FeedbackFunction:
    """The functions that the feedback handler calls."""

    process: Callable[[Sequence[str], TimeLeft], Iterator[Result]]
    """The step `process_delivery_events`, to call with the body of each message and the time left
    of the invocation."""

    finish: Callable[[], None] | None
    """The function to call at the end of the invocation, which writes the counts by category.

    If it raises Unavailable, the next invocation writes the counts. None for a stage that does not
    count delivery events by category.
    """


@cache
def build() -> FeedbackFunction:
    """Return the functions that the feedback handler calls. Built once per process."""
    settings = FeedbackSettings.from_env()
    retention = settings.run_retention
    runs = DynamoRuns(settings.runs_table, retention=retention)
    key = read_suppression_key(settings.suppressions_secret)
    signs = {
        DeliveryEventType.CLICKED: settings.track_clicks,
        DeliveryEventType.OPENED: settings.opens_are_life,
    }
    counted = _category_stats(settings)
    process = partial(
        process_delivery_events,
        decode=_decoder(settings, key),
        context=FeedbackContext(
            runs=runs,
            evidence_log=DynamoEvidenceLog(settings.control_table),
            engagements=DynamoEngagements(settings.engagement_table, retention=retention),
            quarantine=SqsQuarantine(sqs_client(), settings.quarantine_queue_url),
            bus=EventBridgeBus(events_client(), settings.bus, source=FEEDBACK),
            signs_of_life=frozenset(type_ for type_, is_one in signs.items() if is_one),
            category_stats=counted,
            suppression=_suppression(settings, runs, key),
        ),
    )
    return FeedbackFunction(process, counted.category_stats.flush if counted else None)


def _decoder(settings: FeedbackSettings, key: bytes) -> Callable[[str], DeliveryEvent | None]:
    """Return the decoder of SES's events and of services' reports."""
    sources = Sources({DELIVERY_REPORTED: settings.reporters} if settings.reporters else {})
    return partial(
        decode_either,
        by_ses=partial(decode_delivery_event, installation=settings.installation),
        decode_report=partial(_decode_report, sources=sources),
        prover=Prover(key=key, installation=settings.installation),
        clock=now,
    )


def _decode_report(body: str, *, sources: Sources) -> DeliveryReport:
    # Imported here because few stages get reports, and pydantic delays a cold start.
    from gazette.adapters.contract.reports import decode_report

    return decode_report(body, sources=sources)


def _category_stats(settings: FeedbackSettings) -> CategoryStatsContext | None:
    if not settings.category_hold:
        return None
    return CategoryStatsContext(
        category_stats=DynamoCategoryStats(settings.category_stats_table, gathers=True),
        holds=DynamoCategoryHolds(settings.control_table),
        tell=record_category_held,
        clock=now,
    )


def _suppression(settings: FeedbackSettings, runs: DynamoRuns, key: bytes) -> SuppressionContext:
    limit = settings.soft_limit
    return SuppressionContext(
        suppressions=DynamoSuppressions(settings.suppressions_table, key=key, clock=now),
        bounces=DynamoBounces(
            settings.bounces_table, key=key, retention=limit.retention, clock=now
        ),
        subscribers=DynamoSubscribers(settings.subscribers_table),
        schedules=DynamoSchedules(settings.schedules_table, shards=settings.shards),
        runs=runs,
        soft_limit=limit,
    )
