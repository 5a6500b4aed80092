"""A small sample of the search, and the faults that it finds without each condition."""

import pytest

from proofs.happening.conditions import BOTH, WORLDS
from proofs.happening.search import search
from proofs.happening.state import Message, Rule, Setup

SOON = Setup(BOTH, mention="now", comment="daily", ticks=1)
LATE = SOON._replace(mention="daily", comment="now")
SAME = SOON._replace(mention="daily")
THREAD = SOON._replace(comment="now")
MENTION_RETRACTED = (*BOTH, Message.RETRACT_MENTION)
COMMENT_RETRACTED = (*BOTH, Message.RETRACT_COMMENT)

_BREAKS = {
    Rule.ARM_AFTER_STOP: (SOON._replace(messages=MENTION_RETRACTED), "idle"),
    Rule.BODIES_CHECKED: (SOON._replace(messages=(*BOTH, Message.MUTE)), "lost"),
    Rule.EVERY_BODY_KEPT: (SOON._replace(deaths=1), "lost"),
    Rule.SENT_STAYS: (SOON._replace(messages=MENTION_RETRACTED), "told twice"),
    Rule.ONLY_ITS_BODY: (SOON._replace(messages=COMMENT_RETRACTED), "lost"),
    Rule.CRITICAL_ALONE: (Setup(BOTH, critical=True, ticks=1), "critical"),
    Rule.WITH_POINTER: (SOON._replace(messages=MENTION_RETRACTED), "stopped"),
    Rule.REMOVED_AGAIN: (SOON._replace(messages=MENTION_RETRACTED, deaths=1), "stopped"),
    Rule.MARK_GUARDED: (SOON._replace(messages=COMMENT_RETRACTED), "weaker"),
    Rule.EPOCHS_RAISED: (SAME._replace(deaths=1), "weaker"),
    Rule.READ_AGAIN: (SAME._replace(messages=(*BOTH, Message.MUTE)), "unwanted"),
    Rule.ARM_AGAIN: (SOON._replace(messages=MENTION_RETRACTED, deaths=1), "idle"),
    Rule.FOLLOWS_AT_DELIVERY: (SOON._replace(messages=(*BOTH, Message.UNFOLLOW)), "stopped"),
}


@pytest.mark.parametrize("setup", [SOON, LATE, SAME, THREAD])
@pytest.mark.parametrize("stop", [Message.RETRACT_COMMENT, Message.RETRACT_MENTION])
def test_no_promise_breaks_with_all_conditions(setup: Setup, stop: Message) -> None:
    result = search(setup._replace(messages=(*BOTH, stop), refusals=1))
    assert result.violation is None, result.trace
    assert result.states > 1000


@pytest.mark.parametrize("setup", [SAME, THREAD])
def test_no_promise_breaks_if_a_worker_dies(setup: Setup) -> None:
    result = search(setup._replace(deaths=1, repeats=1, refusals=1))
    assert result.violation is None, result.trace


@pytest.mark.parametrize("rule", Rule)
def test_promise_breaks_without_a_condition(rule: Rule) -> None:
    setup, promise = _BREAKS[rule]
    result = search(setup._replace(without=frozenset({rule})))
    assert result.violation is not None, f"no promise breaks without: {rule}"
    assert result.violation.startswith(promise)


def test_each_condition_has_worlds_to_search() -> None:
    assert set(WORLDS) == set(Rule) == set(_BREAKS)
