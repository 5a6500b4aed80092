"""`python -m proofs.cap`: play every world of each setup; the last line has the totals."""

import argparse
import sys
from itertools import islice
from time import perf_counter

from proofs.cap.search import Searched, search
from proofs.cap.setups import setups


def main() -> int:
    """Return exit status 0 only if every promise holds."""
    parser = argparse.ArgumentParser(prog="proofs.cap", description=__doc__)
    parser.add_argument("--first", type=int, help="search only the first setups")
    given = parser.parse_args()
    begun, everything = perf_counter(), list[Searched]()
    for name, setup in islice(setups(), given.first):
        began = perf_counter()
        found = search(setup)
        print(f"  {name}: {_figures([found], began)} immediate={found.most}", flush=True)  # noqa: T201
        if found.broken:
            print(f"  {found.broken.violation}")  # noqa: T201
            for number, line in enumerate(found.broken.story, start=1):
                print(f"    {number}. {line}")  # noqa: T201
        everything.append(found)
    print(f"cap: {_figures(everything, begun)}")  # noqa: T201 -- what the command is for
    return 1 if any(found.violations for found in everything) else 0


def _figures(found: list[Searched], since: float) -> str:
    return (
        f"worlds={sum(each.worlds for each in found)}"
        f" calls={sum(each.calls for each in found)}"
        f" violations={sum(each.violations for each in found)}"
        f" seconds={perf_counter() - since:.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())
