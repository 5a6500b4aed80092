"""A search that finds no fault within its bounds, and the fault that each condition prevents."""

import pytest
from gazette.domain.delivery.signals import Policy

from proofs.heads.__main__ import BEHIND, OVERTAKEN
from proofs.heads.search import search
from proofs.heads.state import Rule, Setup

REPEATED = "G2: a run shows what is known to have been sent"
UNKNOWN = Setup(unknowns=1, refusals=1, hours=0, days=1, policy=Policy.RESEND)


def test_two_events_are_each_sent_once_whatever_happens() -> None:
    assert search(Setup(refusals=1)).violation is None


@pytest.mark.parametrize(
    ("rule", "setup", "trait"),
    [
        (Rule.FINAL, Setup(events=3), "is claimed"),
        (Rule.UNCERTAIN, UNKNOWN, "no answer comes"),
        (Rule.REFUSED, Setup(days=1, lies=1), "the answer is that it is refused"),
        (Rule.SENT_UNTIL, Setup(events=3), "has nothing to send"),
        (Rule.CREATED, OVERTAKEN, "comes again"),
        (Rule.BEHIND_GIVES_WAY, BEHIND, "who slept"),
    ],
    ids=lambda given: given.name.lower() if isinstance(given, Rule) else "",
)
def test_without_a_condition_of_a_head_an_event_is_sent_again(
    rule: Rule, setup: Setup, trait: str
) -> None:
    found = search(setup._replace(without=frozenset({rule})))
    assert found.violation == REPEATED
    assert any(trait in line for line in found.trace)
