"""`python -m proofs.fuzz`, which tries many examples and prints the outcomes in its last line."""

import argparse
import logging
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path

from gazette.observability import logger
from hypothesis import HealthCheck, Phase, given, settings

from proofs.fuzz.details import batches
from proofs.fuzz.run import Fuzz, Tally
from tests.world import World

_MESSAGES_A_WORLD = 200


def main() -> int:
    """Return 0 only if no message was lost and no error was raised."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--examples", type=int, default=20_000)
    examples = parser.parse_args().examples
    logger().setLevel(logging.CRITICAL)
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):  # metrics go there
        tally = run(examples)
    for batch in tally.batches:
        print(f"{batch}\n")  # noqa: T201 -- what is to be looked at
    print(tally)  # noqa: T201 -- what the command is for
    return 1 if tally.lost or tally.raised or tally.examples < examples else 0


def run(examples: int) -> Tally:
    """Put at least so many messages, up to ten at once, some hundred into one world."""
    tally = Tally()
    world, until = World(), _MESSAGES_A_WORLD

    @settings(
        max_examples=max(examples // 5, 1),
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(batches())
    def put(together: list[str]) -> None:
        nonlocal world, until
        if tally.examples >= until:
            world, until = World(), tally.examples + _MESSAGES_A_WORLD
        Fuzz(world, tally).put(*together)

    while tally.examples < examples:
        put()
    return tally


if __name__ == "__main__":
    sys.exit(main())
