"""`python -m proofs.redrives`: redrive the dead letters of outages while functions are killed."""

import argparse
import logging
import sys
from time import perf_counter

from proofs.redrives.person import redrive_all


def main() -> int:
    """Return exit status 0 only if every promise holds."""
    parser = argparse.ArgumentParser(prog="proofs.redrives", description=__doc__)
    parser.add_argument("--runs", type=int, default=5000, help="the number of runs of an outage")
    parser.add_argument("--first", type=int, default=1, help="the number of the first outage")
    parser.add_argument("--outages", type=int, default=10, help="the number of outages")
    given = parser.parse_args()
    logging.disable()
    is_broken = False
    for seed in range(given.first, given.first + given.outages):
        began = perf_counter()
        report = redrive_all(given.runs, seed)
        print(f"redrives: outage={seed} {report} seconds={perf_counter() - began:.1f}", flush=True)  # noqa: T201 -- what the command is for
        for line in report.broken[:5]:
            print(f"  {line}")  # noqa: T201
        is_broken = is_broken or bool(report.broken)
    return 1 if is_broken else 0


if __name__ == "__main__":
    sys.exit(main())
