"""A worker after its claim: the provider's call and the commit of the outcome."""

from collections.abc import Iterator

from gazette.domain.delivery.run import MAX_UNKNOWN_ATTEMPTS, Status
from gazette.domain.delivery.signals import (
    Accepted,
    NotAttempted,
    Policy,
    RefusedAccount,
    RefusedForGood,
    RefusedForNow,
    Signal,
    Uncertain,
)

from proofs.model.claiming import is_forbidden
from proofs.model.numbered import applied, run_of
from proofs.model.reading import Step, unqueued
from proofs.model.state import (
    CLAIMED,
    IDLE,
    At,
    Email,
    Rule,
    Setup,
    State,
    Worker,
    replaced,
    shown_of_stop,
)

_REFUSALS = ("refused for now", "refused for good", "refused account")


def after_claim(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Yield every next step of worker `w` after its claim, including its death and delay."""
    worker = state.workers[w]
    if worker.at not in CLAIMED:
        return
    if state.deaths:
        unknown = _unknown(state, worker, setup)._replace(deaths=state.deaths - 1)
        dead = _queued(unknown, worker.run)
        dead = dead._replace(workers=replaced(state.workers, w, IDLE))
        yield ("worker {} dies with its claim of run {}", w, worker.run), dead
        if not worker.is_late:
            late = worker._replace(is_late=True)
            after = unknown._replace(workers=replaced(state.workers, w, late))
            yield ("the deadline of worker {} on run {} passes", w, worker.run), after
    match worker.at:
        case At.LOOK:
            yield _look(state, w, setup)
        case At.CALL:
            yield from _call(state, w, setup)
        case At.COMMIT:
            yield _commit(state, w)


def _queued(state: State, index: int) -> State:
    """Return the state with the run's message queued, redelivered or new."""
    return state._replace(queued=state.queued | 1 << index)


def _unknown(state: State, worker: Worker, setup: Setup) -> State:
    """Record a run whose outcome is unknown. Only `assume_sent` may lose its events."""
    if setup.policy is not Policy.ASSUME_SENT:
        return state
    return state._replace(gone=state.gone | 1 << worker.run)


def _look(state: State, w: int, setup: Setup) -> Step:
    """Check that the reader is unchanged since the email was prepared, or do
    not send it (rule 11).
    """
    worker = state.workers[w]
    if shown_of_stop(state, setup) != worker.seen and setup.holds(Rule.LAST_LOOK):
        given_back = worker._replace(at=At.COMMIT, outcome="not attempted", events=0, unknown=0)
        given_back = given_back._replace(seen=0, is_spared=False, is_after_stop=False)
        label = ("worker {} sees that the reader of run {} has changed", w, worker.run)
        return label, state._replace(workers=replaced(state.workers, w, given_back))
    is_late = is_forbidden(state, worker, setup)
    looked = worker._replace(at=At.CALL, seen=0, is_spared=False, is_after_stop=is_late)
    label = ("worker {} looks at the reader of run {}", w, worker.run)
    return label, state._replace(workers=replaced(state.workers, w, looked))


def _call(state: State, w: int, setup: Setup) -> Iterator[Step]:
    """Check the deadline, then call the provider, which may accept, reject or
    not answer (rule 6).
    """
    worker = state.workers[w]

    def after(outcome: str, changed: State = state) -> State:
        told = worker._replace(at=At.COMMIT, outcome=outcome, events=0, unknown=0)
        told = told._replace(is_after_stop=False)
        return changed._replace(workers=replaced(changed.workers, w, told))

    if worker.is_late and setup.holds(Rule.DEADLINE_BEFORE_CALL):
        label = ("worker {} sees that its deadline on run {} has passed", w, worker.run)
        yield label, after("not attempted")
        return
    taken = state._replace(emails=(*state.emails, _email(state, worker, setup)))
    yield (
        ("the provider takes the email of worker {} for run {}", w, worker.run),
        after("accepted", taken),
    )
    if state.losses:
        lost = _unknown(state, worker, setup)._replace(losses=state.losses - 1)
        words = "the provider does not get the email of worker {} for run {}; no answer"
        yield (words, w, worker.run), after("uncertain", lost)
        words = "the provider takes the email of worker {} for run {}; its answer is lost"
        yield (words, w, worker.run), after("uncertain", lost._replace(emails=taken.emails))
    if state.refusals:
        fewer = state._replace(refusals=state.refusals - 1)
        for refusal in _REFUSALS:
            words = f"the provider says to worker {{}} on run {{}}: {refusal}"
            yield (words, w, worker.run), after(refusal, fewer)


def _email(state: State, worker: Worker, setup: Setup) -> Email:
    """Return the accepted email, with any violation of G2 or of a stop."""
    fault, run = "", worker.run + 1
    if worker.is_after_stop:
        fault = f"stop: run {run} was claimed after the stop was acknowledged, and sent"
    earlier = [email for email in state.emails if email.run == worker.run]
    if len(earlier) >= (2 if setup.policy is Policy.RESEND else 1):
        fault = f"G2: one email too many for run {run}, whatever the policy"
    for number, email in enumerate(state.emails):
        is_repetition = email.run == worker.run or email.events & worker.events
        if is_repetition and not worker.unknown >> number & 1:
            fault = f"G2: an email of run {run} repeats one of run {email.run + 1}, not given up"
    for event in range(worker.events.bit_length()):
        copies = sum(email.events >> event & 1 for email in state.emails)
        if worker.events >> event & 1 and copies >= MAX_UNKNOWN_ATTEMPTS:
            fault = f"G2: event {event + 1} is in a third email"
    return Email(worker.run, run_of(worker.chain[0]).attempt, worker.events, fault)


def _commit(state: State, w: int) -> Step:
    worker = state.workers[w]
    index = worker.run
    claimed = worker.chain[0]
    signal = _said(worker.outcome, run_of(claimed).attempt)
    stored, told = applied(claimed, state.runs[index], signal)
    after = state._replace(
        runs=replaced(state.runs, index, stored), workers=replaced(state.workers, w, IDLE)
    )
    is_to_be_retried = run_of(told).status is Status.RETRYING
    after = _queued(after, index) if is_to_be_retried else unqueued(after, index)
    return (f"worker {{}} commits run {{}}: {worker.outcome}", w, index), after


def _said(outcome: str, attempt: int) -> Signal:
    match outcome:
        case "accepted":
            return Accepted(attempt, "m")
        case "uncertain":
            return Uncertain(attempt)
        case "not attempted":
            return NotAttempted(attempt)
        case "refused for now":
            return RefusedForNow(attempt)
        case "refused for good":
            return RefusedForGood(attempt)
        case _:
            return RefusedAccount(attempt)
