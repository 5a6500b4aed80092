"""What an experiment shows: the difference between variations, and whether there is one.

docs/decisions/0029 says why it is made of readers, and with which interval.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10

from gazette.domain.feedback.experiment_readers import Arm
from gazette.domain.feedback.statistics import Measure

CONFIDENCE = 0.95
"""That all intervals of one outcome hold the true difference together."""

_OUTCOMES = (Measure.CLICKED, Measure.UNSUBSCRIBED, Measure.COMPLAINED, Measure.OPENED)
"""The first that is tracked decides; opens are last, because mail programs fetch pictures too."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of the readers of `arm`, the share who did `outcome`, less that share of `base`.

    `low` and `high` bound the true difference; both are shares, from -1 to 1.
    """

    outcome: Measure
    base: Arm
    arm: Arm
    low: float
    high: float

    @property
    def is_shown(self) -> bool:
        """Whether there is a difference: no difference would lie outside of the interval."""
        return not self.low <= 0 <= self.high

    @property
    def words(self) -> str:
        """What it shows, in one line."""
        which = f"{self.arm.of} {self.arm.number} against {self.base.number}"
        if not self.is_shown:
            span = _points(self.low, self.high)
            return f"{which}: no difference shown ({span} percentage points)"
        more = "more" if self.low > 0 else "fewer"
        span = _points(*sorted((abs(self.low), abs(self.high))))
        return f"{which}: {span} percentage points {more} readers {self.outcome}"


Findings = Mapping[Measure, Sequence[Verdict]]
"""By outcome, the one that decides first; no verdicts where there is one variation."""


def compare(arms: Sequence[Arm]) -> Findings:
    """Each arm against the first. What nobody did may not be tracked, and is left out.

    The intervals of several are made wider, by Bonferroni, so that those of one outcome hold
    together with CONFIDENCE.
    """
    always = {Measure.UNSUBSCRIBED, Measure.COMPLAINED}
    told = [each for each in _OUTCOMES if each in always or any(arm.did[each] for arm in arms)]
    return {outcome: [*_verdicts(outcome, arms)] for outcome in told} if arms else {}


def _verdicts(outcome: Measure, arms: Sequence[Arm]) -> Iterator[Verdict]:
    base, *others = arms
    for arm in others:
        yield _verdict(outcome, base, arm, (1 - CONFIDENCE) / len(others))


def _verdict(outcome: Measure, base: Arm, arm: Arm, alpha: float) -> Verdict:
    """Newcombe's hybrid score interval.

    Method and comparison are named, because the defaults might still change:
    https://www.statsmodels.org/stable/generated/statsmodels.stats.proportion.confint_proportions_2indep.html
    """
    # Here, because it takes seconds: only who asks for an experiment waits for it.
    from statsmodels.stats.proportion import confint_proportions_2indep

    low, high = confint_proportions_2indep(
        arm.did[outcome],
        arm.readers,
        base.did[outcome],
        base.readers,
        method="newcomb",
        compare="diff",
        alpha=alpha,
    )
    return Verdict(outcome, base, arm, float(low), float(high))


def _points(low: float, high: float) -> str:
    """Percentage points, so exact that neither bound that is not zero reads as zero."""
    least = min((abs(bound) for bound in (low, high) if bound), default=0.01) * 100
    digits = min(6, max(1, -floor(log10(least))))
    return f"{low * 100:.{digits}f} to {high * 100:.{digits}f}"
