"""A few histories. `make features` runs two thousand and removes every rule."""

from datetime import timedelta
from pathlib import Path

import pytest
from gazette.domain.delivery.signals import Policy
from gazette.domain.subscribers.frequency import Frequency

from proofs.features.history import AIMS, Deed, History, Strike
from proofs.features.mutations import CAUGHT, search_without
from proofs.features.search import Broken, search
from proofs.features.world import live
from proofs.mutations.rules import RULES
from proofs.mutations.traces import PREVENTED
from proofs.prove.provider import Evidence
from proofs.prove.strikes import How
from proofs.prove.without import taken_out
from tests.world import World


def test_all_features_together_lose_nothing_and_break_no_stop() -> None:
    total = search(range(60))
    assert total.events > 300
    assert total.emails > 120


def test_reader_who_unsubscribes_while_starting_again_gets_no_email() -> None:
    """The reader is unsubscribed already, so that only the time of the second one is new."""

    def deed(what: str, which: int, how: int, who: str = "ann", **at: float) -> Deed:
        return Deed(timedelta(**at), what, who, which, how)

    found = History(
        policy=Policy.RESEND,
        evidence=Evidence.NEXT_DAY,
        begins=(Frequency.DAILY, Frequency.DAILY),
        answers=(),
        delays=(),
        skews=(),
        sunset=None,
        ends_daily=False,
        deeds=(deed("leave", 3, 2, seconds=36600), deed("put", 3, 5, seconds=36000)),
        strikes=(
            Strike(
                "preferences",
                "subscribers.put",
                timedelta(0),
                0,
                How.OVERTAKEN,
                (deed("zone", 4, 1, "bo"), deed("put", 5, 0, "bo")),
                timedelta(seconds=50),
            ),
            Strike(
                "ingest",
                "subscribers.put",
                timedelta(days=4),
                1,
                How.OVERTAKEN,
                (deed("leave", 4, 4),),
                timedelta(seconds=50),
                is_copied=True,
            ),
        ),
    )
    assert live(found)[1].violations == []


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


@pytest.mark.parametrize(
    ("rule", "number", "promise"),
    [
        ("pairs-one-row", 29, "emails"),
        ("pairs-retracted", 47, "although"),
        ("pairs-strongest", 23, "instead of"),
        ("pairs-others-stay", 239, "is in no email: retracted"),
        ("pairs-divided", 17, "is in no email: seen"),
    ],
)
def test_without_a_rule_of_happenings_a_promise_is_broken(
    rule: str, number: int, promise: str
) -> None:
    with taken_out(rule), pytest.raises(Broken, match=promise):
        search([number])
