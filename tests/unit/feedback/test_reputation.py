"""When the emails of a category bounce, or are complained of, too often."""

from dataclasses import replace

import pytest
from gazette.domain.feedback.delivery_events import Fault, MailEvent, MailReport
from gazette.domain.feedback.reputation import Mark, Tally, category_brake, mark_of, too_bad

from tests.builders import KEY, NOW, a_bounce, a_complaint

SENT = MailReport(MailEvent.SENT, KEY, 1, "m1", NOW)


@pytest.mark.parametrize(
    ("tally", "why"),
    [
        (Tally(10_000, complained=10), "10 complaints about 10000 emails within 7 days: 0.10%"),
        (Tally(50, complained=10), "10 complaints about 50 emails within 7 days: 20.00%"),
        (Tally(400, bounced=20), "20 of 400 emails bounced for good within 7 days: 5.0%"),
        (Tally(20, bounced=20), "20 of 20 emails bounced for good within 7 days: 100.0%"),
        (Tally(20, 20, 10), "10 complaints about 20 emails within 7 days: 50.00%"),
    ],
)
def test_it_is_too_bad_where_ses_begins_to_look(tally: Tally, why: str) -> None:
    assert too_bad(tally) == why


@pytest.mark.parametrize(
    "tally",
    [
        Tally(),
        Tally(10_001, complained=10),
        Tally(401, bounced=20),
        Tally(1_000_000, bounced=49_999, complained=999),
    ],
)
def test_below_those_rates_it_is_not(tally: Tally) -> None:
    assert too_bad(tally) == ""


@pytest.mark.parametrize(
    "tally", [Tally(100, complained=9), Tally(19, bounced=19), Tally(0, 99, 99)]
)
def test_a_few_may_be_chance(tally: Tally) -> None:
    assert too_bad(tally) == ""


@pytest.mark.parametrize(
    ("report", "mark"),
    [
        (SENT, Mark.SENT),
        (a_bounce(), Mark.BOUNCED),
        (a_complaint(), Mark.COMPLAINED),
        *[(a_bounce(fault), None) for fault in (Fault.SOFT, Fault.UNDETERMINED, Fault.OF_MESSAGE)],
        *[(replace(SENT, kind=kind), None) for kind in set(MailEvent) - {MailEvent.SENT}],
    ],
)
def test_what_a_report_counts_as(report: MailReport, mark: Mark | None) -> None:
    assert mark_of(report) is mark


@pytest.mark.parametrize("report", [a_bounce(), a_complaint()])
def test_what_the_account_had_on_its_own_list_counts_for_nothing(report: MailReport) -> None:
    """SES did not try, and does not count it."""
    assert mark_of(replace(report, unsent=True)) is None


def test_a_long_reason_is_cut() -> None:
    assert len(category_brake("comment", "x" * 1000, NOW).why) == 200
