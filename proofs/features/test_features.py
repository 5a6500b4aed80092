"""A few histories. `make features` runs two thousand and removes every rule."""

from pathlib import Path

import pytest

from proofs.features.history import AIMS
from proofs.features.mutations import CAUGHT, search_without
from proofs.features.search import Broken, search
from proofs.mutations.rules import RULES
from proofs.mutations.traces import PREVENTED
from proofs.prove.without import taken_out
from tests.world import World


def test_all_features_together_lose_nothing_and_break_no_stop() -> None:
    total = search(range(100))
    assert total.events > 500
    assert total.emails > 200


@pytest.mark.parametrize("call", sorted({call for calls in AIMS.values() for call in calls}))
def test_every_strike_is_aimed_at_a_call_that_there_is(call: str) -> None:
    port, _, method = call.partition(".")
    if port != "message" and call != "events.write":
        assert callable(getattr(getattr(World(), port), method))


def test_rules_to_remove_exist_and_are_listed_in_the_docs() -> None:
    """A rule that was renamed would otherwise only be noticed by `make features`."""
    known = {mutation.rule for mutation in (*RULES, *PREVENTED)}
    assert sorted(CAUGHT.keys() - known) == []
    page = (Path(__file__).parents[1] / "README.md").read_text()
    assert [rule for rule in CAUGHT if f"\n| {rule} |" not in page] == []


@pytest.mark.parametrize("rule", sorted(CAUGHT, key=CAUGHT.__getitem__)[:2])
def test_without_a_rule_a_promise_is_broken(rule: str) -> None:
    assert search_without(rule, CAUGHT[rule])


@pytest.mark.parametrize(
    ("rule", "promise"),
    [("arm-idle", "digest is idle"), ("go-idle", "was visited in vain, and is armed")],
)
def test_without_a_rule_of_idle_schedules_a_promise_is_broken(rule: str, promise: str) -> None:
    with taken_out(rule), pytest.raises(Broken, match=promise):
        search(range(3))
