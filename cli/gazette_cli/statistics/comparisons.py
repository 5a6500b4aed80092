"""The differences between the variations of an experiment, with confidence intervals.

docs/decisions/0029 explains why the comparison counts readers, and why it uses this interval.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10

from gazette_cli.shared.console import NotPossible
from gazette_support.domain.experiment_readers import Arm
from gazette_support.domain.statistics import Measure

CONFIDENCE = 0.95
"""The probability that all confidence intervals of an outcome contain the true differences."""

_OUTCOMES = (Measure.CLICKED, Measure.UNSUBSCRIBED, Measure.COMPLAINED, Measure.OPENED)
"""The outcomes by priority. The first tracked outcome decides. Opens are last, because mail
programs also load images automatically.
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The difference between `arm` and `base` in the share of readers with an outcome."""

    outcome: Measure
    base: Arm
    arm: Arm

    # The bounds of the true difference, as shares from -1 to 1.
    low: float
    high: float

    @property
    def is_shown(self) -> bool:
        """True if the difference is significant, because the interval does not contain zero."""
        return not self.low <= 0 <= self.high

    @property
    def words(self) -> str:
        """The verdict as one line of text."""
        which = f"{self.arm.of} {self.arm.number} compared with {self.base.number}"
        if not self.is_shown:
            span = _points(self.low, self.high)
            return f"{which}: no significant difference ({span} percentage points)"
        more = "more" if self.low > 0 else "fewer"
        span = _points(*sorted((abs(self.low), abs(self.high))))
        return f"{which}: {span} percentage points {more} readers {self.outcome}"


Findings = Mapping[Measure, Sequence[Verdict]]
"""The verdicts by outcome, with the deciding outcome first. With only one variation, there are no
verdicts.
"""


def compare(arms: Sequence[Arm]) -> Findings:
    """Compare each arm with the first arm. Omit outcomes without readers, because they may be
    untracked.

    With several arms, the Bonferroni correction widens the intervals, so that all intervals of an
    outcome together have the probability CONFIDENCE.
    """
    always = {Measure.UNSUBSCRIBED, Measure.COMPLAINED}
    outcomes = [each for each in _OUTCOMES if each in always or any(arm.did[each] for arm in arms)]
    return {outcome: [*_verdicts(outcome, arms)] for outcome in outcomes} if arms else {}


def _verdicts(outcome: Measure, arms: Sequence[Arm]) -> Iterator[Verdict]:
    base, *others = arms
    for arm in others:
        yield _verdict(outcome, base, arm, (1 - CONFIDENCE) / len(others))


def _verdict(outcome: Measure, base: Arm, arm: Arm, alpha: float) -> Verdict:
    """Compute Newcombe's hybrid score interval.

    The call specifies the method and the comparison, because the defaults might change:
    https://www.statsmodels.org/stable/generated/statsmodels.stats.proportion.confint_proportions_2indep.html
    """
    # The import takes seconds, and only experiments use it.
    try:
        from statsmodels.stats.proportion import confint_proportions_2indep
    except ModuleNotFoundError as err:
        raise NotPossible(
            "The comparison of experiments and rollouts needs the package statsmodels. Install "
            "gazette-digest[statistics], which contains it."
        ) from err

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
    """Format bounds in percentage points. Use enough digits so that only a bound of zero is shown
    as zero.
    """
    digits = digits_of(low, high)
    return f"{low * 100:.{digits}f} to {high * 100:.{digits}f}"


def digits_of(low: float, high: float) -> int:
    """Return the number of decimals with which no bound but zero is shown as zero."""
    least = min((abs(bound) for bound in (low, high) if bound), default=0.01) * 100
    return min(6, max(1, -floor(log10(least))))
