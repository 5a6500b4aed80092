"""The promises that hold in every state, and the final states."""

from gazette.domain.delivery.run import Reason
from gazette.domain.delivery.signals import Policy

from proofs.model.around import is_open
from proofs.model.numbered import (
    events_in,
    given_up_to,
    is_carried,
    is_final,
    run_of,
    sent_up_to,
    since_of,
    until_of,
)
from proofs.model.state import MARKED, RETRACTED, At, Halt, Setup, State, retracted


def broken(state: State, setup: Setup) -> str | None:
    """Return the promise that the state breaks, or None if it keeps all."""
    for email in state.emails:
        if email.fault:
            return email.fault
    if lost := _lost(state, setup):
        return f"G1: events {_numbers(lost)} are behind the sent window and in no email"
    for index, number in enumerate(state.runs):
        is_over = is_final(number) or is_carried(number)
        if not is_over and not is_open(number, setup) and not _is_held(state, index):
            return f"G3: run {index + 1} will never be visited again"
    return None


def _lost(state: State, setup: Setup) -> int:
    """Return the lost events: those in no email, up to the end of a sent window.

    Under `assume_sent` the adopter accepts losing the events of a claimant that died. Events in two
    attempts with an unknown outcome are given up.
    """
    over = events_in(0, min(sent_up_to(state.runs), state.stored)) & ~_unwanted(state, setup)
    over &= ~events_in(0, given_up_to(state.runs))
    for email in state.emails:
        over &= ~email.events
    if over and setup.policy is Policy.ASSUME_SENT:
        for index, number in enumerate(state.runs):
            since, until = since_of(number), until_of(number)
            is_assumed = run_of(number).reason is Reason.ASSUMED and state.gone >> index & 1
            if is_assumed and since is not None and until is not None:
                over &= ~events_in(since, until)
    return over


def _unwanted(state: State, setup: Setup) -> int:
    """Return the events that no longer need an email, as bits."""
    is_muted = setup.halt is Halt.CHOICE and state.stop >= MARKED
    return retracted(state, setup) | (RETRACTED if is_muted else 0)


def _is_held(state: State, index: int) -> bool:
    return bool(state.queued >> index & 1) or any(
        worker.at is not At.IDLE and worker.run == index for worker in state.workers
    )


def _numbers(events: int) -> str:
    return ", ".join(str(bit + 1) for bit in range(events.bit_length()) if events >> bit & 1)


def is_at_rest(state: State, setup: Setup) -> bool:
    """Return True if all occurrences have come and each run has ended or waits
    for its successor.
    """
    return (
        len(state.runs) == setup.occurrences
        and state.stored == setup.events
        and all(worker.at is At.IDLE for worker in state.workers)
        and all(is_final(number) or is_carried(number) for number in state.runs)
    )
