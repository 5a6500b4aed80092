"""A sample of `make history`. The computed requests equal the requests of the real adapters."""

from collections.abc import Iterator

import pytest

from proofs.history.measure import measure
from proofs.history.real import MAIN, Account, on_moto
from proofs.history.uses import uses
from proofs.history.window import weigh

MOVED = 20


@pytest.fixture(scope="module")
def account() -> Iterator[Account]:
    with on_moto() as made:
        yield made


@pytest.mark.parametrize("size", [10, 100])
@pytest.mark.parametrize("case", MAIN, ids=", ".join)
def test_the_real_adapters_ask_as_often_as_was_reckoned(
    account: Account, case: tuple[str, str], size: int
) -> None:
    name, kind = case
    use = next(use for use in uses(MOVED) if use.name == name)
    assert account.ask(use, kind, size).calls == measure(use, kind, size).at_aws


def test_a_digest_of_many_events_counts_them_all() -> None:
    found = weigh(3_000)
    assert found.is_sent
    assert found.said == 3_000
    assert found.megabytes < 50
