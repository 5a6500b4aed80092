"""What the mail provider reports: proof that it took a message, and what became of it."""

from collections.abc import Collection
from dataclasses import dataclass

from gazette.domain.commands import MarkActive
from gazette.domain.engagement import what_became
from gazette.domain.errors import Unavailable
from gazette.domain.feedback import MailEvent, MailReport
from gazette.domain.ledgers import Engagements, Runs
from gazette.domain.ports import Bus, EvidenceLog
from gazette.domain.run import Run
from gazette.domain.signals import Evidence
from gazette.steps.applying import apply


@dataclass(frozen=True, slots=True)
class Noted:
    """The run of a report as it is stored; None where it names none, or one that has expired.

    `is_news`: nobody had said before what the report tells of its email.
    """

    run: Run | None
    is_news: bool = False


def take_note(
    report: MailReport,
    *,
    runs: Runs,
    evidence_log: EvidenceLog,
    engagements: Engagements,
    bus: Bus,
    signs_of_life: Collection[MailEvent],
) -> Noted:
    """Settle the run that the report names, whenever and however often it comes (rule 8).

    Only then is the report counted as proof that reports come in. What is not of a scanner is
    remembered, and where it is one of `signs_of_life`, said on the bus.
    """
    run = runs.get(report.run) if report.run else None
    if run and report.kind is not MailEvent.RENDERING_FAILED:
        run = apply(run, Evidence(report.message_id), runs=runs)
    evidence_log.note(report.sent_at)
    event = what_became(report)
    if run is None or event is None:
        return Noted(run)
    is_news = engagements.note(run, event, report.happened_at)
    if report.kind in signs_of_life:
        _say_active(run, report, bus)
    return Noted(run, is_news)


def _say_active(run: Run, report: MailReport, bus: Bus) -> None:
    sign = MarkActive(run.key.user_id, report.happened_at)
    if not bus.put([sign]):
        raise Unavailable("The bus did not take a sign of life. The report will come again.")
