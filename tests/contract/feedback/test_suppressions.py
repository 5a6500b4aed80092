"""What the port `Suppressions` promises, held against our fake and the real adapter on moto."""

from datetime import datetime, timedelta
from itertools import permutations, product
from typing import Any

import pytest
from gazette.adapters.dynamodb.feedback.suppressions import (
    DynamoSuppressionList,
    DynamoSuppressions,
)
from gazette.adapters.dynamodb.tables import SuppressionRow
from gazette.domain.identity import address_hash, keyed_hash
from gazette.domain.ports.stores import Suppressions
from gazette.domain.stored import readable
from gazette.domain.subscribers.suppression import Cause

from tests.builders import NOW, SUPPRESSION_KEY, SettableClock
from tests.contract.conftest import SECOND

ANN, BO = address_hash("ann@example.com"), address_hash("bo@example.com")


def known(suppressions: Suppressions) -> tuple[Cause, datetime] | None:
    """Why and since when Ann's address is suppressed."""
    found = suppressions.get(ANN)
    return (found.cause, found.since) if found else None


def test_address_is_suppressed_after_being_added(suppressions: Suppressions) -> None:
    assert not suppressions.holds(ANN)
    assert suppressions.get(ANN) is None
    assert suppressions.add(ANN, Cause.UNSUBSCRIBED)
    assert suppressions.holds(ANN)
    assert known(suppressions) == (Cause.UNSUBSCRIBED, NOW)
    assert not suppressions.holds(BO)


@pytest.mark.parametrize("cause", Cause)
def test_only_an_unsubscribe_allows_critical_email(
    suppressions: Suppressions, cause: Cause
) -> None:
    suppressions.add(ANN, cause)
    assert suppressions.holds(ANN)
    assert suppressions.holds(ANN, critical=True) is (cause is not Cause.UNSUBSCRIBED)
    suppressions.unsubscribe(ANN, "ann")
    assert suppressions.holds(ANN, critical=True) is (cause is not Cause.UNSUBSCRIBED)
    assert not suppressions.holds(BO, critical=True)


@pytest.mark.parametrize(("before", "after"), list(product(Cause, Cause)))
def test_stronger_cause_replaces_a_weaker_cause_with_its_time(
    suppressions: Suppressions, clock: SettableClock, before: Cause, after: Cause
) -> None:
    """And the same, or a lesser one, changes nothing."""
    suppressions.add(ANN, before)
    clock.now += SECOND
    greater = list(Cause).index(after) > list(Cause).index(before)
    assert suppressions.add(ANN, after) is greater
    kept = (after, NOW + SECOND) if greater else (before, NOW)
    assert known(suppressions) == kept


def test_order_of_suppression_causes_does_not_matter(suppressions: Suppressions) -> None:
    for number, causes in enumerate(permutations((*Cause, Cause.UNSUBSCRIBED), 3)):
        address = address_hash(f"{number}@example.com")
        for cause in causes:
            suppressions.add(address, cause)
        found = suppressions.get(address)
        assert found
        assert found.cause is max(causes, key=list(Cause).index)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_cause_is_stored_with_its_time_but_without_the_address(
    suppressions: Suppressions,
) -> None:
    suppressions.add(ANN, Cause.BOUNCED)
    (row,) = SuppressionRow.scan()
    keyed = keyed_hash(ANN, SUPPRESSION_KEY)
    assert row.attribute_values == {"address_hash": keyed, "reason": "bounced", "since": NOW}


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_attack_suppression_export_cannot_be_queried_for_an_address(
    suppressions: Suppressions,
) -> None:
    """Neither by the address, nor by any hash that can be made without the key."""
    suppressions.add(ANN, Cause.BOUNCED)
    (row,) = readable(DynamoSuppressionList("suppressions").each())
    guesses = (ANN, keyed_hash(ANN, b""), keyed_hash(ANN, b"another key".ljust(64)))
    for guess in ("ann@example.com", *guesses):
        assert guess.removeprefix("h") not in row.address
    assert row.address == keyed_hash(ANN, SUPPRESSION_KEY)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_addresses_are_not_recognised_with_another_key(
    suppressions: Suppressions, clock: SettableClock
) -> None:
    """So it is never rotated, and copied with the table."""
    suppressions.add(ANN, Cause.BOUNCED)
    other = DynamoSuppressions("suppressions", key=b"o" * 64, clock=clock)
    assert not other.holds(ANN)
    assert suppressions.holds(ANN)


