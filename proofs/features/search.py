"""Many histories, and what they came to together."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from proofs.features.history import History, history
from proofs.features.world import live


@dataclass
class Total:
    """`copies_max`: the most emails that any event was in."""

    histories: int = 0
    emails: int = 0
    events: int = 0
    copies_max: int = 0
    violations: int = 0

    def __str__(self) -> str:
        return (
            f"features: histories={self.histories} emails={self.emails} events={self.events} "
            f"copies_max={self.copies_max} violations={self.violations}"
        )


class Broken(AssertionError):
    """A promise is broken in the history of that `number`; `violations` says which."""

    def __init__(self, number: int, violations: list[str]) -> None:
        super().__init__(f"history {number}: " + "\n".join(violations))
        self.number = number
        self.violations = violations


def search(numbers: Iterable[int]) -> Total:
    """Live the histories of those numbers. Raises Broken where a promise is broken."""
    total = Total()
    for number in numbers:
        life, outcome = live(history(number))
        total.histories += 1
        total.emails += len(life.provider.taken)
        total.events += sum(outcome.copies.values())
        total.copies_max = max(total.copies_max, *outcome.copies, 0)
        if outcome.violations:
            raise Broken(number, outcome.violations)
    return total


def shortest(broken: History) -> History:
    """Without all that may be left out while a promise is still broken."""
    for smaller in _smaller(broken):
        if live(smaller)[1].violations:
            return shortest(smaller)
    return broken


def _smaller(found: History) -> Iterator[History]:
    for part in ("strikes", "deeds", "answers", "delays", "skews"):
        things = getattr(found, part)
        for size in (len(things), len(things) // 2, len(things) // 4, 1):
            for start in range(0, len(things), size or 1):
                if size:
                    yield replace(found, **{part: things[:start] + things[start + size :]})
    for number, strike in enumerate(found.strikes):
        if strike.meanwhile:
            less = replace(strike, meanwhile=strike.meanwhile[1:])
            yield replace(
                found, strikes=(*found.strikes[:number], less, *found.strikes[number + 1 :])
            )
