"""`python -m proofs.features`: histories of all features together; the last line is the total."""

import argparse
import sys

from proofs.features.mutations import search_without
from proofs.features.search import TOTAL, search


def main() -> int:
    """Exit status 0 only if every promise was kept in every history."""
    parser = argparse.ArgumentParser(prog="make features", description=__doc__)
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument(
        "--no-shrink",
        action="store_true",
        help="the same histories each time, up to one that breaks",
    )
    parser.add_argument("--without", default="", help="take out a rule of proofs/mutations")
    given = parser.parse_args()
    if given.without:
        print(search_without(given.without, given.examples))  # noqa: T201
        return 0
    try:
        search(given.examples, shrink=not given.no_shrink, derandomize=given.no_shrink)
    finally:
        print(TOTAL)  # noqa: T201 -- what the command is for
    return 0


if __name__ == "__main__":
    sys.exit(main())
