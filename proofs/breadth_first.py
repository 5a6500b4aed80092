"""A breadth-first search through every state of a model. Its first trace is a shortest one."""

import gc
from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

S = TypeVar("S", bound=Hashable)

Label = tuple[object, ...]
"""A step: a template and its values."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search. `violation` is the broken promise, and `trace` the steps to it."""

    states: int
    transitions: int
    violation: str | None = None
    trace: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Model(Generic[S]):
    """A model to search.

    `steps` has every possible step in a state, with the state after it. `canonical` is one state
    for all that differ only by names. `broken` describes the promise that a state breaks.
    `is_at_rest` is True if everything has ended. `stuck` describes the promise that is broken if no
    path leads to such a state.
    """

    beginning: S
    steps: Callable[[S], Iterator[tuple[Label, S]]]
    canonical: Callable[[S], S]
    broken: Callable[[S], str | None]
    is_at_rest: Callable[[S], bool]
    stuck: str


def explore(model: Model[S]) -> Found:
    """Search every state. Stop at the first that breaks a promise, or from which no path ends."""
    with _no_collection():
        return _explore(model)


def _explore(model: Model[S]) -> Found:
    steps, canonical, broken = model.steps, model.canonical, model.broken
    start = canonical(model.beginning)
    numbers = {start: 0}
    states, parents = [start], array("i", [-1])
    targets, ends = array("i"), array("q")
    at_rest: list[int] = []
    current = 0
    while current < len(states):
        state = states[current]
        if model.is_at_rest(state):
            at_rest.append(current)
        for _, after in steps(state):
            known = canonical(after)
            number = numbers.setdefault(known, len(states))
            targets.append(number)
            if number < len(states):
                continue
            states.append(known)
            parents.append(current)
            if violation := broken(known):
                trace = _told(states, parents, number, model)
                return Found(len(states), len(targets), violation, trace)
        ends.append(len(targets))
        current += 1
    stuck = _first_without_end(targets, ends, at_rest)
    if stuck is not None:
        trace = _told(states, parents, stuck, model)
        return Found(len(states), len(targets), model.stuck, trace)
    return Found(len(states), len(targets))


def _first_without_end(
    targets: Sequence[int], ends: Sequence[int], at_rest: Sequence[int]
) -> int | None:
    """Return the first state from which no path leads to one at rest. Search backwards from
    those."""
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
    states: Sequence[S], parents: Sequence[int], last: int, model: Model[S]
) -> tuple[str, ...]:
    """Describe the path to a state, replayed so that each worker keeps its name."""
    way: list[S] = []
    while last > 0:
        way.append(states[last])
        last = parents[last]
    told: list[str] = []
    state = model.beginning
    for following in reversed(way):
        label, state = next(
            step for step in model.steps(state) if model.canonical(step[1]) == following
        )
        words, *names = label
        counted = (name + 1 if isinstance(name, int) else name for name in names)
        told.append(str(words).format(*counted))
    return tuple(told)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Disable the garbage collector, which would walk all states repeatedly. There are no
    cycles."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
