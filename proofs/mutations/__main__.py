"""`python -m proofs.mutations`: remove each rule; exit with 0 only if its test then fails."""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from proofs.mutations.copy import Copy
from proofs.mutations.rules import RULES
from proofs.mutations.traces import PREVENTED, table


def main() -> int:
    """Print a line for each rule, and the total."""
    parser = argparse.ArgumentParser(prog="make mutations", description=__doc__)
    parser.add_argument("--table", action="store_true", help="only print the table of the docs")
    parser.add_argument("--only", default="", help="rules whose text contains this")
    given = parser.parse_args()
    if given.table:
        print(table())  # noqa: T201
        return 0
    mutations = [each for each in (*RULES, *PREVENTED) if given.only in each.rule]
    if not mutations:
        parser.error(f"no rule contains {given.only!r}.")
    killed = 0
    with TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        failed = copy.passes([mutation.test for mutation in mutations])
        if failed:
            print(f"{failed}\nmutations: a test fails although no rule was taken out")  # noqa: T201
            return 1
        for mutation in mutations:
            trace = f" (trace {mutation.trace})" if mutation.trace else ""
            try:
                test = copy.kills(mutation)
            except LookupError as why:
                said = f"NOT FOUND: {why}"
            else:
                said = f"killed by {test}" if test else f"SURVIVED {mutation.test}"
                killed += bool(test)
            print(f"mutation: {mutation.rule}{trace} ... {said}", flush=True)  # noqa: T201
    survived = len(mutations) - killed
    print(f"mutations: {len(mutations)} killed={killed} survived={survived}")  # noqa: T201
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
