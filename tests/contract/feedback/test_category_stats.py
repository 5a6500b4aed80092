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


def test_at_first_nothing_is_counted(category_stats: CategoryStats) -> None:
    assert category_stats.since("comment", NOW - SPAN) == CategoryCounts()


def test_what_was_sent_and_what_became_of_it_is_counted_for_each_category(
    category_stats: CategoryStats,
) -> None:
    for mark, number in ((Mark.SENT, 5), (Mark.BOUNCED, 2), (Mark.COMPLAINED, 1)):
        for _ in range(number):
            category_stats.add("comment", mark, NOW)
    category_stats.add("like", Mark.SENT, NOW)
    assert category_stats.since("comment", NOW - SPAN) == CategoryCounts(5, 2, 1)
    assert category_stats.since("like", NOW - SPAN) == CategoryCounts(1)


def test_hours_are_added_up_from_the_one_of_the_instant_on(category_stats: CategoryStats) -> None:
    for hours in (0, 1, 1, 5):
        category_stats.add("comment", Mark.SENT, NOW - hours * HOUR)
    for ago, sent in ((0, 1), (1, 3), (4, 3), (5, 4)):
        assert category_stats.since("comment", NOW - ago * HOUR) == CategoryCounts(sent)


@pytest.mark.parametrize("mark", FAULTS)
def test_a_fault_counts_in_the_hour_of_its_email_and_only_where_that_was_counted(
    category_stats: CategoryStats, mark: Mark
) -> None:
    category_stats.add("comment", Mark.SENT, NOW)
    category_stats.add("comment", mark, NOW + timedelta(minutes=50))
    category_stats.add("comment", mark, NOW - HOUR)
    category_stats.add("like", mark, NOW)
    assert category_stats.since("comment", NOW - SPAN) == CategoryCounts(1, **{mark.value: 1})
    assert category_stats.since("like", NOW - SPAN) == CategoryCounts()


@pytest.mark.parametrize("mark", FAULTS)
def test_what_was_sent_before_all_was_forgotten_counts_no_more(
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
def test_a_row_outlives_the_span_for_which_it_counts(category_stats: CategoryStats) -> None:
    category_stats.add("comment", Mark.SENT, NOW)
    category_stats.flush()
    (row,) = CategoryStatsRow.scan()
    assert row.expires_at - NOW > SPAN + HOUR


def gathered_elsewhere() -> CategoryCounts:
    """What another process reads."""
    return DynamoCategoryStats("category_stats").since("comment", NOW - SPAN)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.usefixtures("engine")
def test_what_is_gathered_is_written_once_and_together(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_fault_finds_what_was_gathered_of_its_hour(mark: Mark) -> None:
    category_stats = DynamoCategoryStats("category_stats", gathers=True)
    category_stats.add("comment", Mark.SENT, NOW)
    category_stats.add("comment", mark, NOW)
    assert gathered_elsewhere() == CategoryCounts(1, **{mark.value: 1})


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
@pytest.mark.usefixtures("engine")
def test_what_cannot_be_written_is_written_with_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
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
