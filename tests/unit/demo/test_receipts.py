"""The demo's comparison of receipts with the emails finds what it is there to find."""

from dataclasses import replace

from gazette.domain.delivery.run import Certainty, Reason, Run, Status
from gazette.domain.identity import parse_run_id
from gazette.domain.receipts.receipt import Receipt, ReceiptEmail, State

from demo import campus
from demo.invented import Happened
from demo.receipts import compare_with_emails
from demo.ses import Accepted
from tests.builders import NOW
from tests.unit.demo.test_audit import WEEK, events, week

__all__ = ["week"]


def receipts() -> list[tuple[Happened, Receipt]]:
    """A right receipt of each event: each day of a reader is one email."""
    runs = {place: f"student{place[0]}-daily-{number}" for number, place in enumerate(WEEK)}
    told = []
    for each in events():
        run = Run(
            parse_run_id(runs[each.message.target, each.message.day]),
            NOW,
            NOW,
            status=Status.SENT,
            reason=Reason.ACCEPTED,
            events=1,
        )
        receipt = Receipt(
            campus.user_id(each.message.target),
            campus.event_id(each.message),
            State.EMAILED,
            NOW,
            emails=(ReceiptEmail(run, Certainty.ACCEPTED, {}),),
        )
        told.append((each, receipt))
    return told


def problems(all_receipts: list[tuple[Happened, Receipt]], week: list[Accepted]) -> list[str]:
    return compare_with_emails(all_receipts, week).problems


def test_right_receipts_agree_with_the_emails(week: list[Accepted]) -> None:
    compared = compare_with_emails(receipts(), week)
    assert (compared.agreeing, compared.problems) == (len(events()), [])


def test_receipt_that_names_another_email_is_found(week: list[Accepted]) -> None:
    first, *others = receipts()
    wrong = (first[0], replace(first[1], emails=others[-1][1].emails))
    assert len(problems([wrong, *others], week)) == 2


def test_receipt_without_an_email_is_found(week: list[Accepted]) -> None:
    first, *others = receipts()
    wrong = (first[0], replace(first[1], state=State.WAITING, emails=()))
    found = problems([wrong, *others], week)
    assert len(found) == 2
    assert "is waiting in 0 emails" in found[0]


def test_receipt_of_an_email_that_never_arrived_is_found(week: list[Accepted]) -> None:
    (found,) = problems(receipts(), week[:-1])
    assert "never arrived" in found


def test_email_without_the_number_of_its_events_is_found(week: list[Accepted]) -> None:
    first, *others = receipts()
    (email,) = first[1].emails
    wrong = replace(first[1], emails=(replace(email, run=replace(email.run, events=None)),))
    (found,) = problems([(first[0], wrong), *others], week)
    assert "has no number of events" in found
