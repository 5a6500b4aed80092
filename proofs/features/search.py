"""Many histories, and what they came to together."""

from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, given, settings

from proofs.features.history import HISTORIES, History
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


TOTAL = Total()


def search(examples: int, *, shrink: bool = True, derandomize: bool = False) -> None:
    """Raises AssertionError, with the shortest history, where a promise is broken.

    `derandomize`: the same histories each time.
    """
    phases = [phase for phase in Phase if shrink or phase is not Phase.shrink]

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=derandomize,
        phases=[phase for phase in phases if phase is not Phase.explain],
        suppress_health_check=list(HealthCheck),
    )
    @given(HISTORIES)
    def look(history: History) -> None:
        life, outcome = live(history)
        TOTAL.histories += 1
        TOTAL.emails += len(life.provider.taken)
        TOTAL.events += sum(outcome.copies.values())
        TOTAL.copies_max = max(TOTAL.copies_max, *outcome.copies, 0)
        TOTAL.violations += len(outcome.violations)
        assert not outcome.violations, "\n".join(outcome.violations)

    look()
