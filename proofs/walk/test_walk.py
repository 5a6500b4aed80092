"""docs/architecture.md describes the executed code."""

import pytest

from proofs.walk.event import walk
from proofs.walk.hops import MOST_FILES, MOST_HOPS, PAGE, Hop, first_problem, hops, missing
from proofs.walk.record import Record

_TRANSITION = "domain/delivery/lifecycle.py:transition"


def a_hop(number: int, call: str = _TRANSITION) -> Hop:
    path, _, function = call.partition(":")
    return Hop(number, path, function, "decides.")


@pytest.fixture(scope="module")
def told() -> list[Hop]:
    return hops(PAGE.read_text())


@pytest.mark.usefixtures("templates_on_path")
def test_the_hops_are_what_is_executed(told: list[Hop]) -> None:
    record = walk()
    assert first_problem(told, record) is None
    assert first_problem(told[::-1], record)
    assert len(record.lines) <= MOST_FILES


def test_each_hop_has_one_sentence(told: list[Hop]) -> None:
    assert [hop.number for hop in told if hop.told.count(". ") or hop.told[-1] != "."] == []


def test_what_does_not_exist_is_named() -> None:
    absent = "domain/delivery/lifecycle.py:transit"
    assert missing(f"`{_TRANSITION}`, then `{absent}`") == [absent]
    problem = first_problem([a_hop(1, absent)], Record(calls=[absent]))
    assert problem == f"hop 1 does not exist: {absent}"


def test_a_hop_that_is_not_executed_is_named() -> None:
    problem = first_problem([a_hop(1)], Record(calls=["domain/model.py:entity_key"]))
    assert problem == f"hop 1 was not executed: {_TRANSITION}"


def test_a_hop_that_is_out_of_order_is_named() -> None:
    key = "domain/model.py:entity_key"
    problem = first_problem([a_hop(1, key), a_hop(2)], Record(calls=[_TRANSITION, key]))
    assert problem == f"hop 2 is out of order: {_TRANSITION} is not called after hop 1"


@pytest.mark.parametrize("number", [0, MOST_HOPS + 1])
def test_a_page_of_no_hops_or_too_many_is_refused(number: int) -> None:
    assert first_problem([a_hop(1)] * number, Record())
