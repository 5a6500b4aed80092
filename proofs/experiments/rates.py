"""The rates at which the statistics are right, over many experiments with a known effect."""

from collections.abc import Callable
from dataclasses import dataclass

from proofs.experiments.town import Run, Town


@dataclass(frozen=True, slots=True)
class Rates:
    """The numbers of `experiments` with each result."""

    experiments: int
    shown: int
    covered: int

    @property
    def share(self) -> float:
        """The share in which a difference was shown."""
        return self.shown / self.experiments


def rates(town: Town, experiments: int) -> Rates:
    """Count experiments with a shown difference, and intervals that contain the true one."""
    shown = covered = 0
    for number in range(experiments):
        verdicts = town.run(number).verdicts()
        shown += any(each.is_shown for each in verdicts)
        covered += all(
            each.low <= (town.difference if each.arm.number == 2 else 0) <= each.high
            for each in verdicts
        )
    return Rates(experiments, shown, covered)


def share(town: Town, experiments: int, is_so: Callable[[Run], bool]) -> float:
    """Return the share of the experiments for which the function returns True."""
    return sum(is_so(town.run(number)) for number in range(experiments)) / experiments


def is_shown_by_emails(run: Run) -> bool:
    """Return True if counting emails would show a difference."""
    return any(each.is_shown for each in run.naive_verdicts())


def is_shown_on_any_day(run: Run) -> bool:
    """Return True if a daily look would show a difference on any day."""
    return any(each.is_shown for day in range(1, run.town.days + 1) for each in run.verdicts(day))


def power(town: Town) -> float:
    """Return the probability to find the effect, by the normal approximation."""
    from statsmodels.stats.proportion import power_proportions_2indep

    half = town.readers / 2
    found = power_proportions_2indep(
        town.difference, town.share(0), half, ratio=1, alpha=0.05, return_results=False
    )
    return float(found)
