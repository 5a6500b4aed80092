"""The promises that hold in every state, and the final states."""

from proofs.arming.around import is_quiet, is_waiting
from proofs.arming.numbered import ABSENT, listed_at
from proofs.arming.state import Setup, State


def broken(state: State, setup: Setup) -> str | None:
    """Return the promise that the state breaks, or None if it keeps all."""
    if state.fault:
        return state.fault
    if any(event.waited > 1 for event in state.events):
        return "late: an event was not sent at an occurrence before which all work was done"
    if not is_quiet(state, setup):
        return None
    listed = listed_at(state.row)
    if state.is_dormant:
        return "dormant: a schedule of a dormant reader is in the index" if listed else None
    if setup.asks and state.row != ABSENT and not listed:
        return "asks: a schedule that asks a source is not in the index"
    if not any(is_waiting(event, state) for event in state.events):
        return None
    if not listed:
        return "G1: an event waits under a row that is not in the index"
    if listed <= state.now:
        return "G1: an event waits under a row that no tick finds"
    return None


def is_at_rest(state: State, setup: Setup) -> bool:
    """Return True if all events are sent and the schedule has left the index.

    A schedule with a content source stays in the index for a later occurrence.
    """
    is_armed = setup.asks and not state.is_dormant and listed_at(state.row) > state.now
    return (
        is_quiet(state, setup)
        and (is_armed or not listed_at(state.row))
        and not any(is_waiting(event, state) for event in state.events)
    )
