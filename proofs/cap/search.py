"""Play every world of a setup: every order of calls within its bounds."""

from dataclasses import dataclass

from proofs.cap.worlds import Move, Outcome, Setup, play


@dataclass(frozen=True, slots=True)
class Searched:
    """The figures of a search. `broken` is the first world that breaks a promise."""

    worlds: int
    calls: int
    violations: int
    most: int
    """The maximum number of immediate emails in a world."""

    broken: Outcome | None = None


def search(setup: Setup) -> Searched:
    """Play every world. Each decision that was possible begins further worlds."""
    worlds = calls = violations = most = 0
    broken: Outcome | None = None
    waiting: list[tuple[Move, ...]] = [()]
    while waiting:
        first = waiting.pop()
        outcome = play(setup, first)
        worlds, calls = worlds + 1, calls + len(outcome.moves)
        most = max(most, outcome.immediate)
        if outcome.violation:
            violations += 1
            broken = broken or outcome
        for number in range(len(first), len(outcome.moves)):
            begun = tuple(outcome.moves[:number])
            waiting += [(*begun, other) for other in outcome.others[number]]
    return Searched(worlds, calls, violations, most, broken)
