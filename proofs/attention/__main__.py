"""A week of two readers with each feature off and on, through the real steps."""

import argparse
import sys
from collections.abc import Sequence
from datetime import timedelta

from proofs.attention.acts import Feature, acts
from proofs.attention.picture import DAYS, PICTURE, draw
from proofs.attention.report import tables, total
from proofs.attention.simulation import simulate
from proofs.attention.verdict import Verdict, judge

ALL = frozenset(Feature)
COMPARED: Sequence[frozenset[Feature]] = (
    frozenset(),
    *(frozenset({feature}) for feature in Feature),
    ALL,
)
"""The sets of features that are compared: none, each alone, and all."""


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def report(verdicts: Sequence[Verdict]) -> int:
    """Print the tables and the last line, and return the exit code."""
    for line in tables(verdicts):
        _say(line)
    _say(total(verdicts[0], verdicts[-1], verdicts))
    return 0 if all(each.holds for each in verdicts) else 1


def main() -> int:
    """Compare the features, and draw the picture of a week."""
    parser = argparse.ArgumentParser(prog="python -m proofs.attention", description=__doc__)
    parser.add_argument("--days", type=int, default=DAYS, help="the number of days")
    days = parser.parse_args().days
    verdicts = [judge(simulate(each, acts(each, timedelta(days=days)))) for each in COMPARED]
    if days == DAYS:
        PICTURE.write_text(draw(verdicts))
    return report(verdicts)


if __name__ == "__main__":
    sys.exit(main())
