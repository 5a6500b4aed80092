"""The contract of `WithdrawalStore`, on the fake and on the real adapter with moto."""

from datetime import timedelta

import boto3
import pytest
from gazette.adapters.dynamodb.control.decisions import cached_decisions
from gazette.adapters.dynamodb.control.withdrawals import DynamoWithdrawals, withdrawals_of
from gazette.adapters.dynamodb.tables import ControlRow
from gazette.domain.errors import Unavailable, UnreadableRow
from gazette.domain.ports.control import WithdrawalStore
from gazette.domain.stored import is_known
from gazette.domain.withdrawing.withdrawals import (
    MOST_WITHDRAWN,
    Withdrawal,
    WithdrawalKind,
    WithdrawalList,
)
from gazette.domain.withdrawing.withdrawn import Withdrawn
from gazette.settings.ranges import RANGES

from tests.builders import NOW, SettableClock, an_event
from tests.fake_stores import FakeWithdrawals

DAY = timedelta(days=1)
ACTOR = Withdrawal(WithdrawalKind.ACTOR, 'bö"x', NOW, NOW + DAY)
ENTITY = Withdrawal(WithdrawalKind.ENTITY, "post#p#1", NOW + DAY, NOW + 2 * DAY)

on_moto = pytest.mark.parametrize("engine", ["moto"], indirect=True)


@pytest.fixture
def store(engine: str) -> WithdrawalStore:
    return FakeWithdrawals() if engine != "moto" else DynamoWithdrawals("control")


def test_list_is_initially_empty(store: WithdrawalStore) -> None:
    assert store.read() == WithdrawalList()


def test_list_is_read_as_it_was_stored(store: WithdrawalStore) -> None:
    stored = WithdrawalList((ACTOR, ENTITY), 1)
    assert store.change(stored)
    assert store.read() == stored
    emptied = WithdrawalList((), 2)
    assert store.change(emptied)
    assert store.read() == emptied


@pytest.mark.parametrize("revision", [1, 2, 4, 9])
def test_change_of_an_outdated_list_changes_nothing(store: WithdrawalStore, revision: int) -> None:
    for number in (1, 2):
        assert store.change(WithdrawalList((ACTOR,), number))
    assert not store.change(WithdrawalList((ENTITY,), revision))
    assert store.read() == WithdrawalList((ACTOR,), 2)


def test_first_change_needs_the_first_revision(store: WithdrawalStore) -> None:
    assert not store.change(WithdrawalList((ACTOR,), 2))
    assert store.read() == WithdrawalList()


@on_moto
def test_longest_list_fits_into_the_row(store: WithdrawalStore) -> None:
    """An entity's key has at most 161 characters, of up to four bytes each."""
    longest = Withdrawal(WithdrawalKind.ENTITY, f"{'t' * 32}#{'𝄞' * 128}", NOW, NOW + DAY)
    stored = WithdrawalList((longest,) * MOST_WITHDRAWN, 1)
    assert store.change(stored)
    assert store.read() == stored


@on_moto
def test_worker_reads_the_list_once_a_minute_with_other_decisions(
    store: WithdrawalStore, clock: SettableClock, answers: list[str]
) -> None:
    """A worker uses a list that is up to a minute old, and keeps it if the table fails."""
    current = cached_decisions("control", ranges=RANGES, clock=clock)
    assert current().withdrawals == ()
    store.change(WithdrawalList((ACTOR,), 1))
    clock.pass_time(seconds=59)
    assert current().withdrawals == ()
    clock.pass_time(seconds=1)
    assert current().withdrawals == (ACTOR,)
    answers += ["lost before"] * 9
    clock.pass_time(minutes=2)
    assert current().withdrawals == (ACTOR,)


@on_moto
def test_malformed_list_is_an_error_for_commands_and_keeps_a_workers_list(
    store: WithdrawalStore, clock: SettableClock
) -> None:
    store.change(WithdrawalList((ACTOR,), 1))
    current = cached_decisions("control", ranges=RANGES, clock=clock)
    ControlRow("withdrawals", "all", revision=2, withdrawals='[["actor"]]').save()
    clock.pass_time(minutes=2)
    assert current().withdrawals == (ACTOR,)
    with pytest.raises(UnreadableRow, match="control"):
        withdrawals_of("control")()


@on_moto
def test_unavailable_table_is_an_error_for_commands(
    store: WithdrawalStore, answers: list[str]
) -> None:
    answers += ["lost before"] * 9
    with pytest.raises(Unavailable):
        store.read()


@on_moto
def test_kind_of_a_newer_version_is_kept_and_applies_to_no_event(store: WithdrawalStore) -> None:
    entry = f'["topic","post#post1","{NOW.isoformat()}","{(NOW + DAY).isoformat()}"]'
    ControlRow("withdrawals", "all", revision=1, withdrawals=f"[{entry}]").save()
    found = store.read()
    assert not is_known(found.withdrawals[0].kind)
    assert not Withdrawn(found.withdrawals, NOW)
    assert Withdrawn((*found.withdrawals, ACTOR), NOW).at(an_event()) is None
    assert store.change(found.with_added(ACTOR, NOW))
    (item,) = boto3.client("dynamodb").scan(TableName="control")["Items"]
    assert entry in item["withdrawals"]["S"]
