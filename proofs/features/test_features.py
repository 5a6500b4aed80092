"""A few histories; `make features` lives two thousand of them."""

from proofs.features.search import TOTAL, search


def test_all_features_together_lose_nothing_and_break_no_stop() -> None:
    search(45, derandomize=True)
    assert TOTAL.events > 100
    assert TOTAL.emails > 100
