"""Every step around one happening, and the search through all states."""

from collections.abc import Iterator
from functools import partial

from proofs.breadth_first import Found, Model, explore
from proofs.happening.promises import broken, is_quiet
from proofs.happening.routing import messages, routing
from proofs.happening.sending import delivering, fanning_out, sending
from proofs.happening.state import Setup, State, Step, beginning, canonical


def steps(state: State, setup: Setup) -> Iterator[Step]:
    """Yield every step that is possible in a state, and the state after it."""
    for w in range(len(state.workers)):
        yield from routing(state, w, setup)
        yield from fanning_out(state, w)
        yield from delivering(state, w, setup)
    yield from messages(state, setup)
    yield from sending(state, setup)


def search(setup: Setup) -> Found:
    """Search every state within the bounds of a setup."""
    return explore(
        Model(
            beginning=beginning(setup),
            steps=partial(steps, setup=setup),
            canonical=canonical,
            broken=partial(broken, setup=setup),
            is_at_rest=is_quiet,
            stuck="stuck: from here on the messages are never all processed",
        )
    )
