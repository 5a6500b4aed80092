"""The search of many histories, and their totals."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from proofs.features.history import History, history
from proofs.features.world import live


@dataclass
class Total:
    """The totals of many histories. `copies_max` is the most emails that
    contained the same event.
    """

    histories: int = 0
    emails: int = 0
    events: int = 0
    receipts: int = 0
    copies_max: int = 0
    violations: int = 0

    def __str__(self) -> str:
        return (
            f"features: histories={self.histories} emails={self.emails} events={self.events} "
            f"receipts={self.receipts} copies_max={self.copies_max} violations={self.violations}"
        )


class Broken(AssertionError):
    """A broken promise in the history of that `number`; `violations` lists the details."""

    def __init__(self, number: int, violations: list[str]) -> None:
        super().__init__(f"history {number}: " + "\n".join(violations))
        self.number = number
        self.violations = violations


def search(numbers: Iterable[int]) -> Total:
    """Run the histories of those numbers. Raise Broken if one breaks a promise."""
    total = Total()
    for number in numbers:
        life, outcome = live(history(number))
        total.histories += 1
        total.emails += len(life.provider.taken)
        total.events += sum(outcome.copies.values())
        total.receipts += outcome.receipts
        total.copies_max = max(total.copies_max, *outcome.copies, 0)
        if outcome.violations:
            raise Broken(number, outcome.violations)
    return total


def shortest(broken: History) -> History:
    """Return the history without every part that the violation does not need."""
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
