"""What `CategoryStats` promises, held against our fake and the real adapter on moto."""

from datetime import timedelta

import pytest
from gazette.adapters.dynamodb.feedback.statistics import DynamoCategoryStats
from gazette.adapters.dynamodb.tables import CategoryStatsRow
from gazette.domain.errors import Unavailable
from gazette.domain.feedback.delivery_events import Mark
from gazette.domain.feedback.reputation import SPAN, CategoryCounts
from gazette.domain.ports.ledgers import CategoryStats

from tests.builders import NOW
from tests.fake_stores import FakeCategoryStats
from tests.meter import calls, metered

HOUR = timedelta(hours=1)
FAULTS = (Mark.BOUNCED, Mark.COMPLAINED)


@pytest.fixture(params=["at once", "gathered"])
def category_stats(request: pytest.FixtureRequest, engine: str) -> CategoryStats:
    if engine != "moto":
        return FakeCategoryStats()
    return DynamoCategoryStats("category_stats", gathers=request.param == "gathered")


def test_counts_are_initially_empty(category_stats: CategoryStats) -> None:
    assert category_stats.since("comment", NOW - SPAN) == CategoryCounts()


def test_sent_emails_and_outcomes_are_counted_per_category(
    category_stats: CategoryStats,
) -> None:
    for mark, number in ((Mark.SENT, 5), (Mark.BOUNCED, 2), (Mark.COMPLAINED, 1)):
        for _ in range(number):
            category_stats.add("comment", mark, NOW)
    category_stats.add("like", Mark.SENT, NOW)
    assert category_stats.since("comment", NOW - SPAN) == CategoryCounts(5, 2, 1)
    assert category_stats.since("like", NOW - SPAN) == CategoryCounts(1)


def test_counts_since_an_instant_start_with_its_hour(category_stats: CategoryStats) -> None:
    for hours in (0, 1, 1, 5):
        category_stats.add("comment", Mark.SENT, NOW - hours * HOUR)
    for ago, sent in ((0, 1), (1, 3), (4, 3), (5, 4)):
        assert category_stats.since("comment", NOW - ago * HOUR) == CategoryCounts(sent)


@pytest.mark.parametrize("mark", FAULTS)
def test_complaint_or_bounce_counts_in_the_hour_of_a_counted_email(
    category_stats: CategoryStats, mark: Mark
) -> None:
    category_stats.add("comment", Mark.SENT, NOW)
    category_stats.add("comment", mark, NOW + timedelta(minutes=50))
    category_stats.add("comment", mark, NOW - HOUR)
    category_stats.add("like", mark, NOW)
    assert category_stats.since("comment", NOW - SPAN) == CategoryCounts(1, **{mark.value: 1})
    assert category_stats.since("like", NOW - SPAN) == CategoryCounts()


@pytest.mark.parametrize("mark", FAULTS)
def test_emails_sent_before_a_reset_are_not_counted(
    category_stats: CategoryStats, mark: Mark
) -> None:
    for hours in range(30):
        category_stats.add("comment", Mark.SENT, NOW - hours * HOUR)
    category_stats.add("like", Mark.SENT, NOW)
    category_stats.forget("comment")
    category_stats.add("comment", mark, NOW - HOUR)
    assert category_stats.since("comment", NOW - SPAN) == CategoryCounts()
    assert category_stats.since("like", NOW - SPAN) == CategoryCounts(1)
    category_stats.forget("comment")


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_count_row_outlives_its_counting_period(category_stats: CategoryStats) -> None:
    category_stats.add("comment", Mark.SENT, NOW)
    category_stats.flush()
    (row,) = CategoryStatsRow.scan()
    assert row.expires_at - NOW > SPAN + HOUR


def gathered_elsewhere() -> CategoryCounts:
    """What another process reads."""
    return DynamoCategoryStats("category_stats").since("comment", NOW - SPAN)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.usefixtures("engine")
def test_gathered_counts_are_written_once_together(monkeypatch: pytest.MonkeyPatch) -> None:
    category_stats = DynamoCategoryStats("category_stats", gathers=True)
    with metered(monkeypatch) as meter:
        for number in range(10):
            category_stats.add("comment" if number % 2 else "like", Mark.SENT, NOW)
        assert meter.calls == calls()
        for _ in range(2):
            category_stats.flush()
        assert meter.calls == calls(UpdateItem=2)
    assert gathered_elsewhere() == CategoryCounts(5)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("mark", FAULTS)
def test_outcome_is_matched_with_gathered_counts_of_its_hour(mark: Mark) -> None:
    category_stats = DynamoCategoryStats("category_stats", gathers=True)
    category_stats.add("comment", Mark.SENT, NOW)
    category_stats.add("comment", mark, NOW)
    assert gathered_elsewhere() == CategoryCounts(1, **{mark.value: 1})


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.usefixtures("engine")
def test_counts_that_failed_to_write_are_added_to_the_next_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    category_stats = DynamoCategoryStats("category_stats", gathers=True)
    category_stats.add("comment", Mark.SENT, NOW)
    with monkeypatch.context() as patch:
        patch.setattr(CategoryStatsRow, "update", unavailable)
        with pytest.raises(Unavailable):
            category_stats.flush()
    category_stats.add("comment", Mark.SENT, NOW)
    category_stats.flush()
    assert gathered_elsewhere() == CategoryCounts(2)


def unavailable(*_: object, **__: object) -> None:
    raise Unavailable("no answer")
