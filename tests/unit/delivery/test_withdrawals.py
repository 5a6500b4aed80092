"""The list of withdrawals: what replaces what, what ends, and the limit."""

from datetime import timedelta

import pytest
from gazette.domain.errors import NotYet
from gazette.domain.scheduling.lifetime import longest_kept, withdrawn_for
from gazette.domain.withdrawing.withdrawals import (
    MOST_WITHDRAWN,
    Withdrawal,
    WithdrawalKind,
    WithdrawalList,
    WithdrawalsFull,
)

from gazette_support.steps.withdrawals import (
    WithdrawalContext,
    add_withdrawal,
    list_withdrawals,
    remove_withdrawal,
)
from tests.builders import NOW, RETENTION, SettableClock
from tests.fake_stores import FakeWithdrawals

DAY = timedelta(days=1)
ACTOR, ENTITY = WithdrawalKind.ACTOR, WithdrawalKind.ENTITY


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def context(clock: SettableClock) -> WithdrawalContext:
    return WithdrawalContext(store=FakeWithdrawals(), applies_for=10 * DAY, clock=clock)


def test_withdrawals_are_listed_oldest_first(
    context: WithdrawalContext, clock: SettableClock
) -> None:
    assert list_withdrawals(context=context) == ()
    first, before = add_withdrawal(ACTOR, "bo", context=context)
    assert (before, first.at, first.until) == (None, clock(), clock() + 10 * DAY)
    clock.pass_time(hours=1)
    second, _ = add_withdrawal(ENTITY, "post#p1", context=context)
    assert list_withdrawals(context=context) == (first, second)


def test_repetition_renews_the_time(context: WithdrawalContext, clock: SettableClock) -> None:
    first, _ = add_withdrawal(ACTOR, "bo", context=context)
    clock.pass_time(hours=1)
    second, before = add_withdrawal(ACTOR, "bo", context=context)
    assert before == first
    assert second.at == clock()
    assert list_withdrawals(context=context) == (second,)


def test_removal_ends_only_that_withdrawal(context: WithdrawalContext) -> None:
    removed, _ = add_withdrawal(ACTOR, "bo", context=context)
    other, _ = add_withdrawal(ENTITY, "bo", context=context)
    assert remove_withdrawal(ACTOR, "bo", context=context) == removed
    assert remove_withdrawal(ACTOR, "bo", context=context) is None
    assert list_withdrawals(context=context) == (other,)


def test_ended_withdrawal_is_not_listed_and_makes_room(
    context: WithdrawalContext, clock: SettableClock
) -> None:
    add_withdrawal(ACTOR, "bo", context=context)
    clock.pass_time(days=10)
    assert list_withdrawals(context=context) == ()
    for number in range(MOST_WITHDRAWN):
        add_withdrawal(ACTOR, f"actor{number}", context=context)
    assert len(context.store.read().withdrawals) == MOST_WITHDRAWN


def test_full_list_refuses_a_withdrawal_and_keeps_the_oldest(context: WithdrawalContext) -> None:
    for number in range(MOST_WITHDRAWN):
        add_withdrawal(ACTOR, f"actor{number}", context=context)
    with pytest.raises(WithdrawalsFull):
        add_withdrawal(ENTITY, "post#p1", context=context)
    assert list_withdrawals(context=context)[0].id == "actor0"
    assert len(list_withdrawals(context=context)) == MOST_WITHDRAWN
    again, _ = add_withdrawal(ACTOR, "actor0", context=context)
    assert list_withdrawals(context=context)[-1] == again


class Busy(FakeWithdrawals):
    """A list that another operator changes right before each change."""

    times = 1

    def change(self, after: WithdrawalList) -> bool:
        if self.times:
            self.times -= 1
            other = Withdrawal(ACTOR, f"other{self.times}", NOW, NOW + DAY)
            self.stored = self.stored.with_added(other, NOW)
        return super().change(after)


def test_two_operators_at_once_lose_no_withdrawal(clock: SettableClock) -> None:
    context = WithdrawalContext(store=Busy(), applies_for=DAY, clock=clock)
    added, _ = add_withdrawal(ENTITY, "post#p1", context=context)
    assert [each.id for each in list_withdrawals(context=context)] == ["other0", "post#p1"]
    busy = Busy(context.store.read())
    context = WithdrawalContext(store=busy, applies_for=DAY, clock=clock)
    assert remove_withdrawal(ENTITY, "post#p1", context=context) == added
    busy.times = 9
    with pytest.raises(NotYet, match="list of withdrawals"):
        add_withdrawal(ENTITY, "post#p1", context=context)
    busy.times = 9
    with pytest.raises(NotYet, match="list of withdrawals"):
        remove_withdrawal(ACTOR, "other0", context=context)


def test_withdrawal_outlasts_every_row_of_an_event_that_arrives_late() -> None:
    assert withdrawn_for(RETENTION) >= RETENTION + longest_kept(RETENTION) + timedelta(hours=1)