@pytest.mark.parametrize("cause", sorted(set(Cause) - {Cause.COMPLAINED}))
def test_lifting_another_cause_keeps_the_suppression(
    suppressions: Suppressions, cause: Cause
) -> None:
    suppressions.add(ANN, Cause.COMPLAINED)
    suppressions.lift(ANN, cause)
    assert suppressions.holds(ANN)


def test_suppression_is_lifted_only_for_its_own_cause(
    suppressions: Suppressions,
) -> None:
    for address in (ANN, BO):
        suppressions.add(address, Cause.UNSUBSCRIBED)
    for _ in range(2):
        suppressions.lift(ANN, Cause.UNSUBSCRIBED)
        assert not suppressions.holds(ANN)
    assert suppressions.holds(BO)
    suppressions.add(ANN, Cause.UNSUBSCRIBED)
    assert suppressions.holds(ANN)


def test_only_the_unsubscribed_reader_can_resubscribe(suppressions: Suppressions) -> None:
    for _ in range(2):
        suppressions.unsubscribe(ANN, "ann")
        suppressions.resubscribe(ANN, "bo")
        assert known(suppressions) == (Cause.UNSUBSCRIBED, NOW)
    suppressions.resubscribe(ANN, "ann")
    assert not suppressions.holds(ANN)


def test_each_of_several_unsubscribed_readers_resubscribes_separately(
    suppressions: Suppressions, clock: SettableClock
) -> None:
    for user_id in ("ann", "bo", "cy"):
        suppressions.unsubscribe(ANN, user_id)
        clock.now += SECOND
    for user_id in ("bo", "bo", "ann"):
        suppressions.resubscribe(ANN, user_id)
        assert known(suppressions) == (Cause.UNSUBSCRIBED, NOW)
    suppressions.resubscribe(ANN, "cy")
    assert not suppressions.holds(ANN)


def test_imported_unsubscribe_can_be_lifted_by_any_reader_of_the_address(
    suppressions: Suppressions,
) -> None:
    suppressions.add(ANN, Cause.UNSUBSCRIBED)
    suppressions.resubscribe(ANN, "ann")
    assert not suppressions.holds(ANN)


def times(suppressions: Suppressions) -> tuple[datetime, datetime | None] | None:
    found = suppressions.get(ANN)
    return (found.since, found.left_at) if found else None


@pytest.mark.parametrize("user_id", ["ann", "bo", ""])
def test_latest_unsubscription_is_kept_beside_the_first(
    suppressions: Suppressions, clock: SettableClock, user_id: str
) -> None:
    """By the same reader, by another reader, and by the address alone."""
    suppressions.unsubscribe(ANN, "ann")
    assert times(suppressions) == (NOW, NOW)
    clock.now += SECOND
    if user_id:
        suppressions.unsubscribe(ANN, user_id)
    else:
        assert not suppressions.add(ANN, Cause.UNSUBSCRIBED)
    assert times(suppressions) == (NOW, NOW + SECOND)
    found = suppressions.get(ANN)
    assert found
    assert found.readers == {"ann", user_id} - {""}
    assert found.last_left_at == NOW + SECOND


def test_older_unsubscription_does_not_change_the_latest(
    suppressions: Suppressions,
) -> None:
    suppressions.unsubscribe(ANN, "ann")
    assert not suppressions.add(ANN, Cause.UNSUBSCRIBED, NOW - SECOND)
    assert times(suppressions) == (NOW, NOW)
    suppressions.unsubscribe(ANN, "bo", NOW - SECOND)
    assert times(suppressions) == (NOW, NOW)
    found = suppressions.get(ANN)
    assert found
    assert found.readers == {"ann", "bo"}
    assert suppressions.add(BO, Cause.UNSUBSCRIBED, NOW - SECOND)
    assert not suppressions.add(BO, Cause.UNSUBSCRIBED, NOW - SECOND)


