"""What `Tallies` promises, held against our fake and the real adapter on moto."""

from datetime import timedelta

import pytest
from gazette.adapters.dynamodb.control.tallies import DynamoTallies
from gazette.adapters.dynamodb.tables import TallyRow
from gazette.domain.feedback.reputation import SPAN, Mark, Tally
from gazette.domain.ports.ledgers import Tallies

from tests.builders import NOW
from tests.fake_stores import FakeTallies

HOUR = timedelta(hours=1)
FAULTS = (Mark.BOUNCED, Mark.COMPLAINED)


@pytest.fixture
def tallies(engine: str) -> Tallies:
    return FakeTallies() if engine != "moto" else DynamoTallies("tallies")


def test_at_first_nothing_is_counted(tallies: Tallies) -> None:
    assert tallies.since("comment", NOW - SPAN) == Tally()


def test_what_was_sent_and_what_became_of_it_is_counted_for_each_category(tallies: Tallies) -> None:
    for mark, number in ((Mark.SENT, 5), (Mark.BOUNCED, 2), (Mark.COMPLAINED, 1)):
        for _ in range(number):
            tallies.add("comment", mark, NOW)
    tallies.add("like", Mark.SENT, NOW)
    assert tallies.since("comment", NOW - SPAN) == Tally(5, 2, 1)
    assert tallies.since("like", NOW - SPAN) == Tally(1)


def test_hours_are_added_up_from_the_one_of_the_instant_on(tallies: Tallies) -> None:
    for hours in (0, 1, 1, 5):
        tallies.add("comment", Mark.SENT, NOW - hours * HOUR)
    for ago, sent in ((0, 1), (1, 3), (4, 3), (5, 4)):
        assert tallies.since("comment", NOW - ago * HOUR) == Tally(sent)


@pytest.mark.parametrize("mark", FAULTS)
def test_a_fault_counts_in_the_hour_of_its_email_and_only_where_that_was_counted(
    tallies: Tallies, mark: Mark
) -> None:
    tallies.add("comment", Mark.SENT, NOW)
    tallies.add("comment", mark, NOW + timedelta(minutes=50))
    tallies.add("comment", mark, NOW - HOUR)
    tallies.add("like", mark, NOW)
    assert tallies.since("comment", NOW - SPAN) == Tally(1, **{mark.value: 1})
    assert tallies.since("like", NOW - SPAN) == Tally()


@pytest.mark.parametrize("mark", FAULTS)
def test_what_was_sent_before_all_was_forgotten_counts_no_more(
    tallies: Tallies, mark: Mark
) -> None:
    for hours in range(30):
        tallies.add("comment", Mark.SENT, NOW - hours * HOUR)
    tallies.add("like", Mark.SENT, NOW)
    tallies.forget("comment")
    tallies.add("comment", mark, NOW - HOUR)
    assert tallies.since("comment", NOW - SPAN) == Tally()
    assert tallies.since("like", NOW - SPAN) == Tally(1)
    tallies.forget("comment")


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_a_row_outlives_the_span_for_which_it_counts(tallies: Tallies) -> None:
    tallies.add("comment", Mark.SENT, NOW)
    (row,) = TallyRow.scan()
    assert row.expires_at - NOW > SPAN + HOUR
