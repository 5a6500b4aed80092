"""Which categories are braked: our fake, and rows of DynamoDB on moto."""

from datetime import timedelta

import pytest
from gazette.adapters.cached import KEPT_FOR
from gazette.adapters.dynamodb.control.category_holds import DynamoCategoryBrakes, KeptBrakes
from gazette.domain.feedback.reputation import category_brake
from gazette.domain.ports.ledgers import CategoryBrakes

from tests.builders import NOW, SettableClock
from tests.fake_stores import FakeCategoryBrakes

COMMENT = category_brake("comment", "12 complaints", NOW)
LIKE = category_brake("like", "wrong template", NOW + timedelta(hours=1), by_hand=True)


@pytest.fixture
def brakes(engine: str) -> CategoryBrakes:
    return FakeCategoryBrakes() if engine != "moto" else DynamoCategoryBrakes("batches")


def test_at_first_none_is_braked(brakes: CategoryBrakes) -> None:
    assert list(brakes.pulled()) == []
    assert not brakes.release("comment")


def test_each_category_has_a_brake_of_its_own(brakes: CategoryBrakes) -> None:
    assert brakes.pull(LIKE)
    assert brakes.pull(COMMENT)
    assert list(brakes.pulled()) == [COMMENT, LIKE]
    assert brakes.release("comment")
    assert list(brakes.pulled()) == [LIKE]


def test_the_first_reason_stays(brakes: CategoryBrakes) -> None:
    brakes.pull(COMMENT)
    later = category_brake("comment", "something else", NOW + timedelta(days=1), by_hand=True)
    assert not brakes.pull(later)
    assert list(brakes.pulled()) == [COMMENT]


def test_it_is_released_once_and_may_be_pulled_again(brakes: CategoryBrakes) -> None:
    brakes.pull(LIKE)
    assert brakes.release("like")
    assert not brakes.release("like")
    again = category_brake("like", "again", NOW)
    assert brakes.pull(again)
    assert list(brakes.pulled()) == [again]


def test_a_worker_looks_once_a_minute_and_fails_for_nothing(
    brakes: CategoryBrakes, clock: SettableClock, answers: list[str], engine: str
) -> None:
    kept = KeptBrakes(brakes, clock=clock)
    assert not kept.names()
    brakes.pull(COMMENT)
    assert not kept.names()
    clock.now += KEPT_FOR + timedelta(seconds=1)
    assert kept.names() == {"comment"}
    if engine == "moto":
        answers += ["lost before", "lost before", "lost before"]
        clock.now += KEPT_FOR + timedelta(seconds=1)
        assert kept.names() == {"comment"}
        answers.clear()
        assert kept.names() == {"comment"}


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_a_worker_begins_also_where_the_table_does_not_answer(
    brakes: CategoryBrakes, clock: SettableClock, answers: list[str]
) -> None:
    answers += ["lost before", "lost before", "lost before"]
    assert not KeptBrakes(brakes, clock=clock).names()
