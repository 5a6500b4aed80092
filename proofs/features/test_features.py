"""A few histories; `make features` lives two thousand of them."""

import pytest

from proofs.features.mutations import search_without
from proofs.features.search import TOTAL, search


def test_all_features_together_lose_nothing_and_break_no_stop() -> None:
    search(45, derandomize=True)
    assert TOTAL.events > 100
    assert TOTAL.emails > 100


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("a window ends a settle lag before now", "G1: "),
        ("an event that may have been sent is not moved", "G2: "),
    ],
)
def test_without_a_rule_a_promise_is_broken(rule: str, broken: str) -> None:
    """With every rule in place, as many histories break none (see proofs/README.md)."""
    assert search_without(rule, 300).startswith(f"AssertionError: {broken}")
