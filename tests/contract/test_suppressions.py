"""What the port `Suppressions` promises, held against our fake and the real adapter on moto."""

import pytest
from gazette.adapters.tables import SuppressionRow
from gazette.domain.identity import address_hash
from gazette.domain.stores import Suppressions

from tests.builders import NOW, SettableClock
from tests.contract.conftest import SECOND

ANN, BO = address_hash("ann@example.com"), address_hash("bo@example.com")


def test_an_address_is_suppressed_once_it_was_added(suppressions: Suppressions) -> None:
    assert not suppressions.holds(ANN)
    suppressions.add(ANN, "unsubscribed")
    assert suppressions.holds(ANN)
    assert not suppressions.holds(BO)


def test_an_address_may_be_added_again(suppressions: Suppressions) -> None:
    suppressions.add(ANN, "unsubscribed")
    suppressions.add(ANN, "suppressed")
    assert suppressions.holds(ANN)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_the_first_reason_is_kept_with_its_instant_and_without_the_address(
    suppressions: Suppressions, clock: SettableClock
) -> None:
    suppressions.add(ANN, "unsubscribed")
    clock.now += SECOND
    suppressions.add(ANN, "suppressed")
    (row,) = SuppressionRow.scan()
    assert row.attribute_values == {"address_hash": ANN, "reason": "unsubscribed", "since": NOW}


@pytest.mark.parametrize("reason", ["bounce", "complaint", ""])
def test_an_address_that_is_suppressed_for_another_reason_stays_so(
    suppressions: Suppressions, reason: str
) -> None:
    suppressions.add(ANN, "suppressed")
    suppressions.add(ANN, "unsubscribed")
    suppressions.lift(ANN, "unsubscribed")
    suppressions.lift(ANN, reason)
    assert suppressions.holds(ANN)


def test_a_suppression_is_lifted_for_its_own_reason_alone_and_may_be_again(
    suppressions: Suppressions,
) -> None:
    for address in (ANN, BO):
        suppressions.add(address, "unsubscribed")
    for _ in range(2):
        suppressions.lift(ANN, "unsubscribed")
        assert not suppressions.holds(ANN)
    assert suppressions.holds(BO)
    suppressions.add(ANN, "unsubscribed")
    assert suppressions.holds(ANN)
