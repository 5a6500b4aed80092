"""What the port `Bounces` promises, held against our fake and the real adapter on moto."""

import pytest
from gazette.adapters.dynamodb.tables import BounceRow
from gazette.domain.identity import address_hash, keyed_hash
from gazette.domain.ports.stores import Bounces
from gazette.domain.subscribers.suppression import SoftBounce

from tests.builders import NOW, RETENTION, SUPPRESSION_KEY, SettableClock
from tests.contract.conftest import SECOND

ANN, BO = address_hash("ann@example.com"), address_hash("bo@example.com")


def test_repeated_bounce_of_a_message_counts_once(bounces: Bounces) -> None:
    for _ in range(3):
        assert list(bounces.remember(ANN, SoftBounce(NOW, "m1"))) == [SoftBounce(NOW, "m1")]


def test_simultaneous_bounces_of_different_messages_count_separately(bounces: Bounces) -> None:
    bounces.remember(ANN, SoftBounce(NOW, "m1"))
    both = {SoftBounce(NOW, "m1"), SoftBounce(NOW, "m2")}
    assert set(bounces.remember(ANN, SoftBounce(NOW, "m2"))) == both


def test_older_bounce_is_counted_when_received_late(bounces: Bounces) -> None:
    bounces.remember(ANN, SoftBounce(NOW + SECOND, "m2"))
    both = [SoftBounce(NOW, "m1"), SoftBounce(NOW + SECOND, "m2")]
    assert sorted(bounces.remember(ANN, SoftBounce(NOW, "m1"))) == both


def test_each_address_has_separate_bounces(bounces: Bounces) -> None:
    bounces.remember(ANN, SoftBounce(NOW, "m1"))
    assert list(bounces.remember(BO, SoftBounce(NOW, "m2"))) == [SoftBounce(NOW, "m2")]


def test_bounces_are_counted_from_zero_after_a_reset(bounces: Bounces) -> None:
    for _ in range(2):
        bounces.forget(ANN)
    bounces.remember(ANN, SoftBounce(NOW, "m1"))
    bounces.forget(ANN)
    assert list(bounces.remember(ANN, SoftBounce(NOW, "m2"))) == [SoftBounce(NOW, "m2")]


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_bounces_can_be_reset_by_the_stored_hash(bounces: Bounces) -> None:
    """A suppression is found by that name, and removed with the bounces of its address."""
    bounces.remember(ANN, SoftBounce(NOW, "m1"))
    bounces.forget(keyed_hash(ANN, SUPPRESSION_KEY))
    assert not list(BounceRow.scan())


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_attack_soft_bounce_table_reveals_no_address(bounces: Bounces) -> None:
    bounces.remember(ANN, SoftBounce(NOW, "m1"))
    (row,) = BounceRow.scan()
    assert ANN not in repr(row.attribute_values)
    assert "ann@" not in repr(row.attribute_values)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_bounce_row_expires_after_its_last_bounce_and_contains_no_address(
    bounces: Bounces, clock: SettableClock
) -> None:
    bounces.remember(ANN, SoftBounce(NOW, "m1"))
    clock.now += SECOND
    bounces.remember(ANN, SoftBounce(NOW, "m1"))
    (row,) = BounceRow.scan()
    assert row.attribute_values == {
        "address_hash": keyed_hash(ANN, SUPPRESSION_KEY),
        "messages": {"2026-11-22T07:03:00.000000Z m1"},
        "expires_at": NOW + SECOND + RETENTION,
    }
