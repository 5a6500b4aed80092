"""A small sample of `make model`, and the faults that it finds without each rule.

The letters are those of docs/protocol.md. Each names a fault of an earlier design.
"""

import pytest
from gazette.domain.delivery.signals import Policy

from proofs.breadth_first import Found
from proofs.model.search import search
from proofs.model.state import Halt, Rule, Setup

QUIET = Setup(Policy.CARRY_OVER, deaths=0, losses=0, refusals=0, drops=0)
REPEATED = "G2: an email of run"
LOST = "G1: events"


def found_without(rule: Rule, setup: Setup) -> Found:
    """Return the shortest trace without the rule. Check that there is none with it."""
    assert search(setup).violation is None
    return search(setup._replace(without=frozenset({rule})))


def assert_breaks(rule: Rule, setup: Setup, promise: str, *traits: str) -> None:
    """Check that the promise breaks without the rule, by a trace with the traits in this order."""
    found = found_without(rule, setup)
    assert found.violation is not None, f"no promise breaks without {rule}"
    assert found.violation.startswith(promise)
    told = iter(found.trace)
    for trait in traits:
        assert any(trait in line for line in told), (trait, found.trace)


@pytest.mark.parametrize("policy", Policy)
def test_nothing_breaks_where_an_answer_is_lost(policy: Policy) -> None:
    found = search(QUIET._replace(policy=policy, losses=1))
    assert found.violation is None, found.trace
    assert found.states > 1000


@pytest.mark.parametrize("policy", Policy)
def test_nothing_breaks_where_a_worker_dies_or_is_late(policy: Policy) -> None:
    found = search(QUIET._replace(policy=policy, deaths=1))
    assert found.violation is None, found.trace
    assert found.states > 4000


@pytest.mark.parametrize("policy", Policy)
def test_trace_a_a_successor_that_does_not_wait_repeats_under_every_policy(policy: Policy) -> None:
    setup = QUIET._replace(policy=policy)
    assert_breaks(Rule.WAIT_FOR_PREDECESSOR, setup, REPEATED, "claims run 1", "claims run 2")


def test_trace_a_a_predecessor_that_is_still_due_repeats_what_its_successor_sends() -> None:
    assert_breaks(Rule.SUPERSEDE, QUIET, REPEATED, "claims run")


def test_trace_b_evidence_between_closing_and_claiming() -> None:
    traits = ("closes what run 2 carries", "evidence", "claims run 2")
    assert_breaks(Rule.ONE_TRANSACTION, QUIET._replace(losses=1, workers=1), REPEATED, *traits)


def test_trace_b_evidence_for_a_run_that_was_carried_before() -> None:
    traits = ("refused for now", "evidence of attempt 1 arrives for run 1", "claims run 2")
    setup = QUIET._replace(losses=1, refusals=1, workers=1)
    assert_breaks(Rule.CARRIED_IS_CHECKED, setup, REPEATED, *traits)


def test_trace_c_since_fixed_at_the_first_claim() -> None:
    traits = ("refused for now", "evidence of attempt 1 arrives for run 1", "claims run 2")
    setup = QUIET._replace(losses=1, refusals=1, workers=1)
    assert_breaks(Rule.SINCE_AT_EACH_ATTEMPT, setup, REPEATED, *traits)


def test_trace_d_evidence_for_a_run_that_waits_to_be_sent_again() -> None:
    setup = QUIET._replace(policy=Policy.RESEND, losses=1, occurrences=1)
    traits = ("grace of run 1", "evidence of attempt 1 arrives for run 1", "claims run 1")
    assert_breaks(Rule.EVIDENCE_MOVES_ANY_STATUS, setup, REPEATED, *traits)


def test_trace_e_a_second_unknown_after_a_resend() -> None:
    setup = QUIET._replace(policy=Policy.RESEND, losses=2, workers=1, occurrences=1)
    both = frozenset({Rule.RESEND_ONCE, Rule.TWO_UNKNOWN})
    assert search(setup._replace(without=both)).violation == ("G2: event 1 is in a third email")
    for one in both:
        assert search(setup._replace(without=both - {one})).violation is None


def test_trace_f_a_pending_run_whose_message_was_dead_lettered() -> None:
    setup = QUIET._replace(drops=1)
    assert_breaks(Rule.OPEN_INDEX_HOLDS_PENDING, setup, "G3", "dead-letter queue")


