"""What the port `Bounces` promises, held against our fake and the real adapter on moto."""

import pytest
from gazette.adapters.dynamodb.tables import BounceRow
from gazette.domain.identity import address_hash
from gazette.domain.ports.stores import Bounces

from tests.builders import NOW, RETENTION, SettableClock
from tests.contract.conftest import SECOND

ANN, BO = address_hash("ann@example.com"), address_hash("bo@example.com")


def test_a_message_counts_once_however_often_it_comes(bounces: Bounces) -> None:
    for _ in range(3):
        assert list(bounces.remember(ANN, "m1", NOW)) == [NOW]


def test_messages_of_one_instant_are_several(bounces: Bounces) -> None:
    bounces.remember(ANN, "m1", NOW)
    assert list(bounces.remember(ANN, "m2", NOW)) == [NOW, NOW]


def test_an_older_one_is_counted_behind_a_newer(bounces: Bounces) -> None:
    bounces.remember(ANN, "m2", NOW + SECOND)
    assert sorted(bounces.remember(ANN, "m1", NOW)) == [NOW, NOW + SECOND]


def test_each_address_has_its_own(bounces: Bounces) -> None:
    bounces.remember(ANN, "m1", NOW)
    assert list(bounces.remember(BO, "m2", NOW)) == [NOW]


def test_what_is_forgotten_begins_anew(bounces: Bounces) -> None:
    for _ in range(2):
        bounces.forget(ANN)
    bounces.remember(ANN, "m1", NOW)
    bounces.forget(ANN)
    assert list(bounces.remember(ANN, "m2", NOW)) == [NOW]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_a_row_expires_some_time_after_its_last_bounce_and_holds_no_address(
    bounces: Bounces, clock: SettableClock
) -> None:
    bounces.remember(ANN, "m1", NOW)
    clock.now += SECOND
    bounces.remember(ANN, "m1", NOW)
    (row,) = BounceRow.scan()
    assert row.attribute_values == {
        "address_hash": ANN,
        "messages": {"2026-11-22T07:03:00.000000Z m1"},
        "expires_at": NOW + SECOND + RETENTION,
    }
