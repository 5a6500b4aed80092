"""What the mail provider reports: proof that it took a message."""

from gazette.domain.feedback import MailEvent, MailReport
from gazette.domain.ledgers import Runs
from gazette.domain.ports import EvidenceLog
from gazette.domain.run import Run
from gazette.domain.signals import Evidence
from gazette.steps.applying import apply


def take_note(report: MailReport, *, runs: Runs, evidence_log: EvidenceLog) -> Run | None:
    """Settle the run that the report names, whenever and however often it comes (rule 8).

    Only then is the report counted as proof that reports come in. Returns the run as it is
    stored; None where the report names none, or one that has expired.
    """
    run = runs.get(report.run) if report.run else None
    if run and report.kind is not MailEvent.RENDERING_FAILED:
        run = apply(run, Evidence(report.message_id), runs=runs)
    evidence_log.note(report.sent_at)
    return run
