"""The function `feedback`, joined."""

from collections.abc import Callable
from datetime import timedelta
from functools import cache

from gazette.adapters.evidence import DynamoEvidenceLog
from gazette.adapters.runs import DynamoRuns
from gazette.adapters.ses_events import decode_report
from gazette.domain.feedback import MailReport
from gazette.domain.run import Run
from gazette.settings import FeedbackSettings
from gazette.steps.feedback import take_note


@cache
def build() -> Callable[[str], tuple[MailReport, Run | None] | None]:
    """Takes the body of a message; None where it reports of no email of ours.

    Built once per process.
    """
    settings = FeedbackSettings.from_env()
    runs = DynamoRuns(settings.runs_table, retention=timedelta(days=settings.run_retention_days))
    evidence_log = DynamoEvidenceLog(settings.batches_table)

    def run(body: str) -> tuple[MailReport, Run | None] | None:
        report = decode_report(body)
        if report is None:
            return None
        return report, take_note(report, runs=runs, evidence_log=evidence_log)

    return run
