"""What the mail provider reports: proof that it took a message, and what became of it."""

from collections.abc import Collection
from dataclasses import dataclass

from gazette.domain.commands import MarkActive
from gazette.domain.delivery.run import Run
from gazette.domain.delivery.signals import Evidence
from gazette.domain.errors import Unavailable
from gazette.domain.feedback.delivery_events import DeliveryEvent, DeliveryEventType
from gazette.domain.feedback.engagement import what_became
from gazette.domain.identity import run_id
from gazette.domain.ports.ledgers import Engagements, Runs
from gazette.domain.ports.outside import Bus, EvidenceLog, Quarantine
from gazette.steps.runs import apply


@dataclass(frozen=True, slots=True)
class Recorded:
    """The run of a report as it is stored; None where it names none, or one that has expired.

    `is_news`: nobody had said before what the report tells of its email.
    `is_of_unknown_attempt`: it is about an attempt that nobody claimed.
    """

    run: Run | None
    is_news: bool = False
    is_of_unknown_attempt: bool = False


def record_event(
    report: DeliveryEvent,
    body: str,
    *,
    quarantine: Quarantine,
    runs: Runs,
    evidence_log: EvidenceLog,
    engagements: Engagements,
    bus: Bus,
    signs_of_life: Collection[DeliveryEventType],
) -> Recorded:
    """Settle the run that the report names, whenever and however often it comes (rule 8).

    Only then is the report counted as proof that reports come in. What is not of a scanner is
    remembered, and where it is one of `signs_of_life`, said on the bus. A report of an attempt
    that nobody claimed settles nothing: its `body` is kept in quarantine, with the reason.
    """
    run = runs.get(report.run) if report.run else None
    if run and not run.knows(report.attempt):
        quarantine.keep(body, _unknown_attempt(report, run))
        return Recorded(run, is_of_unknown_attempt=True)
    if run and report.kind is not DeliveryEventType.RENDERING_FAILED:
        run = apply(run, Evidence(report.attempt, report.message_id), runs=runs)
    evidence_log.note(report.sent_at)
    event = what_became(report)
    if run is None or event is None:
        return Recorded(run)
    is_news = engagements.note(run, event, report.happened_at)
    if report.kind in signs_of_life:
        _say_active(run, report, bus)
    return Recorded(run, is_news)


def _unknown_attempt(report: DeliveryEvent, run: Run) -> str:
    return (
        f"SES reports attempt {report.attempt} of run {run_id(run.key)}, of which {run.attempt} "
        "were made: it was another run with the same id, or the table was restored to an earlier "
        "time. The report settles nothing, and what the email showed may be sent again."
    )


def _say_active(run: Run, report: DeliveryEvent, bus: Bus) -> None:
    sign = MarkActive(run.key.user_id, report.happened_at)
    if not bus.put([sign]):
        raise Unavailable("The bus did not take a sign of life. The report will come again.")