@pytest.mark.parametrize("cause", sorted(set(Cause) - {Cause.UNSUBSCRIBED}))
def test_unsubscription_behind_a_stronger_cause_keeps_the_cause_and_its_time(
    suppressions: Suppressions, clock: SettableClock, cause: Cause
) -> None:
    suppressions.add(ANN, cause)
    clock.now += SECOND
    assert not suppressions.add(ANN, Cause.UNSUBSCRIBED)
    assert known(suppressions) == (cause, NOW)
    suppressions.unsubscribe(ANN, "ann", NOW + 2 * SECOND)
    assert known(suppressions) == (cause, NOW)
    assert times(suppressions) == (NOW, NOW + 2 * SECOND)


@pytest.mark.parametrize("names_reader", [True, False])
def test_consent_lifts_only_an_earlier_unsubscription(
    suppressions: Suppressions, clock: SettableClock, names_reader: bool
) -> None:
    """Of whichever unsubscription of the address is the latest."""

    def unsubscribe() -> None:
        if names_reader:
            suppressions.unsubscribe(ANN, "ann")
        else:
            suppressions.add(ANN, Cause.UNSUBSCRIBED)

    unsubscribe()
    suppressions.resubscribe(ANN, "ann", before=NOW)
    assert suppressions.holds(ANN)
    clock.now += SECOND
    unsubscribe()
    suppressions.resubscribe(ANN, "ann", before=NOW + SECOND)
    assert suppressions.holds(ANN)
    suppressions.resubscribe(ANN, "ann", before=NOW + 2 * SECOND)
    assert not suppressions.holds(ANN)


@pytest.mark.parametrize("cause", sorted(set(Cause) - {Cause.UNSUBSCRIBED}))
def test_consent_lifts_no_stronger_cause(suppressions: Suppressions, cause: Cause) -> None:
    suppressions.unsubscribe(ANN, "ann")
    suppressions.add(ANN, cause)
    suppressions.resubscribe(ANN, "ann", before=NOW + SECOND)
    assert known(suppressions) == (cause, NOW)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_row_of_the_previous_version_has_only_the_first_unsubscription(
    suppressions: Suppressions,
) -> None:
    row = SuppressionRow(keyed_hash(ANN, SUPPRESSION_KEY))
    row.reason, row.since, row.by = "unsubscribed", NOW, {"ann"}
    row.save()
    found = suppressions.get(ANN)
    assert found
    assert (found.left_at, found.last_left_at, *found.readers) == (None, NOW, "ann")
    suppressions.resubscribe(ANN, "ann", before=NOW)
    assert suppressions.holds(ANN)
    suppressions.resubscribe(ANN, "ann", before=NOW + SECOND)
    assert not suppressions.holds(ANN)


@pytest.mark.parametrize("cause", sorted(set(Cause) - {Cause.UNSUBSCRIBED}))
@pytest.mark.parametrize("first", ["the reader", "the cause"])
def test_unsubscribe_is_remembered_behind_a_stronger_cause(
    suppressions: Suppressions, cause: Cause, first: str
) -> None:
    """So an operator who lifts a bounce does not bring back who had left."""
    if first == "the reader":
        suppressions.unsubscribe(ANN, "ann")
    suppressions.add(ANN, cause)
    suppressions.unsubscribe(ANN, "ann")
    suppressions.lift(ANN, cause)
    assert known(suppressions) == (Cause.UNSUBSCRIBED, NOW)
    suppressions.resubscribe(ANN, "bo")
    assert suppressions.holds(ANN)
    suppressions.resubscribe(ANN, "ann")
    assert not suppressions.holds(ANN)


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_resubscribe_during_a_lifted_bounce_removes_the_suppression(
    suppressions: Suppressions, monkeypatch: pytest.MonkeyPatch
) -> None:
    suppressions.unsubscribe(ANN, "ann")
    suppressions.add(ANN, Cause.BOUNCED)
    update = SuppressionRow.update

    def meanwhile(row: SuppressionRow, **given: Any) -> Any:
        monkeypatch.setattr(SuppressionRow, "update", update)
        suppressions.resubscribe(ANN, "ann")
        return update(row, **given)

    monkeypatch.setattr(SuppressionRow, "update", meanwhile)
    suppressions.lift(ANN, Cause.BOUNCED)
    assert not suppressions.holds(ANN)


