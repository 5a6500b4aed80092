"""`python -m proofs.features`: run histories of all features together, then without each rule."""

import argparse
import sys

from proofs.features.history import history
from proofs.features.mutations import CAUGHT, search_without
from proofs.features.search import Broken, search, shortest


def main() -> int:
    """Return exit status 0 only if every promise holds, and each omitted rule breaks one."""
    parser = argparse.ArgumentParser(prog="make features", description=__doc__)
    parser.add_argument("--examples", type=int, default=2000, help="how many histories")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--no-rules", action="store_true", help="take out no rule afterwards")
    parser.add_argument("--no-shrink", action="store_true", help="do not look for the shortest")
    parser.add_argument("--without", default="", help="take out a rule of proofs/mutations")
    given = parser.parse_args()
    if given.without:
        print(search_without(given.without, given.examples) or "no promise is broken")  # noqa: T201
        return 0
    try:
        print(search(range(given.first, given.first + given.examples)))  # noqa: T201
    except Broken as broken:
        if not given.no_shrink:
            print(shortest(history(broken.number)))  # noqa: T201
        raise
    if given.no_rules:
        return 0
    missed = 0
    for rule, within in CAUGHT.items():
        broken_promise = search_without(rule, within)
        missed += not broken_promise
        said = broken_promise or f"MISSED in {within} histories"
        print(f"without: {rule} ... {said}", flush=True)  # noqa: T201
    print(f"features: rules={len(CAUGHT)} missed={missed}")  # noqa: T201
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
