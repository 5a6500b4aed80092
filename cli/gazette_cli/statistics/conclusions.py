"""The conclusion of a report, which answers whether a variation or version wins."""

from collections.abc import Iterator, Sequence

from gazette.adapters.console.style import Tone

from gazette_cli.shared.pages.look import Conclusion
from gazette_cli.statistics.comparisons import CONFIDENCE, Findings, Verdict, digits_of
from gazette_cli.statistics.summary import Answer
from gazette_support.domain.statistics import Measure

_BAD = {Measure.UNSUBSCRIBED, Measure.COMPLAINED}
"""Outcomes for which a smaller share is better."""


def conclusion(answer: Answer) -> Conclusion | None:
    """Return the conclusion of a comparison, or None for a report without a comparison."""
    if not answer.arms:
        return None
    outcome, verdicts = next(iter(answer.findings.items()), (None, ()))
    if outcome is None or not verdicts:
        return Conclusion(answer.verdicts[0])
    return _of(outcome, verdicts, answer.findings)


def _of(outcome: Measure, verdicts: Sequence[Verdict], findings: Findings) -> Conclusion:
    """Return the conclusion about an outcome.

    All intervals hold together (Bonferroni). An arm therefore wins if its interval is above zero,
    which is the first arm, and above the intervals of all other arms.
    """
    base, kind = verdicts[0].base, verdicts[0].base.of
    explained = (
        f"Share of readers {outcome}, in percentage points compared with {kind} {base.number}, "
        f"with a confidence of {CONFIDENCE:.0%}."
    )
    best, *others = sorted(verdicts, key=lambda each: _gain(each)[0], reverse=True)
    better = [each for each in verdicts if _gain(each)[0] > 0]
    if better == [best] or (better and _gain(best)[0] > max(_gain(each)[1] for each in others)):
        wins = all(_gain(each)[1] < _gain(best)[0] for each in others)
        ending = "wins" if wins else f"beats {kind} {base.number}"
        text = f"{kind.capitalize()} {best.arm.number} {ending}: {_signed(best.low, best.high)}"
        cautions = [*_cautions(best, findings)]
        return Conclusion(text, Tone.NEUTRAL if cautions else Tone.GOOD, (explained, *cautions))
    if better:
        numbers = " and ".join(str(each.arm.number) for each in better)
        text = f"{kind.capitalize()}s {numbers} beat {kind} {base.number}"
        return Conclusion(text, Tone.GOOD, (explained,))
    span = f": {_signed(best.low, best.high)}" if not others else ""
    if all(_gain(each)[1] < 0 for each in verdicts):
        if not others:
            span = f" over {kind} {best.arm.number}, which has {_signed(best.low, best.high)}"
        return Conclusion(f"{kind.capitalize()} {base.number} wins{span}", Tone.GOOD, (explained,))
    return Conclusion(f"No winner yet{span}", Tone.NEUTRAL, (explained,))


def _gain(verdict: Verdict) -> tuple[float, float]:
    """Return the bounds of a difference, so that more is better."""
    if verdict.outcome in _BAD:
        return -verdict.high, -verdict.low
    return verdict.low, verdict.high


def _cautions(best: Verdict, findings: Findings) -> Iterator[str]:
    """Yield the significant disadvantages of the best arm in other outcomes."""
    for outcome, verdicts in findings.items():
        if outcome is not best.outcome and outcome in _BAD:
            for each in verdicts:
                if each.arm == best.arm and each.low > 0:
                    yield f"Caution: {each.words}."


def _signed(low: float, high: float) -> str:
    """Format an interval, such as `+1.2 to +3.9 points`."""
    digits = digits_of(low, high)
    ends = (f"{bound * 100:+.{digits}f}".replace("-", "\N{MINUS SIGN}") for bound in (low, high))
    return f"{' to '.join(ends)} points"