def test_trace_g_a_worker_that_loses_against_itself() -> None:
    setup = QUIET._replace(policy=Policy.ASSUME_SENT, losses=1, occurrences=1)
    assert_breaks(Rule.NONCE, setup, LOST, "the answer is lost", "grace of run 1")


def test_trace_g_a_stop_between_a_claim_and_its_repetition() -> None:
    setup = QUIET._replace(policy=Policy.ASSUME_SENT, losses=1, halt=Halt.EVENT, occurrences=1)
    traits = ("the answer is lost", "learns of the stop", "gives up", "grace of run 1")
    assert_breaks(Rule.NONCE_ALONE, setup, LOST, *traits)


def test_trace_g_an_attempt_that_is_taken_for_the_one_before_it() -> None:
    setup = QUIET._replace(policy=Policy.ASSUME_SENT, losses=1, refusals=1, events=1)
    traits = ("commits run 1: refused", "the answer is lost", "finds run 1 overdue", "gives up")
    assert_breaks(Rule.OVERDUE_ATTEMPT, setup, LOST, *traits)


def test_trace_h_events_between_read_and_claim() -> None:
    traits = ("reads the events of run 1", "event 2 is stored", "claims run 1")
    assert_breaks(Rule.UNTIL_BEFORE_READ, QUIET, LOST, *traits)


def test_trace_i_a_worker_that_sends_after_its_deadline() -> None:
    setup = QUIET._replace(policy=Policy.RESEND, deaths=1, occurrences=1)
    traits = ("deadline of worker", "the grace of run 1 is over", "provider takes")
    assert_breaks(Rule.DEADLINE_BEFORE_CALL, setup, REPEATED, *traits)


def test_trace_l_an_earlier_stamp_that_appears_after_the_read() -> None:
    traits = ("reads the events of run 1", "event 2 is stored")
    assert_breaks(Rule.SETTLE_LAG, QUIET, LOST, *traits)


@pytest.mark.parametrize("halt", [Halt.BATCH, Halt.EVENT])
def test_trace_o_a_stop_between_the_look_for_it_and_the_claim(halt: Halt) -> None:
    setup = QUIET._replace(halt=halt, occurrences=1)
    traits = ("looks for stops before run 1", "acknowledged", "claims run 1")
    if halt is Halt.EVENT:
        traits = ("reads the events of run 1", *traits[1:])
    assert_breaks(Rule.STOP_RAISES_EPOCH, setup, "stop:", *traits)


@pytest.mark.parametrize("halt", [Halt.SUBSCRIBER, Halt.CHOICE])
def test_trace_o_a_stop_that_nobody_looks_for_after_the_claim(halt: Halt) -> None:
    setup = QUIET._replace(halt=halt, occurrences=1)
    traits = ("looks for stops before run 1", "acknowledged", "provider takes")
    assert_breaks(Rule.LAST_LOOK, setup, "stop:", *traits)


def test_trace_n_what_waited_before_a_choice_is_not_routed_again() -> None:
    setup = QUIET._replace(halt=Halt.CHOICE, occurrences=1)
    traits = ("what waited before the choice is marked", "looks for stops", "provider takes")
    assert_breaks(Rule.ROUTED_AGAIN, setup, "stop:", *traits)


def test_two_workers_send_one_run_where_a_claim_has_no_condition() -> None:
    setup = QUIET._replace(occurrences=1)
    assert_breaks(Rule.CLAIM_CONDITION, setup, REPEATED, "claims run 1", "claims run 1")


def test_a_window_behind_what_was_refused_loses_its_events() -> None:
    setup = QUIET._replace(refusals=1, workers=1)
    assert_breaks(Rule.WINDOW_FROM_SENT_RUNS, setup, LOST, "refused for good")


def test_what_is_unknown_has_no_end_where_no_policy_speaks() -> None:
    """No single state breaks a promise here; the search must detect that no end is reachable."""
    setup = QUIET._replace(losses=1)
    assert_breaks(Rule.POLICY_SPEAKS, setup, "G3: from here on", "no answer")


@pytest.mark.parametrize("policy", [Policy.RESEND, Policy.CARRY_OVER])
def test_trace_r_an_event_in_two_unknown_emails_is_not_in_a_third(policy: Policy) -> None:
    setup = QUIET._replace(policy=policy, occurrences=3, workers=1, losses=2)
    assert_breaks(Rule.TWO_UNKNOWN, setup, "G2: event 1 is in a third email", "answer is lost")
