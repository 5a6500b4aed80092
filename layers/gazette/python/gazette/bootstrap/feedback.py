"""The function `feedback`, joined."""

from collections.abc import Callable
from datetime import timedelta
from functools import cache

import boto3

from gazette.adapters.bus import EventBridgeBus
from gazette.adapters.engagement import DynamoEngagements
from gazette.adapters.evidence import DynamoEvidenceLog
from gazette.adapters.runs import DynamoRuns
from gazette.adapters.ses_events import decode_report
from gazette.domain.feedback import MailEvent, MailReport
from gazette.domain.run import Run
from gazette.settings import FeedbackSettings
from gazette.steps.feedback import take_note


@cache
def build() -> Callable[[str], tuple[MailReport, Run | None] | None]:
    """Takes the body of a message; None where it reports of no email of ours.

    Built once per process.
    """
    settings = FeedbackSettings.from_env()
    retention = timedelta(days=settings.run_retention_days)
    runs = DynamoRuns(settings.runs_table, retention=retention)
    engagements = DynamoEngagements(settings.engagement_table, retention=retention)
    evidence_log = DynamoEvidenceLog(settings.batches_table)
    bus = EventBridgeBus(boto3.client("events"), settings.bus, source="gazette.feedback")
    signs = {MailEvent.CLICKED: settings.track_clicks, MailEvent.OPENED: settings.opens_are_life}
    signs_of_life = frozenset(kind for kind, is_one in signs.items() if is_one)

    def run(body: str) -> tuple[MailReport, Run | None] | None:
        report = decode_report(body)
        if report is None:
            return None
        return report, take_note(
            report,
            runs=runs,
            evidence_log=evidence_log,
            engagements=engagements,
            bus=bus,
            signs_of_life=signs_of_life,
        )

    return run
