"""Which categories are on hold: our fake, and rows of DynamoDB on moto."""

from datetime import timedelta

import pytest
from gazette.adapters.cached import READ_INTERVAL, Cached
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryHolds
from gazette.domain.feedback.reputation import category_hold
from gazette.domain.ports.ledgers import CategoryHolds

from tests.builders import NOW, SettableClock
from tests.fake_stores import FakeCategoryHolds

COMMENT = category_hold("comment", "12 complaints", NOW)
LIKE = category_hold("like", "wrong template", NOW + timedelta(hours=1), by_hand=True)


@pytest.fixture
def holds(engine: str) -> CategoryHolds:
    return FakeCategoryHolds() if engine != "moto" else DynamoCategoryHolds("control")


def test_no_category_is_initially_on_hold(holds: CategoryHolds) -> None:
    assert list(holds.active()) == []
    assert not holds.release("comment")


def test_each_category_is_held_separately(holds: CategoryHolds) -> None:
    assert holds.add(LIKE)
    assert holds.add(COMMENT)
    assert list(holds.active()) == [COMMENT, LIKE]
    assert holds.release("comment")
    assert list(holds.active()) == [LIKE]


def test_repeated_hold_keeps_the_first_reason(holds: CategoryHolds) -> None:
    holds.add(COMMENT)
    later = category_hold("comment", "something else", NOW + timedelta(days=1), by_hand=True)
    assert not holds.add(later)
    assert list(holds.active()) == [COMMENT]


def test_hold_is_released_once_and_can_be_added_again(holds: CategoryHolds) -> None:
    holds.add(LIKE)
    assert holds.release("like")
    assert not holds.release("like")
    again = category_hold("like", "again", NOW)
    assert holds.add(again)
    assert list(holds.active()) == [again]


def held(holds: CategoryHolds, clock: SettableClock) -> Cached[frozenset[str]]:
    return Cached(
        lambda: frozenset(hold.category for hold in holds.active()),
        default=frozenset(),
        clock=clock,
    )


def test_category_holds_are_read_once_a_minute_and_errors_are_ignored(
    holds: CategoryHolds, clock: SettableClock, answers: list[str], engine: str
) -> None:
    cached = held(holds, clock)
    assert not cached.get()
    holds.add(COMMENT)
    assert not cached.get()
    clock.now += READ_INTERVAL + timedelta(seconds=1)
    assert cached.get() == {"comment"}
    if engine == "moto":
        answers += ["lost before", "lost before", "lost before"]
        clock.now += READ_INTERVAL + timedelta(seconds=1)
        assert cached.get() == {"comment"}
        answers.clear()
        assert cached.get() == {"comment"}


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_worker_starts_without_category_holds_if_the_table_fails(
    holds: CategoryHolds, clock: SettableClock, answers: list[str]
) -> None:
    answers += ["lost before", "lost before", "lost before"]
    assert not held(holds, clock).get()
