"""Every step of the delivery protocol, and the search through all states."""

from collections.abc import Iterator
from functools import partial

from proofs.breadth_first import Found, Model, explore
from proofs.model.around import surroundings
from proofs.model.claiming import claiming
from proofs.model.promises import broken, is_at_rest
from proofs.model.reading import Step, before_claim
from proofs.model.sending import after_claim
from proofs.model.state import Setup, State, beginning, canonical


def steps(state: State, setup: Setup) -> Iterator[Step]:
    """Yield every step that is possible in a state, and the state after it."""
    for w in range(len(state.workers)):
        yield from before_claim(state, w, setup)
        yield from claiming(state, w, setup)
        yield from after_claim(state, w, setup)
    yield from surroundings(state, setup)


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
