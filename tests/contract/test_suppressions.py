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
