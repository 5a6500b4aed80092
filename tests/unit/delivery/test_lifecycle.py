"""The whole transition table, and the rules of docs/protocol.md that it carries out."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from gazette.domain.delivery.lifecycle import MAX_REFUSALS, Ignored, transition
from gazette.domain.delivery.run import Reason, Run, Status
from gazette.domain.delivery.signals import (
    Accepted,
    Cancel,
    Carry,
    Claim,
    DeadlinePassed,
    Evidence,
    GiveUp,
    GraceOver,
    NotAttempted,
    Policy,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    Signal,
    Skip,
    Stop,
    Uncertain,
)
from gazette.domain.model import RunKey, Window
from hypothesis import given, settings
from hypothesis import strategies as st

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
WINDOW = Window(NOON - timedelta(days=1), NOON)
DEADLINE = NOON + timedelta(seconds=30)

PENDING = Run(RunKey("ann", "daily", 7), due_at=NOON, check_at=NOON)
SENDING = replace(
    PENDING,
    status=Status.SENDING,
    reason=Reason.CLAIMED,
    attempt=1,
    window=WINDOW,
    deadline=DEADLINE,
    nonce="n1",
)
RETRYING = replace(SENDING, status=Status.RETRYING, reason=Reason.REFUSED_FOR_NOW, refusals=1)
UNKNOWN = replace(SENDING, status=Status.UNKNOWN, reason=Reason.UNCERTAIN, uncertain=frozenset({1}))
SENT = replace(SENDING, status=Status.SENT, reason=Reason.ACCEPTED, message_id="m0")
FAILED = replace(SENDING, status=Status.FAILED, reason=Reason.REFUSED_FOR_GOOD)
SKIPPED = replace(PENDING, status=Status.SKIPPED, reason=Reason.EMPTY)
CANCELLED = replace(PENDING, status=Status.CANCELLED, reason=Reason.SUPERSEDED)
RUNS = (PENDING, SENDING, RETRYING, UNKNOWN, SENT, FAILED, SKIPPED, CANCELLED)

CLAIM = Claim(WINDOW, DEADLINE, "n2")
IGNORED = None
STAYS = "stays"
"""The status is kept, but something else of the run changes."""

# One row a signal, one column a status, in the order of RUNS. The signals name attempt 1, which
# is open in SENDING and UNKNOWN.
TABLE: tuple[tuple[Signal, tuple[Status | str | None, ...]], ...] = (
    #               pending         sending          retrying        unknown
    #               sent            failed           skipped         cancelled
    (
        CLAIM,
        (Status.SENDING, IGNORED, Status.SENDING, IGNORED, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    (
        Accepted(1, "m1"),
        (IGNORED, *(Status.SENT,) * 3, IGNORED, Status.SENT, IGNORED, IGNORED),
    ),
    (
        Evidence(1, "m1"),
        (IGNORED, *(Status.SENT,) * 3, IGNORED, Status.SENT, IGNORED, IGNORED),
    ),
    (
        RefusedForNow(1),
        (IGNORED, Status.RETRYING, IGNORED, Status.RETRYING, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    (
        RefusedForGood(1),
        (IGNORED, Status.FAILED, IGNORED, Status.FAILED, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    (
        RefusedAccount(1),
        (IGNORED, Status.RETRYING, IGNORED, Status.RETRYING, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    (
        NotAttempted(1),
        (IGNORED, Status.RETRYING, IGNORED, Status.RETRYING, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    (
        Uncertain(1),
        (IGNORED, Status.UNKNOWN, IGNORED, IGNORED, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    (
        DeadlinePassed(1),
        (IGNORED, Status.UNKNOWN, IGNORED, IGNORED, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    (
        GiveUp(),
        (IGNORED, IGNORED, IGNORED, Status.FAILED, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    (
        GraceOver(Policy.RESEND),
        (IGNORED, IGNORED, IGNORED, Status.RETRYING, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    (
        GraceOver(Policy.CARRY_OVER),
        (IGNORED, IGNORED, IGNORED, STAYS, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    (
        GraceOver(Policy.ASSUME_SENT),
        (IGNORED, IGNORED, IGNORED, Status.SENT, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    (
        Skip(Reason.EMPTY),
        (Status.SKIPPED, IGNORED, Status.SKIPPED, IGNORED, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    (
        Cancel(Reason.SUPERSEDED),
        (Status.CANCELLED, IGNORED, Status.CANCELLED, IGNORED, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    # None of RUNS is carried: no attempt is uncertain, or the policy has not spoken.
    (
        Carry(),
        (IGNORED, IGNORED, IGNORED, IGNORED, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
    (
        Stop(),
        (STAYS, STAYS, STAYS, STAYS, IGNORED, IGNORED, IGNORED, IGNORED),
    ),
)
PAIRS = [
    pytest.param(run, signal, outcome, id=f"{run.status}-{type(signal).__name__}-{row}")
    for row, (signal, outcomes) in enumerate(TABLE)
    for run, outcome in zip(RUNS, outcomes, strict=True)
]


def moved(run: Run, *signals: Signal) -> Run:
    """The run after all of `signals`, none of which may be ignored."""
    for signal in signals:
        after = transition(run, signal)
        assert isinstance(after, Run), f"{signal} was ignored for {run.status}: {after}"
        run = after
    return run


def is_ignored(run: Run, signal: Signal) -> bool:
    """True where the signal changes nothing and says why."""
    after = transition(run, signal)
    return isinstance(after, Ignored) and bool(after.why)


@pytest.mark.parametrize(("run", "signal", "outcome"), PAIRS)
def test_transitions_match_the_table_for_every_status_and_signal(
    run: Run, signal: Signal, outcome: Status | str | None
) -> None:
    after = transition(run, signal)
    if outcome is IGNORED:
        assert isinstance(after, Ignored)
        assert after.why
        return
    assert isinstance(after, Run)
    assert after != run
    assert after.status == (run.status if outcome == STAYS else outcome)


def test_transition_table_has_every_status_and_signal() -> None:
    """A status or signal that is added without a row fails here."""
    assert {run.status for run in RUNS} == set(Status)
    assert len(RUNS) == len(Status)
    assert {type(signal) for signal, _ in TABLE} == set(get_args(Signal))
    policies = {signal.policy for signal, _ in TABLE if isinstance(signal, GraceOver)}
    assert policies == set(Policy)


# Rule 2: the window.


def test_first_claim_uses_given_window() -> None:
    assert moved(PENDING, CLAIM).window == WINDOW


def test_first_claim_fixes_window_end_and_later_claims_recompute_start() -> None:
    later = Window(WINDOW.since + timedelta(hours=3), WINDOW.until + timedelta(hours=5))
    after = moved(RETRYING, Claim(later, DEADLINE, "n2"))
    assert after.window == Window(later.since, WINDOW.until)


# Rule 4: the claim.


def test_claim_increments_attempt_and_sets_nonce_and_deadline() -> None:
    claim = Claim(WINDOW, DEADLINE + timedelta(hours=1), "n2")
    after = moved(RETRYING, claim)
    assert (after.attempt, after.nonce, after.deadline) == (2, "n2", claim.deadline)
    assert after.reason is Reason.CLAIMED
    assert after.refusals == RETRYING.refusals


# Rule 5: carrying.


@pytest.mark.parametrize("status", [Status.FAILED, Status.SKIPPED, Status.CANCELLED])
def test_ended_run_with_uncertain_attempt_is_carried(status: Status) -> None:
    run = replace(RETRYING, status=status, uncertain=frozenset({1}))
    after = moved(run, Carry())
    assert (after.status, after.reason) == (Status.FAILED, Reason.CARRIED_INTO)


def test_retrying_run_with_uncertain_attempt_is_carried() -> None:
    after = moved(UNKNOWN, GraceOver(Policy.RESEND), Carry())
    assert (after.status, after.reason) == (Status.FAILED, Reason.CARRIED_INTO)


def test_unknown_run_is_carried_only_after_policy_is_applied() -> None:
    assert is_ignored(UNKNOWN, Carry())
    after = moved(UNKNOWN, GraceOver(Policy.CARRY_OVER), Carry())
    assert (after.status, after.reason) == (Status.FAILED, Reason.CARRIED_INTO)


def test_run_is_carried_only_once() -> None:
    assert is_ignored(moved(UNKNOWN, GraceOver(Policy.CARRY_OVER), Carry()), Carry())


@pytest.mark.parametrize("status", [Status.SENDING, Status.SENT])
def test_sending_or_sent_run_is_never_carried(status: Status) -> None:
    assert is_ignored(replace(SENDING, status=status, uncertain=frozenset({1})), Carry())


# Rule 7: uncertain for good, unless the same attempt was refused.


@pytest.mark.parametrize("loss", [Uncertain(1), DeadlinePassed(1)])
def test_uncertain_attempt_is_recorded_on_run(loss: Signal) -> None:
    assert moved(SENDING, loss).uncertain == {1}


@pytest.mark.parametrize("refusal", [RefusedForNow(1), RefusedAccount(1), NotAttempted(1)])
def test_late_rejection_of_same_attempt_makes_unknown_run_retryable(refusal: Signal) -> None:
    after = moved(UNKNOWN, refusal)
    assert after.status is Status.RETRYING
    assert not after.uncertain


def test_late_rejection_clears_uncertainty_of_its_own_attempt() -> None:
    second = moved(UNKNOWN, GraceOver(Policy.RESEND), CLAIM, Uncertain(2))
    assert second.uncertain == {1, 2}
    assert moved(second, RefusedForNow(2)).uncertain == {1}


@pytest.mark.parametrize("status", [Status.SENDING, Status.UNKNOWN])
@pytest.mark.parametrize("signal", [RefusedForNow, RefusedForGood, RefusedAccount, NotAttempted])
@pytest.mark.parametrize("attempt", [1, 3])
def test_rejection_of_different_attempt_is_ignored(
    status: Status,
    signal: type[RefusedForNow | RefusedForGood | RefusedAccount | NotAttempted],
    attempt: int,
) -> None:
    run = replace(SENDING, status=status, attempt=2, uncertain=frozenset({1}))
    assert is_ignored(run, signal(attempt))


@pytest.mark.parametrize("loss", [Uncertain(1), DeadlinePassed(1)])
def test_uncertain_outcome_of_different_attempt_is_ignored(loss: Signal) -> None:
    assert is_ignored(replace(SENDING, attempt=2), loss)


def test_run_stays_uncertain_after_permanent_rejection_of_later_attempt() -> None:
    after = moved(UNKNOWN, GraceOver(Policy.RESEND), CLAIM, RefusedForGood(2))
    assert after.status is Status.FAILED
    assert after.uncertain == {1}
    assert moved(after, Carry()).reason is Reason.CARRIED_INTO


# Rule 8: evidence.


@pytest.mark.parametrize("run", [run for run in RUNS if run is not SENT], ids=lambda r: r.status)
@pytest.mark.parametrize("signal", [Accepted(1, "m1"), Evidence(1, "m1")])
def test_acceptance_moves_any_status_to_sent(run: Run, signal: Accepted | Evidence) -> None:
    after = moved(replace(run, attempt=1, window=WINDOW), signal)
    assert (after.status, after.message_id) == (Status.SENT, "m1")
    expected = Reason.ACCEPTED if isinstance(signal, Accepted) else Reason.EVIDENCE
    assert after.reason is expected


@pytest.mark.parametrize("run", [run for run in RUNS if run is not SENT], ids=lambda r: r.status)
@pytest.mark.parametrize("attempt", [None, 0, 3, -1])
def test_trace_t_evidence_of_unclaimed_attempt_is_ignored(run: Run, attempt: int | None) -> None:
    claimed = replace(run, attempt=2, window=WINDOW)
    assert is_ignored(claimed, Evidence(attempt, "m1"))
    assert is_ignored(replace(claimed, window=None), Evidence(1, "m1"))


def test_evidence_of_older_attempt_settles_run_being_resent() -> None:
    again = moved(UNKNOWN, GraceOver(Policy.RESEND), CLAIM)
    assert moved(again, Evidence(1, "m1")).status is Status.SENT
    assert moved(again, Accepted(1, "m1")).status is Status.SENT


@pytest.mark.parametrize("signal", [signal for signal, _ in TABLE], ids=repr)
@pytest.mark.parametrize("reason", [Reason.ACCEPTED, Reason.EVIDENCE, Reason.ASSUMED])
def test_sent_status_is_final(signal: Signal, reason: Reason) -> None:
    for uncertain in (frozenset[int](), frozenset({1})):
        assert is_ignored(replace(SENT, reason=reason, uncertain=uncertain), signal)


# Rule 9: the policy.


def test_run_is_resent_at_most_once_and_then_carried() -> None:
    again = moved(UNKNOWN, GraceOver(Policy.RESEND))
    assert (again.status, again.reason) == (Status.RETRYING, Reason.POLICY_RESEND)
    assert again.resent
    assert again.uncertain == {1}
    lost_again = moved(again, CLAIM, DeadlinePassed(2), GraceOver(Policy.RESEND))
    assert (lost_again.status, lost_again.reason) == (Status.UNKNOWN, Reason.CARRIED)
    assert is_ignored(lost_again, GraceOver(Policy.RESEND))


@pytest.mark.parametrize("policy", Policy)
def test_policy_is_ignored_for_carried_run(policy: Policy) -> None:
    assert is_ignored(moved(UNKNOWN, GraceOver(Policy.CARRY_OVER)), GraceOver(policy))


def test_assume_sent_policy_records_assumption_as_reason() -> None:
    assert moved(UNKNOWN, GraceOver(Policy.ASSUME_SENT)).reason is Reason.ASSUMED


# Rule 10 and the limit of refusals.


def test_run_fails_after_six_rejected_attempts() -> None:
    """One attempt, and five more after 1, 5 and 30 minutes, 2 and 8 hours."""
    run = PENDING
    for attempt in range(1, 6):
        run = moved(run, CLAIM, RefusedForNow(attempt))
        assert (run.status, run.refusals) == (Status.RETRYING, attempt)
    run = moved(run, CLAIM, RefusedForNow(6))
    assert (run.status, run.reason) == (Status.FAILED, Reason.ATTEMPTS_EXHAUSTED)


@pytest.mark.parametrize("signal", [RefusedAccount, NotAttempted])
def test_failures_not_caused_by_attempt_are_not_counted(
    signal: type[RefusedAccount | NotAttempted],
) -> None:
    run = PENDING
    for attempt in range(1, 3 * MAX_REFUSALS):
        run = moved(run, CLAIM, signal(attempt))
    assert (run.status, run.refusals) == (Status.RETRYING, 0)


# Rule 11: stops.


@pytest.mark.parametrize("run", [PENDING, RETRYING])
def test_stop_before_claim_only_raises_epoch(run: Run) -> None:
    assert moved(run, Stop()) == replace(run, epoch=1)


@pytest.mark.parametrize("run", [SENDING, UNKNOWN])
def test_stop_after_claim_is_recorded_as_too_late(run: Run) -> None:
    assert moved(run, Stop()) == replace(run, epoch=1, overtaken=True)
    assert moved(run, Stop(), Accepted(1, "m1")).overtaken


def test_sweep_waits_longer_than_retry_delay_of_rejected_run() -> None:
    later = NOON + timedelta(minutes=5)
    run = moved(SENDING, RefusedForNow(1, "Throttling", retry_at=later))
    assert run.retry_at == later
    assert run.check_at == later + timedelta(minutes=15)
    assert moved(run, CLAIM).retry_at is None


@pytest.mark.parametrize("signal", [Uncertain(1, check_at=DEADLINE), DeadlinePassed(1, DEADLINE)])
def test_run_with_unknown_outcome_is_checked_after_grace_period(signal: Signal) -> None:
    assert moved(SENDING, signal).check_at == DEADLINE


@pytest.mark.parametrize(
    ("run", "is_open"),
    [
        *((run, not run.status.is_final) for run in RUNS),
        (replace(UNKNOWN, reason=Reason.CARRIED), False),
    ],
)
def test_sweep_finds_every_run_that_needs_action(run: Run, is_open: bool) -> None:
    """What is carried waits for its successor, which finds it in its chain."""
    assert run.is_open == is_open


def test_ended_run_has_the_given_reason() -> None:
    assert moved(PENDING, Skip(Reason.UNSUBSCRIBED)).reason is Reason.UNSUBSCRIBED
    assert moved(RETRYING, Cancel(Reason.SUPERSEDED)).reason is Reason.SUPERSEDED


# For any history.

instants = st.integers(0, 10**6).map(lambda seconds: NOON + timedelta(seconds=seconds))
attempts = st.integers(1, 6)
signals: st.SearchStrategy[Signal] = st.one_of(
    st.builds(Claim, st.builds(Window, instants, instants), instants, st.text("ab", max_size=2)),
    st.builds(Accepted, attempts, st.just("m")),
    st.builds(RefusedForNow, attempts),
    st.builds(RefusedForGood, attempts),
    st.builds(RefusedAccount, attempts),
    st.builds(NotAttempted, attempts),
    st.builds(Uncertain, attempts),
    st.builds(DeadlinePassed, attempts),
    st.just(Evidence(1, "m")),
    st.builds(GraceOver, st.sampled_from(Policy)),
    st.just(Skip(Reason.EMPTY)),
    st.just(Cancel(Reason.SUPERSEDED)),
    st.just(Carry()),
    st.just(Stop()),
)


@given(st.lists(signals, max_size=30))
@settings(max_examples=200, deadline=None)
def test_transitions_never_reverse_progress(history: list[Signal]) -> None:
    """Counters only grow, `until` stays, sent stays, and at most one resend follows an unknown
    outcome.
    """
    run = PENDING
    for signal in history:
        after = transition(run, signal)
        if isinstance(after, Ignored):
            continue
        assert run.status is not Status.SENT
        assert after.attempt == run.attempt + isinstance(signal, Claim)
        assert after.epoch >= run.epoch
        assert after.refusals >= run.refusals
        assert after.resent >= run.resent
        assert after.uncertain <= set(range(1, after.attempt + 1))
        assert len(after.uncertain) <= 2
        assert (after.status is Status.UNKNOWN) <= (after.attempt in after.uncertain)
        assert (after.key, after.due_at) == (run.key, run.due_at)
        if run.window is not None:
            assert after.window is not None
            assert after.window.until == run.window.until
        run = after


@given(st.lists(signals, max_size=30))
@settings(max_examples=100, deadline=None)
def test_evidence_ends_any_transition_sequence_as_sent(history: list[Signal]) -> None:
    run = PENDING
    for signal in [CLAIM, *history, Evidence(1, "m")]:
        after = transition(run, signal)
        run = run if isinstance(after, Ignored) else after
    assert run.status is Status.SENT
