"""`python -m proofs.experiments`, which measures how often the statistics are right."""

import argparse
import sys

from scipy.stats import binom

from proofs.experiments.rates import (
    is_shown_by_emails,
    is_shown_on_any_day,
    power,
    rates,
    share,
)
from proofs.experiments.town import Town


def main() -> int:
    """Return 0 only if all stated rates hold."""
    parser = argparse.ArgumentParser(prog="make experiments", description=__doc__)
    parser.add_argument("--number", type=int, default=2000)
    number = parser.parse_args().number
    most, least = binom.ppf(0.999, number, 0.05), binom.ppf(0.001, number, 0.95)
    is_right = True
    for variations in (2, 3):
        found = rates(Town(variations=variations), number)
        is_right &= found.shown <= most and found.covered >= least
        say(f"no effect, {variations} variations: shown in {found.share:.1%}")
    lifted = Town(lift=0.06)
    expected, found = power(lifted), rates(lifted, number)
    is_right &= found.shown >= binom.ppf(0.001, number, expected) and found.covered >= least
    say(
        f"an effect of {lifted.difference * 100:.1f} percentage points: found in "
        f"{found.share:.1%}, of {expected:.1%} expected; the interval holds it in "
        f"{found.covered / number:.1%}"
    )
    few = number // 4
    by_emails, on_any_day = (
        share(Town(), few, is_so) for is_so in (is_shown_by_emails, is_shown_on_any_day)
    )
    say(f"no effect, had emails been counted as readers: shown in {by_emails:.1%}")
    say(f"no effect, looked at on each of {Town().days} days: once shown in {on_any_day:.1%}")
    return 0 if is_right else 1


def say(line: str) -> None:
    """Print the purpose of the command."""
    print(line)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
