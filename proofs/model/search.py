"""Breadth first through every state within the bounds: the first trace is a shortest."""

import gc
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from proofs.model.around import surroundings
from proofs.model.claiming import claiming
from proofs.model.promises import broken, is_at_rest
from proofs.model.reading import Step, before_claim
from proofs.model.sending import after_claim
from proofs.model.state import Setup, State, beginning, canonical


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to. `violation`: the promise that broke; `trace`: how, step by step."""

    states: int
    transitions: int
    violation: str | None = None
    trace: tuple[str, ...] = ()


def steps(state: State, setup: Setup) -> Iterator[Step]:
    """Every step that is possible in a state, and the state after it."""
    for w in range(len(state.workers)):
        yield from before_claim(state, w, setup)
        yield from claiming(state, w, setup)
        yield from after_claim(state, w, setup)
    yield from surroundings(state, setup)


def search(setup: Setup) -> Found:
    """Look at every state. Stops at the first that breaks a promise, or from which none ends."""
    with _no_collection():
        return _search(setup)


def _search(setup: Setup) -> Found:
    start = canonical(beginning(setup))
    numbers = {start: 0}
    states, parents = [start], array("i", [-1])
    targets, ends = array("i"), array("q")
    at_rest: list[int] = []
    current = 0
    while current < len(states):
        state = states[current]
        if is_at_rest(state, setup):
            at_rest.append(current)
        for _, after in steps(state, setup):
            known = canonical(after)
            number = numbers.setdefault(known, len(states))
            targets.append(number)
            if number < len(states):
                continue
            states.append(known)
            parents.append(current)
            if violation := broken(known, setup):
                trace = _told(states, parents, number, setup)
                return Found(len(states), len(targets), violation, trace)
        ends.append(len(targets))
        current += 1
    stuck = _first_without_end(targets, ends, at_rest)
    if stuck is not None:
        violation = "G3: from here on no step leads to an end"
        return Found(len(states), len(targets), violation, _told(states, parents, stuck, setup))
    return Found(len(states), len(targets))


def _first_without_end(
    targets: Sequence[int], ends: Sequence[int], at_rest: Sequence[int]
) -> int | None:
    """The first state from which no path leads to one at rest: backwards from these."""
    number = len(ends)
    begins = array("q", bytes(8 * (number + 2)))
    for target in targets:
        begins[target + 2] += 1
    for state in range(number):
        begins[state + 2] += begins[state + 1]
    sources = array("i", bytes(4 * len(targets)))
    edge = 0
    for source, end in enumerate(ends):
        while edge < end:
            place = begins[targets[edge] + 1]
            sources[place] = source
            begins[targets[edge] + 1] += 1
            edge += 1
    seen = bytearray(number)
    waiting = list(at_rest)
    for state in waiting:
        seen[state] = 1
    while waiting:
        state = waiting.pop()
        for place in range(begins[state], begins[state + 1]):
            if not seen[sources[place]]:
                seen[sources[place]] = 1
                waiting.append(sources[place])
    without = seen.find(0)
    return None if without < 0 else without


def _told(
    states: Sequence[State], parents: Sequence[int], last: int, setup: Setup
) -> tuple[str, ...]:
    """The way to a state in words, replayed so that each worker keeps its name."""
    way: list[State] = []
    while last > 0:
        way.append(states[last])
        last = parents[last]
    told: list[str] = []
    state = beginning(setup)
    for following in reversed(way):
        label, state = next(step for step in steps(state, setup) if canonical(step[1]) == following)
        words, *names = label
        counted = (name + 1 if isinstance(name, int) else name for name in names)
        told.append(str(words).format(*counted))
    return tuple(told)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Nothing here is a cycle, and the collector would walk all states again and again."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
