"""The actions around the workers: services, fan-out, queue, delivery events, sweep and stops."""

from collections.abc import Iterator
from dataclasses import replace

from gazette.domain.delivery.run import Reason, Status
from gazette.domain.delivery.signals import (
    Cancel,
    DeadlinePassed,
    Evidence,
    GiveUp,
    GraceOver,
    Signal,
    Stop,
)

from proofs.model.numbered import due, given_up_to, is_carried, moved, number_of, run_of, until_of
from proofs.model.reading import Step, is_expired
from proofs.model.state import (
    ACKNOWLEDGED,
    BATCH,
    MARKED,
    Email,
    Halt,
    Rule,
    Setup,
    State,
    replaced,
)

_STOPPABLE = {Status.PENDING, Status.RETRYING}


def surroundings(state: State, setup: Setup) -> Iterator[Step]:
    """Yield every step of actors other than the workers of the generate queue."""
    if state.stored < setup.events:
        stored = state.stored + 1
        yield ("event {} is stored", state.stored), state._replace(stored=stored)
    if len(state.runs) < setup.occurrences:
        yield _fan_out(state)
    for number, email in enumerate(state.emails):
        yield from _report(state, number, email, setup)
    for index in range(len(state.runs)):
        yield from _queue(state, index)
        yield from _sweep(state, index, setup)
    if setup.halt is not Halt.NOTHING and state.stop != ACKNOWLEDGED:
        yield _stop(state, setup)


def _fan_out(state: State) -> Step:
    index = len(state.runs)
    after = state._replace(runs=(*state.runs, due(index)), queued=state.queued | 1 << index)
    return ("fan-out starts run {}", index), after


def _report(state: State, number: int, email: Email, setup: Setup) -> Iterator[Step]:
    """Yield the late, duplicate or missing reports, at any time after the acceptance.

    A report that moves no run still counts if it ends the excuse for an email.
    """
    index = email.run
    run = run_of(state.runs[index])
    after: int | None = None
    if setup.holds(Rule.EVIDENCE_MOVES_ANY_STATUS) or run.status in {
        Status.SENDING,
        Status.UNKNOWN,
    }:
        after = moved(state.runs[index], Evidence(email.attempt, "m"))
    if after is None and (email.is_told or not email.is_unknown):
        return
    emails = replaced(state.emails, number, email._replace(is_told=True))
    runs = state.runs if after is None else replaced(state.runs, index, after)
    label = ("evidence of attempt {1} arrives for run {0}", index, email.attempt - 1)
    yield label, state._replace(emails=emails, runs=runs)


def _queue(state: State, index: int) -> Iterator[Step]:
    if state.drops and state.queued >> index & 1:
        queued = state.queued & ~(1 << index)
        label = ("the message of run {} ends in the dead-letter queue", index)
        yield label, state._replace(queued=queued, drops=state.drops - 1)


def is_open(number: int, setup: Setup) -> bool:
    """Return True if the sweep sees the run (rule 13)."""
    if not setup.holds(Rule.OPEN_INDEX_HOLDS_PENDING) and run_of(number).status is Status.PENDING:
        return False
    return run_of(number).is_open


def _sweep(state: State, index: int, setup: Setup) -> Iterator[Step]:
    number = state.runs[index]
    if not is_open(number, setup):
        return
    run = run_of(number)
    if run.status in _STOPPABLE:
        if not state.queued >> index & 1:
            after = state._replace(queued=state.queued | 1 << index)
            yield ("the sweep queues run {} again", index), after
    elif not is_expired(state, index, run.attempt):
        return
    elif run.status is Status.SENDING:
        yield (
            ("the sweep finds run {} overdue", index),
            _moved(state, index, DeadlinePassed(run.attempt)),
        )
    elif not is_carried(number) and setup.holds(Rule.POLICY_SPEAKS):
        yield _decide(state, index, setup)


def _decide(state: State, index: int, setup: Setup) -> Step:
    """Apply the policy (rule 9). Unreported emails may be sent again afterwards."""
    after = _moved(state, index, GraceOver(setup.policy))
    until = until_of(state.runs[index])
    is_given_up = until is not None and until <= given_up_to(state.runs[: index + 1])
    if is_given_up and is_carried(after.runs[index]) and setup.holds(Rule.TWO_UNKNOWN):
        after = _moved(state, index, GiveUp())
    if not setup.holds(Rule.RESEND_ONCE):
        forgotten = number_of(replace(run_of(after.runs[index]), resent=False))
        after = after._replace(runs=replaced(after.runs, index, forgotten))
    emails = tuple(
        email._replace(is_unknown=True) if email.run == index and not email.is_told else email
        for email in state.emails
    )
    if run_of(after.runs[index]).status is Status.RETRYING:
        after = after._replace(queued=after.queued | 1 << index)
    return ("the grace of run {} is over", index), after._replace(emails=emails)


def _stop(state: State, setup: Setup) -> Step:
    """Yield the steps of a stop (rule 11): write it, show it to each open run, acknowledge it.

    A reader's stop is visible once written. A choice is visible once the waiting events are marked.
    """
    if not state.stop:
        return (f"the stop ({setup.halt}) is written",), state._replace(stop=1)
    if setup.halt is Halt.CHOICE and state.stop < MARKED:
        return ("what waited before the choice is marked",), state._replace(stop=MARKED)
    if setup.is_of_the_reader:
        return ("the stop is acknowledged",), state._replace(stop=ACKNOWLEDGED)
    known = state.stop - 1
    if not setup.holds(Rule.STOP_RAISES_EPOCH) or known == len(state.runs):
        return ("the stop is acknowledged",), state._replace(stop=ACKNOWLEDGED)
    after = state
    if setup.halt is not Halt.BATCH:
        after = _moved(state, known, Stop())
    elif known == BATCH:
        after = _moved(state, known, Cancel(Reason.BATCH_CANCELLED))
        after = _moved(after, known, Stop())
    return ("run {} learns of the stop", known), after._replace(stop=state.stop + 1)


def _moved(state: State, index: int, signal: Signal) -> State:
    after = moved(state.runs[index], signal)
    return state if after is None else state._replace(runs=replaced(state.runs, index, after))