def test_unsubscribe_withdrawn_behind_a_bounce_is_not_remembered(
    suppressions: Suppressions,
) -> None:
    suppressions.unsubscribe(ANN, "ann")
    suppressions.add(ANN, Cause.BOUNCED)
    suppressions.resubscribe(ANN, "ann")
    assert suppressions.holds(ANN)
    suppressions.lift(ANN, Cause.BOUNCED)
    assert not suppressions.holds(ANN)


@pytest.mark.parametrize("cause", sorted(set(Cause) - {Cause.UNSUBSCRIBED}))
def test_reader_can_neither_replace_nor_lift_a_stronger_cause(
    suppressions: Suppressions, clock: SettableClock, cause: Cause
) -> None:
    for before in (True, False):
        if before:
            suppressions.unsubscribe(BO, "bo")
        suppressions.add(BO, cause)
        clock.now += SECOND
        suppressions.unsubscribe(BO, "bo")
        suppressions.resubscribe(BO, "bo")
        found = suppressions.get(BO)
        assert found
        assert found.cause is cause


@pytest.mark.parametrize("engine", ["moto"], indirect=True)
def test_two_concurrent_resubscribes_remove_the_suppression(
    suppressions: Suppressions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each finds that the other asked for it as well, and takes out only themself."""
    for user_id in ("ann", "bo"):
        suppressions.unsubscribe(ANN, user_id)
    update = SuppressionRow.update

    def meanwhile(row: SuppressionRow, **given: Any) -> Any:
        """The update of the other comes first."""
        monkeypatch.setattr(SuppressionRow, "update", update)
        by = SuppressionRow.by
        row_of_ann = SuppressionRow(keyed_hash(ANN, SUPPRESSION_KEY))
        row_of_ann.update(actions=[by.delete({"bo"})], condition=by.contains("bo"))
        return update(row, **given)

    monkeypatch.setattr(SuppressionRow, "update", meanwhile)
    suppressions.resubscribe(ANN, "ann")
    assert not suppressions.holds(ANN)


def test_all_suppressions_are_listed_with_their_original_time(suppressions: Suppressions) -> None:
    long_ago = NOW - timedelta(days=900)
    suppressions.add(ANN, Cause.MANUAL, long_ago)
    suppressions.add(BO, Cause.BOUNCED)
    found = sorted(readable(suppressions.each()), key=lambda each: each.since)
    assert [(each.cause, each.since) for each in found] == [
        (Cause.MANUAL, long_ago),
        (Cause.BOUNCED, NOW),
    ]
    assert found == [suppressions.get(ANN), suppressions.get(BO)]


def test_listed_suppression_can_be_lifted_by_its_stored_hash(suppressions: Suppressions) -> None:
    """What it calls the address goes where the hash of the address goes."""
    suppressions.add(ANN, Cause.BOUNCED)
    (found,) = readable(suppressions.each())
    assert suppressions.holds(found.address)
    assert suppressions.get(found.address) == found
    assert not suppressions.add(found.address, Cause.BOUNCED)
    suppressions.lift(found.address, found.cause)
    assert not suppressions.holds(ANN)
    suppressions.add(found.address, found.cause, found.since)
    assert list(readable(suppressions.each())) == [suppressions.get(ANN)] == [found]
