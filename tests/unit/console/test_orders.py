"""Orders to redrive: only the stage makes them, and they end."""

from dataclasses import replace
from datetime import timedelta

import pytest
from gazette.domain.console.orders import (
    ORDER_FOR,
    InvalidSelection,
    RedriveOrder,
    check_queue,
    read_order,
    read_selection,
    sign_order,
)
from gazette.domain.dead_letters import Selection
from gazette.domain.errors import InvalidToken
from gazette.domain.links import LinkKeys, Purpose, sign

from tests.builders import NOW

KEYS = LinkKeys({"k1": b"a" * 64, "k2": b"b" * 64})
SELECTIONS = [
    read_selection(),
    read_selection(run="ann-daily-17"),
    read_selection(slot="2026-11-22T06:10Z", on="2026-11-22"),
    read_selection(message="0a1b"),
]


def an_order(selection: Selection = SELECTIONS[0], queue: str = "all") -> RedriveOrder:
    return RedriveOrder(queue, selection, NOW, NOW + ORDER_FOR)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_signed_order_is_read_unchanged(selection: Selection) -> None:
    order = an_order(selection)
    assert read_order(sign_order(order, KEYS), KEYS) == order


def test_order_of_a_retired_key_is_rejected() -> None:
    token = sign_order(an_order(), KEYS)
    with pytest.raises(InvalidToken):
        read_order(token, LinkKeys({"k1": KEYS.by_id["k1"]}))


def test_altered_order_is_rejected() -> None:
    token = sign_order(an_order(queue="failed"), KEYS)
    key_id, _, signature = token.split(".")
    other = sign_order(an_order(), KEYS).split(".")[1]
    for altered in (
        f"{key_id}.{other}.{signature}",
        f"k1.{token[3:]}",
        token[:-1],
        "",
        "k2..",
        "é.é.é",
    ):
        with pytest.raises(InvalidToken):
            read_order(altered, KEYS)


@pytest.mark.parametrize("purpose", [*Purpose])
def test_token_of_a_link_is_not_an_order(purpose: Purpose) -> None:
    """Services may choose parts of a link's payload, so its key must not sign orders."""
    token = sign(an_order().to_text(), purpose=purpose, keys=KEYS)
    with pytest.raises(InvalidToken):
        read_order(token, KEYS)


def test_orders_of_different_times_differ() -> None:
    order = an_order()
    later = replace(order, expires_at=order.expires_at + timedelta(seconds=1))
    assert sign_order(order, KEYS) != sign_order(later, KEYS)


@pytest.mark.parametrize(
    "given", [{"run": "ann"}, {"slot": "06:10"}, {"slot": "x"}, {"on": "22.11."}]
)
def test_invalid_selection_states_the_remedy(given: dict[str, str]) -> None:
    with pytest.raises(InvalidSelection, match="is invalid"):
        read_selection(**given)


def test_time_inside_a_slot_is_rejected_with_its_neighbours() -> None:
    with pytest.raises(InvalidSelection, match="2026-11-22T06:10Z or 2026-11-22T06:20Z"):
        read_selection(slot="2026-11-22T06:13Z")
    assert read_selection(slot="2026-11-22T07:20+01:00").batch


@pytest.mark.parametrize(
    ("queue", "given"),
    [("nofolder", {}), ("ticks-undelivered", {}), ("ingest-dead", {"run": "ann-daily-1"})],
)
def test_queue_that_cannot_be_redriven_so_is_rejected(queue: str, given: dict[str, str]) -> None:
    with pytest.raises(InvalidSelection):
        check_queue(queue, read_selection(**given))


def test_queues_that_can_be_redriven_are_accepted() -> None:
    check_queue("quarantine", read_selection())
    check_queue("ingest-dead", read_selection(message="m"))
    check_queue("all", read_selection(run="ann-daily-1"))
