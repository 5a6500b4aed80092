"""`python -m proofs.state`: run histories of overlapping workers; the last line has the totals."""

import argparse
import sys

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from proofs.state.machine import Machine
from proofs.state.tally import TALLY


def main() -> int:
    """Return exit status 0 only if every promise holds in every history."""
    parser = argparse.ArgumentParser(prog="make state", description=__doc__)
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=100)
    given = parser.parse_args()
    profile = settings(
        max_examples=given.examples,
        stateful_step_count=given.steps,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(Machine, settings=profile)
    finally:
        print(TALLY)  # noqa: T201 -- what the command is for
    return 0


if __name__ == "__main__":
    sys.exit(main())
