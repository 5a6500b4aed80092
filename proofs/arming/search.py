"""Every step around one schedule, and the search through all states."""

from collections.abc import Iterator
from functools import partial

from proofs.arming.around import delivering, messages_of_runs, time_passes
from proofs.arming.fanout import fanning_out, ticks
from proofs.arming.moving import changes_of_mind, moving
from proofs.arming.promises import broken, is_at_rest
from proofs.arming.state import Setup, State, Step, beginning, canonical
from proofs.arming.storing import ingesting, messages
from proofs.arming.waking import signs_of_life, waking
from proofs.breadth_first import Found, Model, explore


def steps(state: State, setup: Setup) -> Iterator[Step]:
    """Yield every step that is possible in a state, and the state after it."""
    for w in range(len(state.workers)):
        yield from ingesting(state, w, setup)
        yield from moving(state, w, setup)
        yield from fanning_out(state, w, setup)
        yield from delivering(state, w, setup)
        yield from waking(state, w, setup)
    yield from messages(state, setup)
    yield from changes_of_mind(state, setup)
    yield from signs_of_life(state, setup)
    yield from ticks(state, setup)
    yield from messages_of_runs(state, setup)
    yield from time_passes(state, setup)


def search(setup: Setup) -> Found:
    """Search every state within the bounds of a setup."""
    return explore(
        Model(
            beginning=beginning(setup),
            steps=partial(steps, setup=setup),
            canonical=canonical,
            broken=partial(broken, setup=setup),
            is_at_rest=partial(is_at_rest, setup=setup),
            stuck="G3: from here on no step leads to an end",
        )
    )
